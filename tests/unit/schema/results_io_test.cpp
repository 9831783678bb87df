#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "reports/schema/results.h"
#include "tests/support/json_schema.h"
#include "tests/support/synthetic_results.h"

namespace breakeven {
namespace {

using nlohmann::ordered_json;

Results small_results() {
  testing::SyntheticOptions options;
  options.processes = 1;
  options.traffic_seconds = 2;
  options.shapes = 3;
  return testing::make_synthetic(options, {});
}

/// The error text for a results file after `edit`; "" when it reads.
template <typename Edit>
std::string error_after(const Edit& edit) {
  ordered_json root = ordered_json::parse(results_to_json(small_results()));
  edit(root);
  try {
    (void)results_from_json(root.dump(), "r.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string error_of_text(std::string_view text) {
  try {
    (void)results_from_json(text, "r.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ResultsFile, RoundTripIsExact) {
  const TempDir dir;
  const Results results = small_results();
  write_results(results, dir.path() / "results.json");
  const Results back = read_results(dir.path() / "results.json");
  EXPECT_EQ(results_to_json(back), results_to_json(results));
  EXPECT_EQ(back.trials.size(), results.trials.size());
  EXPECT_EQ(back.trials[0].first_result_ns, results.trials[0].first_result_ns);
}

TEST(ResultsFile, MatchesItsSchema) {
  EXPECT_EQ(testing::schema_violation(results_schema(), results_to_json(small_results())), "");
  Results odd = small_results();
  odd.rate_per_s = std::nan("");
  odd.trials[0].generator = GeneratorCheck{};
  odd.trials[0].first_result_ns.reset();
  EXPECT_EQ(testing::schema_violation(results_schema(), results_to_json(odd)), "");
}

TEST(ResultsFile, SchemaRefusesWhatTheReaderRefuses) {
  const auto both_refuse = [](const auto& edit) {
    ordered_json root = ordered_json::parse(results_to_json(small_results()));
    edit(root);
    EXPECT_NE(testing::schema_violation(results_schema(), root.dump()), "");
    EXPECT_NE(error_of_text(root.dump()), "");
  };
  both_refuse([](ordered_json& r) { r.erase("arms"); });
  both_refuse([](ordered_json& r) { r["quick"] = "yes"; });
  both_refuse([](ordered_json& r) { r["trials"][0]["phase"] = "lukewarm"; });
  both_refuse([](ordered_json& r) { r["shape_classes"][0]["probability"] = 1.5; });
  both_refuse([](ordered_json& r) { r["trials"][0]["process"] = -1; });
  both_refuse([](ordered_json& r) { r["trials"][0]["counters"]["kernels"] = 1.5; });
}

TEST(ResultsFile, CommittedSchemaIsTheProgramsOwn) {
  const auto path =
      std::filesystem::path(BREAKEVEN_SOURCE_DIR) / "reports/schema/results.schema.json";
  if (std::getenv("BREAKEVEN_UPDATE_GOLDEN") != nullptr) write_file_atomic(path, results_schema());
  // Not EXPECT_EQ, which would print both whole.
  EXPECT_TRUE(read_file(path) == results_schema())
      << "Write it again: BREAKEVEN_UPDATE_GOLDEN=1 build/release/schema_test";
}

TEST(ResultsFile, NonFiniteNumbersBecomeNullWithTheReason) {
  Results results = small_results();
  results.accuracy[0].rmse_arm = std::numeric_limits<double>::infinity();
  results.usd_per_hour = std::nan("");
  const std::string text = results_to_json(results);
  const ordered_json root = ordered_json::parse(text);
  EXPECT_TRUE(root["usd_per_hour"].is_null());
  EXPECT_TRUE(root["accuracy"][0]["rmse_arm"].is_null());
  ASSERT_EQ(root["not_finite"].size(), 2U);
  EXPECT_EQ(root["not_finite"][0], "/usd_per_hour: nan is no JSON number");
  EXPECT_EQ(root["not_finite"][1], "/accuracy/0/rmse_arm: inf is no JSON number");
  EXPECT_TRUE(std::isnan(results_from_json(text, "r.json").usd_per_hour));
}

TEST(ResultsFile, HostileTextNeverBreaksTheFile) {
  Results results = small_results();
  const std::string hostile =
      std::string("a\0b\x1b[31m\x80\xff\xed\xa0\x80 \" \\ \xe2\x80\xa8 </script>", 32);
  results.scenario_name = hostile;
  results.trials[0].failure = hostile;
  results.environment[hostile] = hostile;
  const Results back = results_from_json(results_to_json(results), "r.json");
  EXPECT_TRUE(has(back.scenario_name, std::string("a\0b\x1b[31m", 8)));
  EXPECT_TRUE(has(back.scenario_name, "\xef\xbf\xbd"));  // Invalid bytes became U+FFFD.
}

TEST(ResultsFile, TruncationNamesThePlace) {
  const std::string text = results_to_json(small_results());
  for (std::size_t size = 0; size + 2 < text.size(); size += 97) {
    const std::string error = error_of_text(std::string_view(text).substr(0, size));
    EXPECT_TRUE(has(error, "ends too early")) << size << ": " << error;
  }
  const std::string error = error_of_text("{\n \"format\": ?,\n}");
  EXPECT_TRUE(has(error, "r.json:2:12: the results file is not valid JSON")) << error;
}

TEST(ResultsFile, ForeignOlderAndNewerFilesAreTold) {
  EXPECT_TRUE(has(error_of_text("[1,2]"), "not a breakeven results file"));
  EXPECT_TRUE(has(error_of_text("{\"format\":\"other\"}"), "(got \"other\")"));
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["version"] = 2; }), "newer breakeven"));
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["version"] = 0; }), "older version"));
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["version"] = "1"; }), "/version"));
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r.erase("version"); }), "/version"));
}

TEST(ResultsFile, UnknownFieldsAreTolerated) {
  EXPECT_EQ(error_after([](ordered_json& r) {
              r["later"] = 1;
              r["trials"][0]["later"] = {{"deep", true}};
            }),
            "");
}

TEST(ResultsFile, WrongTypesCarryPointerAndValueAllAtOnce) {
  const std::string error = error_after([](ordered_json& r) {
    r["trials"][2]["first_result_ns"] = "soon";
    r["trials"][3]["process"] = 1e300;
    r["trials"][4].erase("ok");
    r["arms"][0] = 7;
  });
  EXPECT_TRUE(has(error, "at /trials/2/first_result_ns: expected a whole number (got \"soon\")"))
      << error;
  EXPECT_TRUE(has(error, "at /trials/3/process: expected a whole number")) << error;
  EXPECT_TRUE(has(error, "at /trials/4/ok: the field is missing")) << error;
  EXPECT_TRUE(has(error, "at /arms/0: expected text (got 7)")) << error;
}

TEST(ResultsFile, WholeNumbersOutOfRange) {
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["trials"][0]["process"] = 5000000000; }),
                  "out of range"));
  EXPECT_TRUE(
      has(error_after([](ordered_json& r) { r["trials"][0]["wall_ns"] = std::uint64_t{1} << 63; }),
          "out of range"));
}

TEST(ResultsFile, ReferencesAreChecked) {
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["trials"][0]["arm"] = "ghost"; }),
                  "/trials/0/arm: the arm is not listed"));
  EXPECT_TRUE(has(error_after([](ordered_json& r) { r["accuracy"][0]["arm"] = "ghost"; }),
                  "/accuracy/0/arm"));
  for (const char* path : {"/etc/passwd", "../x.bin", "raw/../../x.bin"}) {
    EXPECT_TRUE(has(error_after([&](ordered_json& r) { r["trials"][0]["raw_file"] = path; }),
                    "must stay inside"))
        << path;
  }
}

TEST(ResultsFile, DeepNestingAndManyFaultsEnd) {
  std::string deep(200000, '[');
  EXPECT_NE(error_of_text(deep), "");
  const std::string error = error_after([](ordered_json& r) {
    r["environment"].clear();
    for (int i = 0; i < 1000; ++i) r["environment"][std::to_string(i)] = i;
  });
  EXPECT_LT(error.size(), 6000U);
}

TEST(ResultsFile, UnwritableDirectoryIsAnEnvironmentError) {
  try {
    write_results(small_results(), "/proc/no-such-place/results.json");
    FAIL() << "must throw";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::kEnvironment);
  }
}

TEST(ResultsFile, NothingStandsTwiceOrBelowZero) {
  const auto twice = [](const char* list) {
    return error_after([&](ordered_json& r) { r[list].push_back(r[list][0]); });
  };
  for (const char* list : {"arms", "trials", "shape_classes", "accuracy"}) {
    EXPECT_TRUE(has(twice(list), "second time")) << list;
  }
  for (const char* field : {"wall_ns", "first_result_ns", "peak_rss_bytes"}) {
    const std::string error = error_after([&](ordered_json& r) { r["trials"][1][field] = -5; });
    EXPECT_TRUE(has(error, std::string("/trials/1/") + field)) << error;
  }
  EXPECT_TRUE(
      has(error_after([](ordered_json& r) { r["accuracy"][0]["rmse_arm"] = -1; }), "rmse_arm"));
}

}  // namespace
}  // namespace breakeven
