#include "harness/scenario/effective.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/support/text.h"
#include "harness/scenario/arms.h"

namespace breakeven {
namespace {

using Kind = JsonNode::Kind;

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool is_comment(std::string_view name) { return name.starts_with("//"); }

std::string listed(const std::vector<std::string>& words) { return join(words, ", "); }

std::string range_text(const Key& key) {
  const bool has_min = std::isfinite(key.min);
  const bool has_max = std::isfinite(key.max);
  const std::string least = (key.above_min ? "above " : "at least ") + format_double(key.min);
  if (has_min && has_max && key.min == key.max) return "equal to " + format_double(key.min);
  if (has_min && has_max) return least + " and at most " + format_double(key.max);
  if (has_min) return least;
  return "at most " + format_double(key.max);
}

class Checker {
 public:
  Checker(const std::string& file, std::vector<Diagnostic>& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  /// `path` is the dotted name of the object, "" for the file itself.
  JsonNode check_object(const JsonNode& given, const ObjectKeys& keys, const std::string& path) {
    JsonNode out;
    out.kind = Kind::kObject;
    out.place = given.place;
    if (given.kind != Kind::kObject) {
      report(given.place,
             subject(path) + " must be an object, not " + std::string(described(given.kind)),
             "Write { ... }", given.quoted());
      return out;
    }
    std::vector<const Key*> known;
    for (const Key& key : keys.keys) known.push_back(&key);
    if (!keys.discriminator.empty()) {
      const Variant* variant = pick_variant(given, keys, path, out);
      if (variant == nullptr) return out;
      for (const Key& key : variant->keys) known.push_back(&key);
    }
    report_unknown(given, known, keys.discriminator, path);
    for (const Key* key : known) check_member(given, *key, path, out);
    return out;
  }

 private:
  static std::string subject(const std::string& path) {
    return path.empty() ? "the scenario" : '"' + path + '"';
  }
  static std::string below(const std::string& path, const std::string& name) {
    return path.empty() ? name : path + '.' + name;
  }

  void report(TextPlace place, std::string message, std::string fix, std::string value = {}) {
    diagnostics_.push_back({.file = file_,
                            .line = place.line,
                            .column = place.column,
                            .message = std::move(message),
                            .value = std::move(value),
                            .fix = std::move(fix)});
  }

  const Variant* pick_variant(const JsonNode& given, const ObjectKeys& keys,
                              const std::string& path, JsonNode& out) {
    std::vector<std::string> values;
    for (const Variant& variant : keys.variants) values.push_back(variant.value);
    const JsonNode* chosen = given.find(keys.discriminator);
    const std::string name = below(path, keys.discriminator);
    if (chosen == nullptr) {
      report(given.place, '"' + name + "\" is missing", "Add it with one of " + listed(values));
      return nullptr;
    }
    for (const Variant& variant : keys.variants) {
      if (chosen->kind == Kind::kString && chosen->text == variant.value) {
        out.members.push_back({keys.discriminator, chosen->place, *chosen});
        return &variant;
      }
    }
    const std::string nearest = nearest_word(chosen->text, values);
    report(chosen->place, '"' + name + "\" is none of " + listed(values),
           nearest.empty() ? "Choose one of them" : "Did you mean \"" + nearest + "\"?",
           chosen->quoted());
    return nullptr;
  }

  void report_unknown(const JsonNode& given, const std::vector<const Key*>& known,
                      const std::string& discriminator, const std::string& path) {
    std::vector<std::string> names;
    for (const Key* key : known) names.push_back(key->name);
    if (!discriminator.empty()) names.push_back(discriminator);
    for (const JsonMember& member : given.members) {
      if (is_comment(member.name)) {
        if (member.value.kind != Kind::kString) {
          report(member.value.place, "a comment must be a string", "Write \"// ...\": \"text\"",
                 member.value.quoted());
        }
        continue;
      }
      if (std::find(names.begin(), names.end(), member.name) != names.end()) continue;
      const std::string nearest = nearest_word(member.name, names);
      report(member.place, subject(path) + " has no such key",
             nearest.empty() ? "Known keys here: " + listed(names)
                             : "Did you mean \"" + nearest + "\"?",
             '"' + member.name + '"');
    }
  }

  void check_member(const JsonNode& given, const Key& key, const std::string& path, JsonNode& out) {
    const std::string name = below(path, key.name);
    const JsonNode* value = given.find(key.name);
    if (value == nullptr && key.required) {
      report(given.place, '"' + name + "\" is missing",
             "Add it: " + (key.doc.empty() && key.object != nullptr ? key.object->doc : key.doc));
      return;
    }
    if (value != nullptr) {
      const std::size_t before = diagnostics_.size();
      JsonNode checked = check_value(*value, key, name);
      if (diagnostics_.size() == before) {
        out.members.push_back({key.name, value->place, std::move(checked)});
        return;
      }
    }
    if (!key.initial.empty()) {
      std::vector<Diagnostic> none;
      JsonNode initial = parse_json_tree(key.initial, "", none);
      if (key.type == T::kObject) initial = check_object(initial, *key.object, name);
      initial.place = given.place;
      out.members.push_back({key.name, given.place, std::move(initial)});
    }
  }

  JsonNode check_value(const JsonNode& value, const Key& key, const std::string& name) {
    switch (key.type) {
      case T::kString:
        check_string(value, key, name);
        return value;
      case T::kInteger:
      case T::kNumber:
        check_number(value, key, name);
        return value;
      case T::kBoolean:
        if (value.kind != Kind::kBoolean) wrong_type(value, name, "true or false");
        return value;
      case T::kSize:
        check_size(value, name);
        return value;
      case T::kObject:
        return check_object(value, *key.object, name);
      case T::kMap:
      case T::kTextMap:
        return check_map(value, key, name);
      case T::kStringList:
      case T::kSizeList:
      case T::kObjectList:
        return check_list(value, key, name);
    }
    return value;
  }

  void wrong_type(const JsonNode& value, const std::string& name, const std::string& wanted) {
    report(value.place,
           '"' + name + "\" must be " + wanted + ", not " + std::string(described(value.kind)),
           "Give " + wanted, value.quoted());
  }

  void check_string(const JsonNode& value, const Key& key, const std::string& name) {
    if (value.kind != Kind::kString) {
      wrong_type(value, name, "a string");
    } else if (!key.one_of.empty()) {
      if (std::find(key.one_of.begin(), key.one_of.end(), value.text) != key.one_of.end()) return;
      const std::string nearest = nearest_word(value.text, key.one_of);
      report(value.place, '"' + name + "\" is none of " + listed(key.one_of),
             nearest.empty() ? "Choose one of them" : "Did you mean \"" + nearest + "\"?",
             value.quoted());
    } else if (key.required && value.text.empty()) {
      report(value.place, '"' + name + "\" is empty", "Give it a value: " + key.doc, "\"\"");
    } else if (code_points(value.text) > kMaxStringLength) {
      report(value.place, '"' + name + "\" is longer than 2000 characters", "Shorten it",
             value.quoted());
    }
  }

  void check_number(const JsonNode& value, const Key& key, const std::string& name) {
    const bool whole = key.type == T::kInteger;
    if (value.kind != Kind::kNumber) {
      wrong_type(value, name, whole ? "a whole number" : "a number");
      return;
    }
    if (whole && value.number != std::floor(value.number)) {
      report(value.place, '"' + name + "\" must be a whole number", "Round it", value.text);
      return;
    }
    const bool low = key.above_min ? value.number <= key.min : value.number < key.min;
    if (low || value.number > key.max) {
      const bool version = name == "breakeven";
      report(value.place, '"' + name + "\" must be " + range_text(key),
             version ? "This program reads version 1; use a program of the file's version"
                     : "Correct the value",
             value.text);
    }
  }

  void check_size(const JsonNode& value, const std::string& name) {
    if (value.kind == Kind::kString) {
      if (!is_identifier(value.text)) {
        report(value.place, '"' + name + "\" holds something that is no dim's name",
               "Name one of \"dims\"", value.quoted());
      }
      return;
    }
    if (value.kind != Kind::kNumber) {
      wrong_type(value, name, "a list of dim names and whole numbers");
    } else if (value.number < 1 || value.number > 1e9 || value.number != std::floor(value.number)) {
      report(value.place, '"' + name + "\" holds a size that is no whole number from 1 to 1e9",
             "Correct the value", value.text);
    }
  }

  JsonNode check_map(const JsonNode& value, const Key& key, const std::string& name) {
    JsonNode out;
    out.kind = Kind::kObject;
    out.place = value.place;
    if (value.kind != Kind::kObject) {
      wrong_type(value, name, "an object");
      return out;
    }
    std::size_t count = 0;
    for (const JsonMember& member : value.members) {
      if (is_comment(member.name) && key.type == T::kMap) {
        if (member.value.kind != Kind::kString) wrong_type(member.value, name, "a comment string");
        continue;
      }
      if (++count > key.max_items) continue;
      const std::string item_name = name + '.' + member.name;
      if (key.type == T::kTextMap) {
        if (member.value.kind != Kind::kString) wrong_type(member.value, item_name, "a string");
        out.members.push_back(member);
        continue;
      }
      if (!is_identifier(member.name)) {
        report(member.place, "a dim's name must be letters, digits and _, 64 at most",
               "Rename the dim", '"' + member.name + '"');
        continue;
      }
      out.members.push_back(
          {member.name, member.place, check_object(member.value, *key.object, item_name)});
    }
    if (count > key.max_items) {
      report(value.place,
             '"' + name + "\" has more than " + std::to_string(key.max_items) + " entries",
             "Remove some", std::to_string(count));
    }
    return out;
  }

  JsonNode check_list(const JsonNode& value, const Key& key, const std::string& name) {
    JsonNode out;
    out.kind = Kind::kArray;
    out.place = value.place;
    if (value.kind != Kind::kArray) {
      wrong_type(value, name, "a list");
      return out;
    }
    if (value.items.size() < key.min_items || value.items.size() > key.max_items) {
      report(value.place,
             '"' + name + "\" must have from " + std::to_string(key.min_items) + " to " +
                 std::to_string(key.max_items) + " entries",
             value.items.empty() ? "Add one" : "Remove some", std::to_string(value.items.size()));
      return out;
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const JsonNode& item = value.items[i];
      const std::string item_name = name + '[' + std::to_string(i) + ']';
      if (key.type == T::kObjectList) {
        out.items.push_back(check_object(item, *key.object, item_name));
        continue;
      }
      if (key.type == T::kSizeList) {
        check_size(item, item_name);
      } else if (key.name == "arms") {
        check_arm(item, item_name);
      } else {
        check_string(item, key, item_name);
      }
      if (key.unique_items) check_unique(value, i, item_name);
      out.items.push_back(item);
    }
    return out;
  }

  void check_unique(const JsonNode& list, std::size_t index, const std::string& name) {
    for (std::size_t i = 0; i < index; ++i) {
      if (list.items[i].text != list.items[index].text) continue;
      report(list.items[index].place, '"' + name + "\" stands in the list already", "Remove one",
             list.items[index].quoted());
      return;
    }
  }

  /// engine[:policy|mode][+async][+graph]; says apart what is no arm and what this build lacks.
  void check_arm(const JsonNode& value, const std::string& name) {
    if (value.kind != Kind::kString) {
      wrong_type(value, name, "a string");
      return;
    }
    const std::vector<std::string>& built = built_arms();
    if (std::find(built.begin(), built.end(), value.text) != built.end()) return;
    const std::string engine = value.text.substr(0, value.text.find_first_of(":+"));
    const std::vector<std::string> engines = {"null",        "scripted",      "reference",
                                              "eager",       "fused",         "torch-eager",
                                              "torchscript", "torch-compile", "aot-inductor"};
    const std::string known = "This build has " + listed(arm_forms());
    if (std::find(engines.begin(), engines.end(), engine) != engines.end()) {
      report(value.place, '"' + name + "\" is an arm that this build does not have", known,
             value.quoted());
      return;
    }
    const std::string nearest = nearest_word(value.text, built);
    report(value.place, '"' + name + "\" is no arm",
           (nearest.empty() ? "" : "Did you mean \"" + nearest + "\"? ") + known, value.quoted());
  }

  using T = KeyType;
  const std::string& file_;
  std::vector<Diagnostic>& diagnostics_;
};

nlohmann::json to_json(const JsonNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return nullptr;
    case Kind::kBoolean:
      return node.boolean;
    case Kind::kNumber: {
      const bool whole = node.number == std::floor(node.number) && std::fabs(node.number) < 9e15;
      return whole ? nlohmann::json(static_cast<std::int64_t>(node.number))
                   : nlohmann::json(node.number);
    }
    case Kind::kString:
      return node.text;
    case Kind::kArray: {
      nlohmann::json list = nlohmann::json::array();
      for (const JsonNode& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case Kind::kObject: {
      nlohmann::json object = nlohmann::json::object();
      for (const JsonMember& member : node.members) object[member.name] = to_json(member.value);
      return object;
    }
  }
  return nullptr;
}

}  // namespace

Effective apply_keys(const JsonNode& given, const ObjectKeys& keys, const std::string& file,
                     std::vector<Diagnostic>& diagnostics) {
  Effective effective;
  const std::size_t before = diagnostics.size();
  effective.root = Checker(file, diagnostics).check_object(given, keys, "");
  for (std::size_t i = before; i < diagnostics.size(); ++i) {
    // Messages that name a key start with its quoted dotted path.
    const std::string& message = diagnostics[i].message;
    const std::size_t end = message.find_first_of("\".[", 1);
    if (message[0] == '"') effective.bad_sections.insert(message.substr(1, end - 1));
  }
  return effective;
}

std::string canonical_text(const JsonNode& node) { return to_json(node).dump(); }

}  // namespace breakeven
