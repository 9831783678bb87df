#include "reports/render/render.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>

#include "compiler/support/files.h"
#include "reports/render/charts.h"
#include "reports/render/metrics.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_results.h"

namespace breakeven {
namespace {

using nlohmann::ordered_json;

/// A small made-up run, decided once for all tests.
struct Rendered {
  Results results;
  Decision decision;
};

Rendered make(const testing::SyntheticOptions& options) {
  const TempDir dir;
  Rendered rendered;
  rendered.results = testing::make_synthetic(options, dir.path());
  rendered.decision = decide(rendered.results, dir.path());
  return rendered;
}

testing::SyntheticOptions small() {
  testing::SyntheticOptions options;
  options.arms = testing::default_arms();
  options.rate_per_s = 30;
  options.traffic_seconds = 8;
  options.steady_requests = 100;
  options.cold_requests = 60;
  options.shapes = 6;
  return options;
}

const Rendered& plain() {
  static const Rendered rendered = make(small());
  return rendered;
}

const std::string kHostile =
    "<script>alert(1)</script>\"'&`|\n# x\x1b[31m\xe2\x80\xae\xff{{name}}{{{json}}}" +
    std::string(10000, 'y');

const Rendered& hostile() {
  static const Rendered rendered = [] {
    testing::SyntheticOptions options = small();
    options.scenario_name = kHostile;
    options.arms[1].name = kHostile;
    options.traffic_seconds = 3;
    const TempDir dir;
    Rendered made;
    made.results = testing::make_synthetic(options, dir.path());
    made.results.scenario_question = kHostile;
    made.results.environment[kHostile] = kHostile;
    made.results.trials[0].failure = kHostile;
    made.results.trials[0].ok = false;
    made.results.scenario_json = "{\"name\": \"</script><script>alert(1)</script>\"}";
    for (Trial& trial : made.results.trials) {
      trial.compiles.push_back({.trigger = kHostile, .shape = kHostile, .failed_guard = kHostile});
      trial.fallbacks.push_back({.what = kHostile, .reason = kHostile});
    }
    made.decision = decide(made.results, dir.path());
    return made;
  }();
  return rendered;
}

std::string embedded_json(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"report-json\">";
  const std::size_t from = page.find(open) + open.size();
  return page.substr(from, page.find("</script>", from) - from);
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(ReportJson, MatchesItsCommittedSchema) {
  const std::string committed =
      read_file(std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "reports/render/report.schema.json");
  EXPECT_EQ(committed, report_schema());
  EXPECT_EQ(testing::schema_violation(committed, render_json(plain().results, plain().decision)),
            "");
  EXPECT_EQ(
      testing::schema_violation(committed, render_json(hostile().results, hostile().decision)), "");
  Results bare;
  bare.arms = {"eager", "fused:dynamic"};
  EXPECT_EQ(testing::schema_violation(committed, render_json(bare, decide(bare, "."))), "");
}

TEST(ReportJson, EveryNumberHasValueOrReasonAndOrigin) {
  const ordered_json root = ordered_json::parse(render_json(plain().results, plain().decision));
  int numbers = 0;
  const std::function<void(const ordered_json&)> walk = [&](const ordered_json& node) {
    if (node.is_object() && node.contains("origin") && node.contains("samples")) {
      ++numbers;
      EXPECT_EQ(node["value"].is_null(), !node["missing"].get<std::string>().empty()) << node;
      if (!node["lo"].is_null()) {
        EXPECT_LE(node["lo"], node["value"]) << node;
        EXPECT_FALSE(node["interval"].get<std::string>().empty()) << node;
      }
      if (!node["hi"].is_null()) {
        EXPECT_GE(node["hi"], node["value"]) << node;
      }
    }
    if (node.is_structured()) {
      for (const auto& child : node) walk(child);
    }
  };
  walk(root);
  EXPECT_GT(numbers, 100);
}

TEST(ReportJson, HasWhatTheIssueNames) {
  const ordered_json root = ordered_json::parse(render_json(plain().results, plain().decision));
  EXPECT_EQ(root["verdict"], "enable");
  EXPECT_FALSE(root["break_even"]["requests"]["value"].is_null());
  for (const char* key : {"p50_ms", "p99_ms", "throughput_closed_loop_per_s", "recompiles_per_1000",
                          "cold_start_ms", "warm_start_ms"}) {
    EXPECT_FALSE(root["arms"][1][key]["value"].is_null()) << key;
  }
  EXPECT_EQ(root["arms"][1]["p99_ms"]["origin"], "measured");
  EXPECT_EQ(root["break_even"]["requests"]["origin"], "modelled");
  EXPECT_EQ(root["scenario"]["given"]["rate_per_s"]["origin"], "assumed");
}

TEST(ReportHtml, EmbedsTheSameReport) {
  const std::string page = render_html(plain().results, plain().decision);
  EXPECT_EQ(ordered_json::parse(embedded_json(page)),
            ordered_json::parse(render_json(plain().results, plain().decision)));
}

TEST(ReportHtml, EveryDataPathLeadsToANumber) {
  const std::string page = render_html(plain().results, plain().decision);
  const ordered_json root = ordered_json::parse(embedded_json(page));
  const std::regex pattern("data-path=\"([^\"]+)\"");
  std::size_t paths = 0;
  for (auto it = std::sregex_iterator(page.begin(), page.end(), pattern);
       it != std::sregex_iterator(); ++it) {
    EXPECT_TRUE(root.contains(ordered_json::json_pointer((*it)[1].str()))) << (*it)[1];
    ++paths;
  }
  EXPECT_GT(paths, 100U);
}

TEST(ReportHtml, IsOneFileWithoutNetwork) {
  const std::string page = render_html(plain().results, plain().decision);
  EXPECT_EQ(count_of(page, "http://") + count_of(page, "https://"), 0U);
  EXPECT_EQ(count_of(page, "<link rel=\"stylesheet\"") + count_of(page, " src="), 0U);
  EXPECT_EQ(count_of(page, "<script"), 1U);  // The data block alone: no code at all.
  EXPECT_LT(page.find("id=\"verdict\""), page.find("Key numbers"));
  EXPECT_GE(count_of(page, "<svg"), 4U);
  EXPECT_EQ(count_of(page, "<svg"), count_of(page, "role=\"img\" aria-label="));
}

TEST(ReportHtml, HostileNamesComeOutAsText) {
  const std::string page = render_html(hostile().results, hostile().decision);
  EXPECT_EQ(count_of(page, "<script>"), 0U);
  EXPECT_EQ(count_of(page, "</script>"), 1U);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_NE(page.find("{{name}}"), std::string::npos);  // Data is not a template.
  const ordered_json root = ordered_json::parse(embedded_json(page));
  EXPECT_EQ(root["arms"][1]["arm"].get<std::string>().substr(0, 8), "<script>");
}

TEST(ReportHtml, LongNamesAreCutOutsideTheData) {
  std::string page = render_html(hostile().results, hostile().decision);
  page.erase(page.find("id=\"report-json\""));
  EXPECT_EQ(page.find(std::string(2000, 'y')), std::string::npos);
}

TEST(ReportMarkdown, HostileNamesAreEscaped) {
  const std::string text = render_markdown(hostile().results, hostile().decision);
  EXPECT_EQ(text.find("<script>"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_EQ(text.find(std::string(2000, 'y')), std::string::npos);
}

TEST(ReportMarkdown, EqualsTheGoldenFile) {
  const auto golden = std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "tests/golden/report.md";
  const std::string text = render_markdown(plain().results, plain().decision);
  if (std::getenv("BREAKEVEN_UPDATE_GOLDEN") != nullptr) write_file_atomic(golden, text);
  EXPECT_EQ(read_file(golden), text)
      << "If the change is meant: BREAKEVEN_UPDATE_GOLDEN=1 render_test, then look at the diff";
}

TEST(ReportMarkdown, TablesKeepTheirColumns) {
  const std::string text = render_markdown(plain().results, plain().decision);
  for (const ArmMetric& metric : arm_metrics()) {
    const std::size_t at = text.find("| " + std::string(metric.label) + " |");
    ASSERT_NE(at, std::string::npos) << metric.label;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_EQ(count_of(line, "|") - count_of(line, "\\|"), 5U) << line;
  }
}

TEST(ReportTerminal, PlainWithoutColourAndSafe) {
  const std::string text = render_terminal(hostile().results, hostile().decision, false);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string coloured = render_terminal(plain().results, plain().decision, true);
  EXPECT_NE(coloured.find("\x1b[1;32mENABLE\x1b[0m"), std::string::npos);
  EXPECT_NE(
      render_terminal(plain().results, plain().decision, false).find("Break-even, cache lost"),
      std::string::npos);
}

TEST(Report, EveryVerdictRendersInEveryFormat) {
  for (const Verdict verdict : {Verdict::kEnable, Verdict::kEnableWithLimits, Verdict::kKeepEager,
                                Verdict::kNotEnoughData, Verdict::kBlocked}) {
    Decision decision = plain().decision;
    decision.verdict = verdict;
    const std::string page = render_html(plain().results, decision);
    EXPECT_NE(page.find("data-verdict=\"" + std::string(name_of(verdict)) + "\""),
              std::string::npos);
    EXPECT_FALSE(render_markdown(plain().results, decision).empty());
    EXPECT_FALSE(render_terminal(plain().results, decision, true).empty());
  }
}

TEST(Report, NoFormatShowsNanOrInfinity) {
  Rendered rendered = plain();
  rendered.results.accuracy[0].rmse_arm = INFINITY;
  rendered.results.slo_p99_ms = NAN;
  rendered.results.usd_per_hour = NAN;
  const std::regex bad("[^a-z](nan|inf)[^a-z]");
  std::string page = render_html(rendered.results, rendered.decision);
  EXPECT_FALSE(std::regex_search(page, bad));
  EXPECT_FALSE(std::regex_search(render_markdown(rendered.results, rendered.decision), bad));
  EXPECT_FALSE(std::regex_search(render_json(rendered.results, rendered.decision), bad));
}

TEST(Report, MakeReportWritesThreeFiles) {
  const TempDir dir;
  testing::make_synthetic(small(), dir.path());
  const Decision decision = make_report(dir.path());
  const ordered_json json = ordered_json::parse(read_file(dir.path() / "report.json"));
  EXPECT_EQ(json["verdict"], name_of(decision.verdict));
  EXPECT_FALSE(read_file(dir.path() / "report.html").empty());
  EXPECT_FALSE(read_file(dir.path() / "report.md").empty());
}

TEST(Charts, NothingToDrawIsNothing) {
  const Decision decision;
  EXPECT_EQ(break_even_chart(decision, true), "");
  EXPECT_EQ(latency_chart(decision, 50), "");
  EXPECT_EQ(split_chart(decision), "");
  EXPECT_EQ(start_chart(decision), "");
}

}  // namespace
}  // namespace breakeven
