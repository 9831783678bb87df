#include <algorithm>

#include "compiler/support/text.h"
#include "reports/decide/phrases.h"
#include "reports/render/metrics.h"
#include "reports/render/render.h"

namespace breakeven {
namespace {

/// Characters with a meaning in Markdown (and HTML inside it) are escaped; hidden ones are shown.
std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text, 400)) {
    if (std::string_view("\\`*_{}[]<>()#+!|&~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string cell(const Number& number, std::optional<double> like = std::nullopt) {
  std::string text = markdown_text(text_with_interval(number, like));
  if (number.value) text += " · " + std::string(name_of(number.origin));
  if (number.samples > 0) text += " · n=" + std::to_string(number.samples);
  return text;
}

const char* verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return "ENABLE";
    case Verdict::kEnableWithLimits:
      return "ENABLE WITH LIMITS";
    case Verdict::kKeepEager:
      return "KEEP EAGER";
    case Verdict::kNotEnoughData:
      return "NOT ENOUGH DATA";
    case Verdict::kBlocked:
      return "BLOCKED";
  }
  return "";
}

void add_list(std::string& out, const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += "\n## " + title + "\n\n";
  for (const std::string& line : lines) out += "- " + markdown_text(line) + "\n";
}

std::string table_head(const Decision& decision) {
  std::string head = "| |", rule = "|---|";
  for (const ArmSummary& arm : decision.arms) {
    head += " " + markdown_text(arm.arm) + " |";
    rule += "---|";
  }
  return head + "\n" + rule + "\n";
}

/// A row's cells in one unit; `number_of` picks the figure of an arm.
template <typename Pick>
std::string cells(const Decision& decision, const Pick& number_of) {
  std::vector<const Number*> numbers;
  for (const ArmSummary& arm : decision.arms) numbers.push_back(&number_of(arm));
  std::string out;
  for (const Number* number : numbers) out += " " + cell(*number, row_scale(numbers)) + " |";
  return out + "\n";
}

void add_tables(std::string& out, const Decision& decision) {
  out += "\n## Arms\n\n" + table_head(decision);
  for (const ArmMetric& metric : arm_metrics()) {
    out +=
        "| " + std::string(metric.label) + " |" +
        cells(decision, [&](const ArmSummary& arm) -> const Number& { return arm.*metric.member; });
  }
  for (const bool kept : {false, true}) {
    out += std::string("\n## Break-even, kernel cache ") + (kept ? "kept" : "lost") +
           " at a restart\n\n" + table_head(decision);
    for (const BreakEvenMetric& metric : break_even_metrics()) {
      out += "| " + std::string(metric.label) + " |" +
             cells(decision, [&](const ArmSummary& arm) -> const Number& {
               return (kept ? arm.cache_kept : arm.cache_lost).*metric.member;
             });
    }
  }
  out += "\n## Where the slowest 1 % of requests spend their time\n\n" + table_head(decision);
  if (decision.arms.empty()) return;
  for (std::size_t part = 0; part < decision.arms[0].p99_split.size(); ++part) {
    out += "| " + std::string(label_of_split(decision.arms[0].p99_split[part].part)) + " |" +
           cells(decision,
                 [&](const ArmSummary& arm) -> const Number& { return arm.p99_split[part].share; });
  }
}

/// Escape codes of a terminal, or nothing.
struct Paint {
  bool on = false;
  std::string operator()(const char* code, const std::string& text) const {
    return on ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }
};

const char* colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return "1;32";
    case Verdict::kEnableWithLimits:
      return "1;36";
    case Verdict::kKeepEager:
      return "1;34";
    case Verdict::kNotEnoughData:
      return "1;33";
    case Verdict::kBlocked:
      return "1;31";
  }
  return "0";
}

/// Columns as people see them: bytes that start a UTF-8 character.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t shown = width_of(text);
  return text + std::string(shown < width ? width - shown : 1, ' ');
}

constexpr const char* kTerminalKeys[] = {
    "speedup",       "mean_service_ms",    "p50_ms", "p99_ms", "cold_start_ms",
    "warm_start_ms", "recompiles_per_1000"};

}  // namespace

std::string render_markdown(const Results& results, const Decision& decision) {
  std::string out =
      "# " + markdown_text(results.scenario_name) + ": " + verdict_words(decision.verdict) + "\n\n";
  out += "**" + markdown_text(decision.headline) + "**\n\n";
  if (!results.scenario_question.empty()) {
    out += "Question: " + markdown_text(results.scenario_question) + "\n";
  }
  if (results.interrupted) out += "\nThe run was interrupted; this covers what was done.\n";
  add_list(out, "Limits", decision.limits);
  add_list(out, "What to do next", decision.next);
  std::vector<std::string> reasons, flips, warnings;
  for (const Reason& reason : decision.reasons)
    reasons.push_back(reason.sentence + " (" + reason.rule + ")");
  for (const Flip& flip : decision.flips) flips.push_back(flip.sentence);
  for (const ArmSummary& arm : decision.arms) {
    for (const std::string& warning : arm.warnings) warnings.push_back(arm.arm + ": " + warning);
  }
  add_list(out, "Why", reasons);
  add_list(out, "What would flip the verdict (modelled)", flips);
  add_tables(out, decision);
  add_list(out, "Warnings", warnings);
  out += "\n## Given and assumed\n\n| | |\n|---|---|\n";
  out += "| Requests of a process life | " + cell(decision.requests_per_life) + " |\n";
  for (const Given& given : givens_of(results)) {
    out += "| " + given.label + " | " + cell(given.number) +
           (given.source.empty() ? "" : " · " + markdown_text(given.source)) + " |\n";
  }
  add_list(out, "Notes", decision.notes);
  out += "\n## Provenance\n\n";
  out += "- Command: " + markdown_text(results.command) + "\n- Scenario " +
         markdown_text(results.scenario_hash) + ", program " + markdown_text(results.binary_hash) +
         ", breakeven " + markdown_text(results.version) + ", " +
         markdown_text(results.created_at) + "\n";
  for (const auto& [key, value] : results.environment) {
    out += "- " + markdown_text(key) + ": " + markdown_text(value) + "\n";
  }
  return out;
}

std::string render_terminal(const Results& results, const Decision& decision, bool colour) {
  const Paint paint{colour};
  std::string out = paint("1", printable(results.scenario_name)) + ": " +
                    paint(colour_of(decision.verdict), verdict_words(decision.verdict)) + "\n" +
                    printable(decision.headline, 1000) + "\n";
  const auto list = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out += "\n" + paint("1", title) + "\n";
    for (const std::string& line : lines) out += "  - " + printable(line, 1000) + "\n";
  };
  list("Limits", decision.limits);
  list("Next", decision.next);
  std::vector<std::string> reasons, flips;
  for (const Reason& reason : decision.reasons)
    reasons.push_back(reason.sentence + " [" + reason.rule + "]");
  for (const Flip& flip : decision.flips) flips.push_back(flip.sentence);
  list("Why", reasons);

  constexpr std::size_t kLabel = 30, kColumn = 36;
  out += "\n" + padded("", kLabel);
  for (const ArmSummary& arm : decision.arms)
    out += paint("1", padded(printable(arm.arm, 30), kColumn));
  out += "\n";
  const auto row = [&](const std::string& label, const auto& number_of) {
    out += padded(label, kLabel);
    std::vector<const Number*> numbers;
    for (const ArmSummary& arm : decision.arms) numbers.push_back(&number_of(arm));
    for (const Number* number : numbers) {
      std::string text = text_with_interval(*number, row_scale(numbers));
      if (!number->value) text = text.substr(0, text.find(':'));
      out += padded(printable(text, kColumn - 2), kColumn);
    }
    out += "\n";
  };
  for (const ArmMetric& metric : arm_metrics()) {
    if (std::ranges::none_of(kTerminalKeys,
                             [&](const char* key) { return std::string(key) == metric.key; })) {
      continue;
    }
    row(metric.label, [&](const ArmSummary& arm) -> const Number& { return arm.*metric.member; });
  }
  row("Break-even, cache lost",
      [](const ArmSummary& arm) -> const Number& { return arm.cache_lost.requests; });
  row("Break-even, cache kept",
      [](const ArmSummary& arm) -> const Number& { return arm.cache_kept.requests; });
  out += "Requests of a process life: " + text_of(decision.requests_per_life) + "\n";
  list("What would flip it (modelled)", flips);
  return out;
}

}  // namespace breakeven
