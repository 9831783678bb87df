#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "reports/schema/fields.h"
#include "reports/schema/results.h"

namespace breakeven {
namespace {

using nlohmann::ordered_json;
using schema::Rule;

constexpr std::string_view kFormat = "breakeven-results";
constexpr std::size_t kMostDiagnostics = 20;

/// Builds the JSON value of a record; numbers that JSON cannot hold become null and are listed.
class Writer {
 public:
  explicit Writer(std::vector<std::string>& nulls, std::string pointer = {})
      : nulls_(nulls), pointer_(std::move(pointer)) {}

  template <typename T>
  void operator()(std::string_view name, const T& member, const Rule& = {}) {
    object_[std::string(name)] = to_json(member, pointer_ + "/" + std::string(name));
  }

  ordered_json take() { return std::move(object_); }

 private:
  template <typename T>
  ordered_json to_json(const std::vector<T>& values, const std::string& pointer) {
    ordered_json array = ordered_json::array();
    for (std::size_t i = 0; i < values.size(); ++i) {
      array.push_back(to_json(values[i], pointer + "/" + std::to_string(i)));
    }
    return array;
  }
  template <typename T>
  ordered_json to_json(const std::optional<T>& value, const std::string& pointer) {
    return value ? to_json(*value, pointer) : ordered_json(nullptr);
  }
  ordered_json to_json(double value, const std::string& pointer) {
    if (std::isfinite(value)) return value;
    nulls_.push_back(pointer + ": " + format_double(value) + " is no JSON number");
    return nullptr;
  }
  template <typename T>
  ordered_json to_json(const T& value, const std::string& pointer) {
    if constexpr (requires(Writer& w) { schema::fields(w, value); }) {
      Writer writer(nulls_, pointer);
      schema::fields(writer, value);
      return writer.take();
    } else {
      return value;
    }
  }

  ordered_json object_ = ordered_json::object();
  std::vector<std::string>& nulls_;
  std::string pointer_;
};

/// Collects what is wrong with a file; stops it growing without bound on a hostile one.
class Faults {
 public:
  explicit Faults(std::string file) : file_(std::move(file)) {}

  void add(const std::string& pointer, std::string message, std::string value = {}) {
    if (list_.size() >= kMostDiagnostics) return;
    list_.push_back(
        {.file = file_,
         .message = "at " + (pointer.empty() ? "/" : pointer) + ": " + std::move(message),
         .value = std::move(value),
         .fix = "Make the file anew with `breakeven run`"});
  }
  void throw_if_any() const {
    if (!list_.empty()) throw UserError(list_);
  }

 private:
  std::string file_;
  std::vector<Diagnostic> list_;
};

std::string short_text(const ordered_json& value) {
  return printable(value.dump(-1, ' ', false, ordered_json::error_handler_t::replace), 80);
}

/// Fills a record from a JSON object and checks type, range and vocabulary of every field.
class Reader {
 public:
  Reader(const ordered_json& object, std::string pointer, Faults& faults)
      : object_(object), pointer_(std::move(pointer)), faults_(faults) {}

  template <typename T>
  void operator()(std::string_view name, T& member, const Rule& rule = {}) {
    const std::string at = pointer_ + "/" + std::string(name);
    const auto found = object_.find(std::string(name));
    if (found == object_.end()) {
      faults_.add(at, "the field is missing");
      return;
    }
    read(*found, member, rule, at);
  }

 private:
  void wrong_type(const std::string& at, const char* wanted, const ordered_json& value) {
    faults_.add(at, std::string("expected ") + wanted, short_text(value));
  }
  void check_range(double value, const Rule& rule, const std::string& at) {
    if (value < rule.min) {
      faults_.add(at, "must be at least " + format_double(rule.min), format_double(value));
    } else if (value > rule.max) {
      faults_.add(at, "must be at most " + format_double(rule.max), format_double(value));
    }
  }

  void read(const ordered_json& json, std::string& out, const Rule& rule, const std::string& at) {
    if (!json.is_string()) return wrong_type(at, "text", json);
    out = json.get_ref<const std::string&>();
    if (rule.one_of.empty() || std::ranges::count(rule.one_of, out) > 0) return;
    std::string known;
    for (const std::string_view name : rule.one_of) {
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    faults_.add(at, "must be one of " + known, short_text(json));
  }
  void read(const ordered_json& json, bool& out, const Rule&, const std::string& at) {
    if (!json.is_boolean()) return wrong_type(at, "true or false", json);
    out = json.get<bool>();
  }
  void read(const ordered_json& json, double& out, const Rule& rule, const std::string& at) {
    if (json.is_null()) {  // The writer's mark for a number that was not finite.
      out = std::nan("");
      return;
    }
    if (!json.is_number()) return wrong_type(at, "a number", json);
    out = json.get<double>();
    check_range(out, rule, at);
  }
  template <std::integral T>
  void read(const ordered_json& json, T& out, const Rule& rule, const std::string& at) {
    if (!json.is_number_integer()) return wrong_type(at, "a whole number", json);
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<std::uint64_t>())
                                                : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      faults_.add(at, "the whole number is out of range", short_text(json));
      return;
    }
    out = json.get<T>();
    check_range(static_cast<double>(out), rule, at);
  }
  template <typename T>
  void read(const ordered_json& json, std::optional<T>& out, const Rule& rule,
            const std::string& at) {
    if (json.is_null()) return;
    read(json, out.emplace(), rule, at);
  }
  template <typename T>
  void read(const ordered_json& json, std::vector<T>& out, const Rule& rule,
            const std::string& at) {
    if (!json.is_array()) return wrong_type(at, "a list", json);
    out.reserve(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      read(json[i], out.emplace_back(), rule, at + "/" + std::to_string(i));
    }
  }
  template <typename T>
  void read(const ordered_json& json, std::map<std::string, T>& out, const Rule& rule,
            const std::string& at) {
    if (!json.is_object()) return wrong_type(at, "an object", json);
    for (const auto& [key, value] : json.items()) {
      read(value, out[key], rule, at + "/" + printable(key, 80));
    }
  }
  template <typename T>
    requires requires(Reader& reader, T& value) { schema::fields(reader, value); }
  void read(const ordered_json& json, T& out, const Rule&, const std::string& at) {
    if (!json.is_object()) return wrong_type(at, "an object", json);
    Reader reader(json, at, faults_);
    schema::fields(reader, out);
  }

  const ordered_json& object_;
  std::string pointer_;
  Faults& faults_;
};

/// 1-based line and byte column of a byte offset.
std::pair<int, int> place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column =
      start == std::string_view::npos ? before.size() : before.size() - start - 1;
  return {static_cast<int>(line), static_cast<int>(std::max<std::size_t>(column, 1))};
}

ordered_json parse(std::string_view text, const std::string& name) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    const auto [line, column] = place_of(text, error.byte);
    const bool cut = error.byte >= text.size();
    throw UserError({.file = name,
                     .line = line,
                     .column = column,
                     .message = cut ? "the results file ends too early: it is empty or cut short"
                                    : "the results file is not valid JSON from here on",
                     .fix = "Make the file anew with `breakeven run`, or copy it again"});
  }
}

[[noreturn]] void refuse(const std::string& name, std::string message, std::string value,
                         std::string fix) {
  throw UserError({.file = name,
                   .message = std::move(message),
                   .value = std::move(value),
                   .fix = std::move(fix)});
}

void check_format(const ordered_json& root, const std::string& name) {
  const bool ours = root.is_object() && root.contains("format") && root["format"] == kFormat;
  if (!ours) {
    refuse(name, "this is not a breakeven results file: \"format\" is not \"breakeven-results\"",
           root.is_object() && root.contains("format") ? short_text(root["format"]) : "",
           "Give the results.json that `breakeven run` wrote");
  }
  if (!root.contains("version") || !root["version"].is_number_integer()) {
    refuse(name, "at /version: expected a whole number",
           root.contains("version") ? short_text(root["version"]) : "",
           "Make the file anew with `breakeven run`");
  }
  const auto version = root["version"].get<std::int64_t>();
  if (version > kResultsVersion) {
    refuse(name,
           "the results file was written by a newer breakeven; this one reads version " +
               std::to_string(kResultsVersion),
           std::to_string(version), "Update breakeven, or make the file anew with this one");
  }
  if (version < kResultsVersion) {
    refuse(name,
           "the results file is of an older version; this breakeven reads version " +
               std::to_string(kResultsVersion),
           std::to_string(version), "Make the file anew with `breakeven run`");
  }
}

/// A record that stands twice would count twice.
void check_unique(const Results& results, Faults& faults) {
  std::set<std::string> seen;
  const auto once = [&](const std::string& list, std::size_t index, const std::string& name) {
    if (!seen.insert(list + '\n' + name).second) {
      faults.add(list + "/" + std::to_string(index), "stands here for the second time", name);
    }
  };
  for (std::size_t i = 0; i < results.arms.size(); ++i) once("/arms", i, results.arms[i]);
  for (std::size_t i = 0; i < results.shape_classes.size(); ++i) {
    once("/shape_classes", i, results.shape_classes[i].shape);
  }
  for (std::size_t i = 0; i < results.trials.size(); ++i) {
    const Trial& trial = results.trials[i];
    once("/trials", i,
         trial.arm + ", " + trial.phase + ", process " + std::to_string(trial.process));
  }
  for (std::size_t i = 0; i < results.accuracy.size(); ++i) {
    once("/accuracy", i, results.accuracy[i].arm + ", " + results.accuracy[i].shape);
  }
}

/// What the fields alone cannot say: references between records, and paths that leave the
/// directory.
void check_references(const Results& results, Faults& faults) {
  if (results.arms.empty()) faults.add("/arms", "there must be at least the baseline arm");
  check_unique(results, faults);
  const auto known = [&](const std::string& arm) {
    return std::ranges::count(results.arms, arm) > 0;
  };
  for (std::size_t i = 0; i < results.trials.size(); ++i) {
    const Trial& trial = results.trials[i];
    const std::string at = "/trials/" + std::to_string(i);
    if (!known(trial.arm)) faults.add(at + "/arm", "the arm is not listed in /arms", trial.arm);
    const std::filesystem::path raw(trial.raw_file);
    if (raw.is_absolute() || std::ranges::count(raw, std::filesystem::path("..")) > 0) {
      faults.add(at + "/raw_file", "the path must stay inside the results directory",
                 trial.raw_file);
    }
  }
  for (std::size_t i = 0; i < results.accuracy.size(); ++i) {
    if (known(results.accuracy[i].arm)) continue;
    faults.add("/accuracy/" + std::to_string(i) + "/arm", "the arm is not listed in /arms",
               results.accuracy[i].arm);
  }
}

}  // namespace

std::string results_to_json(const Results& results) {
  std::vector<std::string> nulls;
  Writer writer(nulls);
  schema::fields(writer, results);
  ordered_json root;
  root["format"] = kFormat;
  root["version"] = kResultsVersion;
  root["not_finite"] = nullptr;  // Holds the place near the top; filled once all is visited.
  root.update(writer.take());
  root["not_finite"] = nulls;
  // Text from models and scenarios may be any bytes: invalid UTF-8 becomes U+FFFD.
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Results results_from_json(std::string_view text, const std::string& name) {
  const ordered_json root = parse(text, name);
  check_format(root, name);
  Faults faults(name);
  Results results;
  Reader reader(root, "", faults);
  schema::fields(reader, results);
  check_references(results, faults);
  faults.throw_if_any();
  return results;
}

void write_results(const Results& results, const std::filesystem::path& file) {
  write_file_atomic(file, results_to_json(results));
}

Results read_results(const std::filesystem::path& file) {
  return results_from_json(read_file(file, std::uint64_t{1} << 30), file.string());
}

}  // namespace breakeven
