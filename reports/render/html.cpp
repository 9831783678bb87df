#include <algorithm>
#include <cmath>
#include <kainjow/mustache.hpp>
#include <nlohmann/json.hpp>

#include "compiler/support/check.h"
#include "compiler/support/text.h"
#include "reports/decide/phrases.h"
#include "reports/render/assets.h"
#include "reports/render/charts.h"
#include "reports/render/metrics.h"
#include "reports/render/render.h"

namespace breakeven {
namespace {

using kainjow::mustache::data;

constexpr std::size_t kMostCompiles = 10;  ///< Log lines shown an arm.
constexpr std::size_t kMostAccuracy = 60;

data list() { return data(data::type::list); }
data object() { return data(data::type::object); }

/// Text for {{...}}: hidden characters shown; the template engine escapes the rest.
std::string safe(const std::string& text, std::size_t max_bytes = 300) {
  return printable(text, max_bytes);
}

/// A figure with its interval, origin and sample count. data-path points into the page's own
/// report.json, so that what is shown can be checked against it.
std::string number_html(const Number& number, const std::string& path,
                        std::optional<double> like = std::nullopt) {
  std::string out = "<span class=\"num" + std::string(number.value ? "" : " none") +
                    "\" data-path=\"" + html_text(path) + "\">" + html_text(text_of(number, like)) +
                    "</span><span class=\"meta\">";
  const auto [lo, hi] = interval_ends(number, like);
  const auto end_html = [&](const std::string& text, const char* end) {
    return "<span data-path=\"" + html_text(path) + end + "\">" + html_text(text) + "</span>";
  };
  if (!lo.empty() && !hi.empty()) {
    out += "(" + end_html(lo, "/lo") + " to " + end_html(hi, "/hi") + ") ";
  } else if (!lo.empty()) {
    out += "(from " + end_html(lo, "/lo") + ", no upper end) ";
  }
  if (number.value) {
    out += "<span class=\"tag\" title=\"" + html_text(number.interval) + "\">" +
           std::string(name_of(number.origin)) + "</span>";
  }
  if (number.samples > 0) out += " n=" + std::to_string(number.samples);
  return out + "</span>";
}

std::string arm_path(std::size_t arm, const std::string& key) {
  return "/arms/" + std::to_string(arm) + "/" + key;
}

std::string costs_path(std::size_t arm, bool kept, const std::string& key) {
  return arm_path(arm, std::string("break_even/") + (kept ? "cache_kept/" : "cache_lost/") + key);
}

std::string verdict_words(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEnable:
      return "Enable";
    case Verdict::kEnableWithLimits:
      return "Enable with limits";
    case Verdict::kKeepEager:
      return "Keep eager";
    case Verdict::kNotEnoughData:
      return "Not enough data";
    case Verdict::kBlocked:
      return "Blocked: wrong results";
  }
  BE_CHECK(false, "unknown verdict");
  return {};
}

class Page {
 public:
  Page(const Results& results, const Decision& decision) : results_(results), decision_(decision) {}

  std::string render() {
    add_head();
    add_cards();
    add_reasons();
    add_break_even();
    add_arms();
    add_compiles();
    add_accuracy();
    add_provenance();
    kainjow::mustache::mustache page(kReportTemplate);
    BE_CHECK(page.is_valid(), page.error_message());
    return page.render(root_);
  }

 private:
  void set_texts(const std::string& name, const std::vector<std::string>& texts) {
    data lines = list();
    for (const std::string& text : texts) lines.push_back(data(safe(text, 1000)));
    root_.set(name, lines);
    root_.set("has_" + name, data(!texts.empty()));
  }

  /// A conditional block that shows `text` when there is any.
  void set_optional(const std::string& name, const std::string& text) {
    text.empty() ? root_.set(name, data(false)) : root_.set(name, data(text));
  }

  void add_head() {
    root_.set("style", std::string(kReportStyle));
    root_.set("name", safe(results_.scenario_name));
    root_.set("verdict", std::string(name_of(decision_.verdict)));
    root_.set("verdict_words", verdict_words(decision_.verdict));
    root_.set("headline", safe(decision_.headline, 1000));
    set_optional("question", safe(results_.scenario_question, 600));
    root_.set("interrupted", data(results_.interrupted));
    root_.set("quick", data(results_.quick));
    root_.set("baseline", safe(results_.arms.empty() ? "" : results_.arms.front()));
    set_texts("limits", decision_.limits);
    set_texts("next", decision_.next);
    set_texts("notes", decision_.notes);
    // "<" ends a script element early; in JSON it may be written as an escape.
    std::string json;
    for (const char c : render_json(results_, decision_)) {
      if (c == '<') {
        json += "\\u003c";
      } else if (c == '>') {
        json += "\\u003e";
      } else if (c == '&') {
        json += "\\u0026";
      } else {
        json += c;
      }
    }
    root_.set("json", json);
  }

  void add_cards() {
    data cards = list();
    const auto card = [&](const std::string& label, const Number& number, const std::string& path) {
      data one = object();
      one.set("label", safe(label));
      one.set("number", number_html(number, path));
      cards.push_back(one);
    };
    if (!decision_.arms.empty()) {
      const std::size_t at = leading_arm(decision_);
      const ArmSummary& arm = decision_.arms[at];
      const bool kept = results_.cache_survives_restart;
      const BreakEvenSummary& costs = kept ? arm.cache_kept : arm.cache_lost;
      root_.set("leading", safe(arm.arm));
      card("Speed-up of a mean request", arm.speedup, arm_path(at, "speedup"));
      card("Break-even", costs.requests, costs_path(at, kept, "requests"));
      card("Break-even at the scenario's rate", costs.minutes, costs_path(at, kept, "minutes"));
      card("Requests of a process life", decision_.requests_per_life, "/requests_per_life");
      card("Latency p50, after warm-up", arm.p50_ms, arm_path(at, "p50_ms"));
      card("p50 of " + results_.arms.front(), decision_.arms.front().p50_ms, arm_path(0, "p50_ms"));
      card("Latency p99, after warm-up", arm.p99_ms, arm_path(at, "p99_ms"));
      card("p99 of " + results_.arms.front(), decision_.arms.front().p99_ms, arm_path(0, "p99_ms"));
      card(kept ? "p99 straight after a warm start" : "p99 straight after a cold start",
           kept ? arm.start_warm_p99_ms : arm.start_cold_p99_ms,
           arm_path(at, kept ? "start_warm_p99_ms" : "start_cold_p99_ms"));
      card("Saved in a process life", costs.saving_per_life_usd,
           costs_path(at, kept, "saving_per_life_usd"));
    }
    root_.set("cards", cards);
    data givens = list();
    for (const Given& given : givens_of(results_)) {
      data one = object();
      one.set("label", given.label);
      one.set("number", number_html(given.number, "/scenario/given/" + given.key));
      given.source.find_first_not_of(", ") == std::string::npos
          ? one.set("source", data(false))
          : one.set("source", data(safe(given.source)));
      givens.push_back(one);
    }
    root_.set("givens", givens);
  }

  void add_reasons() {
    data reasons = list();
    for (const Reason& reason : decision_.reasons) {
      data one = object();
      one.set("sentence", safe(reason.sentence, 1000));
      one.set("rule", safe(reason.rule));
      reasons.push_back(one);
    }
    root_.set("reasons", reasons);
    data flips = list();
    for (const Flip& flip : decision_.flips) {
      data one = object();
      one.set("sentence", safe(flip.sentence, 600));
      flips.push_back(one);
    }
    root_.set("flips", flips);
    root_.set("has_flips", data(!decision_.flips.empty()));
  }

  std::string arm_legend(std::size_t from) const {
    std::string out = "<ul class=\"legend\">";
    for (std::size_t i = from; i < decision_.arms.size(); ++i) {
      out += "<li><i class=\"s" + std::to_string(i % 6) + "\"></i>" +
             html_text(decision_.arms[i].arm) + "</li>";
    }
    return out + "</ul>";
  }

  void add_break_even() {
    const Number& life = decision_.requests_per_life;
    root_.set("life_sentence", life.value
                                   ? "A process lives for " + text_of(life) + " here."
                                   : std::string("A process has no known end of life here."));
    root_.set("arm_legend", arm_legend(0));
    set_optional("chart_lost", break_even_chart(decision_, false));
    set_optional("chart_kept", break_even_chart(decision_, true));
    const char* governs = " (this is what the scenario says happens)";
    root_.set("governs_lost", std::string(results_.cache_survives_restart ? "" : governs));
    root_.set("governs_kept", std::string(results_.cache_survives_restart ? governs : ""));
    data compiled = list();
    for (std::size_t arm = 1; arm < decision_.arms.size(); ++arm) {
      data one = object();
      one.set("name", safe(decision_.arms[arm].arm));
      compiled.push_back(one);
    }
    root_.set("compiled", compiled);
    data costs = list();
    for (const bool kept : {false, true}) {
      bool first = true;
      for (const BreakEvenMetric& metric : break_even_metrics()) {
        data row = object();
        row.set("label", std::string(metric.label));
        const char* group = kept ? "Kernel cache kept" : "Kernel cache lost";
        first ? row.set("group", data(std::string(group))) : row.set("group", data(false));
        row.set("columns", std::to_string(std::max<std::size_t>(decision_.arms.size(), 1)));
        first = false;
        row.set("cells", cells_of(1, [&](std::size_t arm) {
                  const ArmSummary& one = decision_.arms[arm];
                  return std::pair(&((kept ? one.cache_kept : one.cache_lost).*metric.member),
                                   costs_path(arm, kept, metric.key));
                }));
        costs.push_back(row);
      }
    }
    root_.set("costs", costs);
  }

  void add_arms() {
    data arms = list(), rows = list(), split_rows = list();
    std::vector<std::string> warnings;
    for (const ArmSummary& arm : decision_.arms) {
      data one = object();
      one.set("name", safe(arm.arm));
      arms.push_back(one);
      for (const std::string& warning : arm.warnings) warnings.push_back(arm.arm + ": " + warning);
      if (!arm.usable) warnings.push_back(arm.arm + ": " + arm.unusable_reason);
    }
    root_.set("arms", arms);
    for (const ArmMetric& metric : arm_metrics()) {
      rows.push_back(row_of(metric.label, [&](std::size_t i) {
        return std::pair(&(decision_.arms[i].*metric.member), arm_path(i, metric.key));
      }));
    }
    root_.set("rows", rows);
    const std::size_t parts = decision_.arms.empty() ? 0 : decision_.arms[0].p99_split.size();
    for (std::size_t part = 0; part < parts; ++part) {
      const std::string& key = decision_.arms[0].p99_split[part].part;
      split_rows.push_back(row_of(label_of_split(key), [&](std::size_t i) {
        return std::pair(&decision_.arms[i].p99_split[part].share, arm_path(i, "p99_split/" + key));
      }));
    }
    root_.set("split_rows", split_rows);
    set_texts("warnings", warnings);
    set_optional("latency", latency_chart(decision_, results_.slo_p99_ms));
    set_optional("split", split_chart(decision_));
    set_optional("start", start_chart(decision_));
  }

  template <typename Cell>
  data row_of(const std::string& label, const Cell& cell_of) const {
    data row = object();
    row.set("label", label);
    row.set("cells", cells_of(0, cell_of));
    return row;
  }

  /// A row's figures in one unit; `cell_of` gives each arm's number and its place in report.json.
  template <typename Cell>
  data cells_of(std::size_t from, const Cell& cell_of) const {
    std::vector<const Number*> numbers;
    for (std::size_t i = from; i < decision_.arms.size(); ++i) numbers.push_back(cell_of(i).first);
    const std::optional<double> like = row_scale(numbers);
    data cells = list();
    for (std::size_t i = from; i < decision_.arms.size(); ++i) {
      const auto [number, path] = cell_of(i);
      data cell = object();
      cell.set("cell", number_html(*number, path, like));
      cells.push_back(cell);
    }
    return cells;
  }

  void add_compiles() {
    data compiles = list(), fallbacks = list();
    std::size_t left_out = 0, shown = 0, fallback_count = 0;
    for (const ArmSummary& arm : decision_.arms) {
      for (std::size_t i = 0; i < arm.compiles.size(); ++i) {
        if (i >= kMostCompiles) {
          left_out += arm.compiles.size() - i;
          break;
        }
        compiles.push_back(compile_row(arm.arm, arm.compiles[i]));
        ++shown;
      }
      for (const FallbackRecord& fallback : arm.fallbacks) {
        data row = object();
        row.set("arm", safe(arm.arm));
        row.set("what", safe(fallback.what));
        row.set("reason", safe(fallback.reason));
        row.set("count", figure_with_unit(static_cast<double>(fallback.count), ""));
        fallbacks.push_back(row);
        ++fallback_count;
      }
    }
    root_.set("has_compiles", data(shown > 0));
    root_.set("compiles", compiles);
    root_.set("compiles_note",
              left_out > 0 ? "; " + std::to_string(left_out) + " more lines are in report.json"
                           : std::string());
    root_.set("has_fallbacks", data(fallback_count > 0));
    root_.set("fallbacks", fallbacks);
  }

  static data compile_row(const std::string& arm, const CompileRecord& record) {
    data row = object();
    row.set("arm", safe(arm));
    row.set("at", format_duration_ns(static_cast<double>(record.at_ns)));
    row.set("took", format_duration_ns(static_cast<double>(record.duration_ns)));
    row.set("shape", safe(record.shape));
    row.set("guard", record.failed_guard.empty() ? "none: " + safe(record.trigger) + " program"
                                                 : safe(record.failed_guard));
    row.set("origin",
            record.origin.empty() ? std::string("the first request") : safe(record.origin));
    std::string kernels = std::to_string(record.kernels);
    const auto part = [&](int count, const char* how) {
      if (count > 0) kernels += ", " + std::to_string(count) + how;
    };
    part(record.compiled, " compiled");
    part(record.from_disk, " from disk");
    part(record.from_memory, " from memory");
    row.set("kernels", kernels);
    return row;
  }

  void add_accuracy() {
    std::vector<const AccuracyRecord*> records;
    std::size_t failed = 0;
    for (const AccuracyRecord& record : results_.accuracy) {
      records.push_back(&record);
      failed += !record.ok;
    }
    const auto used = [](const AccuracyRecord& r) {
      if (!r.ok) return HUGE_VAL;
      return r.limit > 0 && std::isfinite(r.rmse_arm) ? r.rmse_arm / r.limit : 0.0;
    };
    std::stable_sort(records.begin(), records.end(),
                     [&](const auto* a, const auto* b) { return used(*a) > used(*b); });
    root_.set("has_accuracy", data(!records.empty()));
    root_.set("accuracy_failed", data(failed > 0));
    root_.set("accuracy_count", std::to_string(records.size()));
    root_.set("accuracy_sentence",
              failed > 0 ? std::to_string(failed) + " of " + std::to_string(records.size()) +
                               " comparisons failed: the results of a compiled arm differ from "
                               "eager's by more than rounding explains."
                         : "All " + std::to_string(records.size()) +
                               " comparisons passed: compiled results differ from the reference no "
                               "more than the rule allows.");
    data rows = list();
    for (std::size_t i = 0; i < std::min(records.size(), kMostAccuracy); ++i) {
      const AccuracyRecord& record = *records[i];
      data row = object();
      row.set("arm", safe(record.arm));
      row.set("shape", safe(record.shape));
      row.set("error", figure(record.rmse_arm));
      row.set("eager", figure(record.rmse_eager));
      row.set("limit", figure(record.limit));
      row.set("passed", std::string(record.ok ? "yes" : "no"));
      row.set("failed", data(!record.ok));
      rows.push_back(row);
    }
    root_.set("accuracy", rows);
  }

  static std::string figure(double value) {
    return std::isfinite(value) ? short_figure(value) : "not a finite number";
  }

  void add_provenance() {
    data rows = list();
    const auto row = [&](const std::string& key, const std::string& value) {
      data one = object();
      one.set("key", safe(key));
      one.set("value", safe(value, 1000));
      rows.push_back(one);
    };
    row("Command", results_.command);
    row("Made", results_.created_at);
    row("breakeven", results_.version);
    row("Program hash", results_.binary_hash);
    row("Scenario hash", results_.scenario_hash);
    row("Policy", decision_.policy);
    for (const auto& [key, value] : results_.environment) row(key, value);
    root_.set("provenance", rows);
    const auto parsed = nlohmann::ordered_json::parse(results_.scenario_json, nullptr, false);
    const std::string pretty =
        parsed.is_discarded()
            ? results_.scenario_json
            : parsed.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    std::string lines;
    for (const std::string& line : split(pretty, '\n')) lines += safe(line, 2000) + "\n";
    root_.set("configuration", lines);
  }

  const Results& results_;
  const Decision& decision_;
  data root_ = object();
};

}  // namespace

std::string render_html(const Results& results, const Decision& decision) {
  return Page(results, decision).render();
}

}  // namespace breakeven
