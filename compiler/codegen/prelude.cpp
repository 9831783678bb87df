#include "compiler/codegen/prelude.h"

#include <array>
#include <vector>

#include "compiler/codegen/prelude_text.h"
#include "compiler/support/check.h"

namespace breakeven {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

/// Every "be_name" that is followed by "(" is a function; the kernel's own names carry no prefix.
void check_known(std::string_view text, const std::vector<PreludeFunction>& functions) {
  for (std::size_t at = text.find("be_"); at != std::string_view::npos;
       at = text.find("be_", at + 1)) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == text.size() || text[end] != '(' || (at > 0 && is_word(text[at - 1]))) continue;
    const std::string_view name = text.substr(at, end - at);
    bool known = name == "be_kernel" || name == "be_multiply";
    for (const PreludeFunction& function : functions) known = known || function.name == name;
    BE_CHECK(known, "the prelude has no " << name);
  }
}

}  // namespace

std::string prelude_for(std::string_view body) {
  const std::vector<PreludeFunction>& functions = prelude_functions();
  check_known(body, functions);
  std::vector<bool> used(functions.size(), false);
  // Functions stand after those they call, so one walk backwards finds all that are needed.
  for (std::size_t f = functions.size(); f-- > 0;) {
    used[f] = mentions(body, functions[f].name);
    for (std::size_t user = f + 1; user < functions.size() && !used[f]; ++user) {
      used[f] = used[user] && mentions(functions[user].text, functions[f].name);
    }
  }
  std::string text(kPreludeTypes);
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (used[f]) text += functions[f].text;
  }
  return text;
}

}  // namespace breakeven
