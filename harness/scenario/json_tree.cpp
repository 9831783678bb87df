#include "harness/scenario/json_tree.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace breakeven {
namespace {

using Kind = JsonNode::Kind;

/// Length of the valid UTF-8 sequence at the start of `text`; 0 when invalid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
  const bool surrogate = first == 0xed && byte(1) >= 0xa0;
  const bool too_high = first == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || too_high ? 0 : length;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12), put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18), put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f)), put(0x80 | (code & 0x3f));
  }
}

class Parser {
 public:
  Parser(std::string_view bytes, const std::string& file, std::vector<Diagnostic>& diagnostics)
      : bytes_(bytes), file_(file), diagnostics_(diagnostics) {}

  JsonNode parse_file() {
    check_encoding();
    skip_space();
    if (at_ >= bytes_.size()) fail("the file is empty", "Start from `breakeven new`");
    JsonNode root = parse_value(1);
    skip_space();
    if (at_ < bytes_.size()) {
      fail("there is more after the end of the JSON value", "Remove what follows the closing brace",
           std::string(bytes_.substr(at_, 1)));
    }
    return root;
  }

 private:
  void check_encoding() {
    if (bytes_.starts_with("\xef\xbb\xbf")) {
      fail("the file starts with a byte order mark", "Save it as UTF-8 without a byte order mark");
    }
    std::size_t i = 0;
    while (i < bytes_.size()) {
      const std::size_t length = utf8_length(bytes_.substr(i));
      if (length == 0) {
        at_ = i;
        fail("the file is not UTF-8", "Save it as UTF-8", std::string(bytes_.substr(i, 1)));
      }
      i += length;
    }
  }

  TextPlace place_of(std::size_t offset) {
    // Offsets are asked for in rising order but for errors, so the scan goes on from the last one.
    if (offset < scanned_) scanned_ = 0, scanned_place_ = {};
    for (; scanned_ < offset && scanned_ < bytes_.size(); ++scanned_) {
      if (bytes_[scanned_] == '\n') {
        ++scanned_place_.line;
        scanned_place_.column = 1;
      } else {
        ++scanned_place_.column;
      }
    }
    return scanned_place_;
  }

  void report(TextPlace place, std::string message, std::string fix, std::string value = {}) {
    diagnostics_.push_back({.file = file_,
                            .line = place.line,
                            .column = place.column,
                            .message = std::move(message),
                            .value = std::move(value),
                            .fix = std::move(fix)});
  }

  [[noreturn]] void fail(std::string message, std::string fix, std::string value = {}) {
    report(place_of(at_), std::move(message), std::move(fix), std::move(value));
    throw UserError(diagnostics_);
  }

  /// Fails on whatever stands here instead of what `wanted` says.
  [[noreturn]] void fail_here(const std::string& wanted) {
    if (at_ >= bytes_.size()) {
      fail("the file ends too early: " + wanted + " was expected here",
           "Check that the file is whole");
    }
    const std::size_t length = std::max<std::size_t>(1, utf8_length(bytes_.substr(at_)));
    const bool comment = bytes_.substr(at_).starts_with("//") || bytes_[at_] == '#';
    fail(wanted + " was expected here",
         comment ? "JSON has no comments; write them as \"// ...\" keys" : "Correct the JSON",
         std::string(bytes_.substr(at_, length)));
  }

  char peek() const { return at_ < bytes_.size() ? bytes_[at_] : '\0'; }

  void skip_space() {
    while (at_ < bytes_.size() && (bytes_[at_] == ' ' || bytes_[at_] == '\n' ||
                                   bytes_[at_] == '\t' || bytes_[at_] == '\r')) {
      ++at_;
    }
  }

  JsonNode parse_value(int depth) {
    if (depth > kMaxJsonDepth) {
      fail("values are nested deeper than " + std::to_string(kMaxJsonDepth) + " levels",
           "A scenario needs fewer than ten");
    }
    JsonNode node;
    node.place = place_of(at_);
    const char next = peek();
    if (next == '{') {
      parse_object(node, depth);
    } else if (next == '[') {
      parse_array(node, depth);
    } else if (next == '"') {
      node.kind = Kind::kString;
      node.text = parse_string();
    } else if (next == '-' || (next >= '0' && next <= '9')) {
      parse_number(node);
    } else {
      parse_word(node);
    }
    return node;
  }

  void parse_word(JsonNode& node) {
    std::size_t end = at_;
    while (end < bytes_.size() && std::isalpha(static_cast<unsigned char>(bytes_[end]))) ++end;
    const std::string_view word = bytes_.substr(at_, end - at_);
    if (word == "true" || word == "false") {
      node.kind = Kind::kBoolean;
      node.boolean = word == "true";
    } else if (word == "NaN" || word == "Infinity" || word == "nan" || word == "inf") {
      fail("JSON has no such number", "Give a finite number", std::string(word));
    } else if (word != "null") {
      fail_here("a value");
    }
    at_ = end;
  }

  void parse_number(JsonNode& node) {
    const std::size_t begin = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (peek() >= '0' && peek() <= '9') ++at_;
      if (at_ == first) fail_here("a digit");
    };
    if (peek() == '-') ++at_;
    if (bytes_.substr(at_).starts_with("Infinity")) {
      fail("JSON has no such number", "Give a finite number", "-Infinity");
    }
    const std::size_t leading = at_;
    digits();
    if (bytes_[leading] == '0' && at_ > leading + 1) {
      at_ = leading;
      fail("a number may not start with 0", "Remove the leading zeros");
    }
    if (peek() == '.') ++at_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      digits();
    }
    node.kind = Kind::kNumber;
    node.text = std::string(bytes_.substr(begin, at_ - begin));
    const auto [end, error] =
        std::from_chars(node.text.data(), node.text.data() + node.text.size(), node.number);
    if (error == std::errc::result_out_of_range) {
      // Too small rounds to zero; too large is no number a scenario could mean.
      const std::size_t exponent = node.text.find_first_of("eE");
      const bool small = exponent != std::string::npos && node.text[exponent + 1] == '-';
      node.number = 0;
      if (!small) report(node.place, "the number is too large", "Give a finite number", node.text);
    }
  }

  void parse_array(JsonNode& node, int depth) {
    node.kind = Kind::kArray;
    ++at_;
    skip_space();
    if (peek() == ']') {
      ++at_;
      return;
    }
    for (;;) {
      skip_space();
      node.items.push_back(parse_value(depth + 1));
      skip_space();
      if (peek() == ']') {
        ++at_;
        return;
      }
      if (peek() != ',') fail_here("',' or ']'");
      ++at_;
      skip_space();
      if (peek() == ']') fail_here("a value");
    }
  }

  void parse_object(JsonNode& node, int depth) {
    node.kind = Kind::kObject;
    ++at_;
    skip_space();
    if (peek() == '}') {
      ++at_;
      return;
    }
    for (;;) {
      skip_space();
      if (peek() != '"') fail_here("a key in double quotes");
      JsonMember member;
      member.place = place_of(at_);
      member.name = parse_string();
      skip_space();
      if (peek() != ':') fail_here("':'");
      ++at_;
      skip_space();
      member.value = parse_value(depth + 1);
      add_member(node, std::move(member));
      skip_space();
      if (peek() == '}') {
        ++at_;
        return;
      }
      if (peek() != ',') fail_here("',' or '}'");
      ++at_;
    }
  }

  void add_member(JsonNode& node, JsonMember member) {
    constexpr std::size_t kMostKeys = 4096;  // The search for a twin is quadratic.
    if (node.members.size() >= kMostKeys) {
      fail("an object has more than 4096 keys", "A scenario needs fewer than a hundred");
    }
    const auto twin =
        std::find_if(node.members.begin(), node.members.end(),
                     [&](const JsonMember& other) { return other.name == member.name; });
    if (twin != node.members.end()) {
      report(member.place,
             "the key is given twice, first on line " + std::to_string(twin->place.line),
             "Remove one of them", '"' + member.name + '"');
      return;
    }
    node.members.push_back(std::move(member));
  }

  std::uint32_t parse_hex4() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char digit = peek();
      const int value = digit >= '0' && digit <= '9'   ? digit - '0'
                        : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
                        : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                                       : -1;
      if (value < 0) fail_here("a hexadecimal digit");
      code = code << 4 | static_cast<std::uint32_t>(value);
    }
    return code;
  }

  void parse_escape(std::string& out) {
    ++at_;
    const char kind = peek();
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (const std::size_t index = kFrom.find(kind); kind != '\0' && index != kFrom.npos) {
      out.push_back(kTo[index]);
      ++at_;
      return;
    }
    if (kind != 'u') fail_here("an escape such as \\n or \\u0041");
    ++at_;
    std::uint32_t code = parse_hex4();
    if (code >= 0xd800 && code <= 0xdbff && bytes_.substr(at_).starts_with("\\u")) {
      at_ += 2;
      const std::uint32_t low = parse_hex4();
      if (low < 0xdc00 || low > 0xdfff) fail("a surrogate pair is broken", "Write the character");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xd800 && code <= 0xdfff) {
      fail("a surrogate pair is broken", "Write the character itself in UTF-8");
    }
    append_utf8(out, code);
  }

  std::string parse_string() {
    std::string out;
    ++at_;
    for (;;) {
      if (at_ >= bytes_.size()) fail_here("a closing double quote");
      const char next = bytes_[at_];
      if (next == '"') {
        ++at_;
        return out;
      }
      if (next == '\\') {
        parse_escape(out);
      } else if (static_cast<unsigned char>(next) < 0x20) {
        fail("a string holds a control character", "Escape it, or close the string on its line",
             std::string(1, next));
      } else {
        out.push_back(next);
        ++at_;
      }
    }
  }

  std::string_view bytes_;
  const std::string& file_;
  std::vector<Diagnostic>& diagnostics_;
  std::size_t at_ = 0;
  std::size_t scanned_ = 0;
  TextPlace scanned_place_;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view name) const {
  for (const JsonMember& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string JsonNode::quoted() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return boolean ? "true" : "false";
    case Kind::kNumber:
      return text;
    case Kind::kString:
      return '"' + text + '"';
    case Kind::kArray:
      return items.empty() ? "[]" : "[...]";
    case Kind::kObject:
      return members.empty() ? "{}" : "{...}";
  }
  return {};
}

std::string_view described(JsonNode::Kind kind) {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBoolean:
      return "a boolean";
    case Kind::kNumber:
      return "a number";
    case Kind::kString:
      return "a string";
    case Kind::kArray:
      return "a list";
    case Kind::kObject:
      return "an object";
  }
  return {};
}

JsonNode parse_json_tree(std::string_view bytes, const std::string& file,
                         std::vector<Diagnostic>& diagnostics) {
  return Parser(bytes, file, diagnostics).parse_file();
}

}  // namespace breakeven
