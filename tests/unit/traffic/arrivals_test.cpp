#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "compiler/support/hash.h"
#include "harness/traffic/traffic.h"
#include "tests/unit/scenario/scenario_files.h"

namespace breakeven {
namespace {

Scenario with_traffic(TrafficSpec traffic) {
  Scenario scenario;
  scenario.dims = {{"batch", 1, 8}, {"length", 1, 64}};
  scenario.shapes["length"] = {.kind = DimSource::Kind::kList, .list = {{8, 3.0}, {16, 1.0}}};
  scenario.traffic = std::move(traffic);
  return scenario;
}

std::string bytes_of(const std::vector<Request>& requests) {
  std::string bytes;
  for (const Request& request : requests) {
    bytes.append(reinterpret_cast<const char*>(&request.id), 8);
    bytes.append(reinterpret_cast<const char*>(&request.due), 8);
    for (const std::int64_t size : request.shape) {
      bytes.append(reinterpret_cast<const char*>(&size), 8);
    }
  }
  return bytes;
}

double cv_of(const std::vector<Request>& requests) {
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    const double gap = static_cast<double>(requests[i].due - requests[i - 1].due);
    sum += gap;
    squares += gap * gap;
  }
  const double count = static_cast<double>(requests.size() - 1);
  return std::sqrt(squares / count - sum * sum / count / count) / (sum / count);
}

// B102: a schedule is its seed's, byte for byte.
TEST(Arrivals, SameSeedGivesTheSameBytes) {
  const Scenario scenario =
      with_traffic({.kind = TrafficSpec::Kind::kGamma, .rate_per_s = 50, .cv = 3});
  const std::string bytes = bytes_of(make_requests(scenario, 5, 20));
  EXPECT_EQ(bytes, bytes_of(make_requests(scenario, 5, 20)));
  EXPECT_NE(bytes, bytes_of(make_requests(scenario, 6, 20)));
}

// The same on every machine: a hash that changes here changes every published schedule.
TEST(Arrivals, ScheduleIsPinned) {
  const Scenario gamma =
      with_traffic({.kind = TrafficSpec::Kind::kGamma, .rate_per_s = 50, .cv = 3});
  const Scenario poisson = with_traffic({.kind = TrafficSpec::Kind::kPoisson, .rate_per_s = 50});
  EXPECT_EQ(hash_bytes(bytes_of(make_requests(gamma, 5, 20))).to_hex(),
            "58c55a846a6029ad54e6465d0cc7bfa1");
  EXPECT_EQ(hash_bytes(bytes_of(make_requests(poisson, 5, 20))).to_hex(),
            "46cf6ea28cb18a07846fb3572b938598");
}

// B104: the shape of the gaps must not move their mean.
TEST(Arrivals, GammaKeepsTheRateAtAnyBurstiness) {
  for (const double cv : {2.0, 1.0, 0.5}) {
    const Scenario scenario =
        with_traffic({.kind = TrafficSpec::Kind::kGamma, .rate_per_s = 100, .cv = cv});
    const std::vector<Request> requests = make_requests(scenario, 9, 5000);
    EXPECT_NEAR(static_cast<double>(requests.size()) / 5000, 100, 1) << cv;
    EXPECT_NEAR(cv_of(requests), cv, 0.03 * cv);
  }
}

TEST(Arrivals, PoissonHasItsRate) {
  const Scenario scenario = with_traffic({.kind = TrafficSpec::Kind::kPoisson, .rate_per_s = 100});
  const std::vector<Request> requests = make_requests(scenario, 9, 2000);
  EXPECT_NEAR(static_cast<double>(requests.size()) / 2000, 100, 1);
  EXPECT_NEAR(cv_of(requests), 1, 0.02);
  EXPECT_TRUE(std::is_sorted(requests.begin(), requests.end(),
                             [](const Request& a, const Request& b) { return a.due < b.due; }));
}

class TraceReplay : public testing::Test {
 protected:
  TraceReplay() { files_.write("trace.csv", "at,length\n100,8\n101,16\n103,24\n"); }
  Scenario scenario(double rate) const {
    Scenario scenario = with_traffic({.kind = TrafficSpec::Kind::kTrace,
                                      .file = files_.path("trace.csv").string(),
                                      .time_column = "at",
                                      .rate_per_s = rate});
    scenario.shapes["length"] = {.kind = DimSource::Kind::kTraceColumn,
                                 .file = scenario.traffic.file,
                                 .value_column = "length"};
    scenario.shape_order = "published";
    return scenario;
  }
  std::vector<Nanos> dues(double rate, double seconds, double offset) const {
    std::vector<Nanos> due;
    for (const Request& request : make_requests(scenario(rate), 1, seconds, offset)) {
      due.push_back(request.due);
    }
    return due;
  }
  ScenarioFiles files_;
};

TEST_F(TraceReplay, KeepsTheStampsAsTheyAre) {
  // Three arrivals in a period of 3 s * 3/2 = 4.5 s, then over again.
  EXPECT_EQ(dues(0, 5, 0), (std::vector<Nanos>{0, 1'000'000'000, 3'000'000'000, 4'500'000'000}));
  EXPECT_NEAR(mean_rate_per_s(scenario(0)), 3 / 4.5, 1e-12);
}

TEST_F(TraceReplay, ScalesTimeNotGapsAmongThemselves) {
  EXPECT_EQ(dues(3 / 2.25, 2, 0), (std::vector<Nanos>{0, 500'000'000, 1'500'000'000}));
  EXPECT_NEAR(trace_seconds(scenario(3 / 2.25)), 2.25, 1e-9);
}

TEST_F(TraceReplay, OffsetStartsLaterAndWrapsWithTheRowsInStep) {
  EXPECT_EQ(dues(0, 3, 2), (std::vector<Nanos>{1'000'000'000, 2'500'000'000}));
  const std::vector<Request> requests = make_requests(scenario(0), 1, 3, 2);
  EXPECT_EQ(requests[0].shape, (ShapeBinding{1, 24}));
  EXPECT_EQ(requests[1].shape, (ShapeBinding{1, 8}));
}

TEST_F(TraceReplay, KeepsBurstinessOfTheRealTrace) {
  const std::string file =
      std::string(BREAKEVEN_SOURCE_DIR) + "/scenarios/traces/azure_llm_2023_conv.csv";
  Scenario scenario = with_traffic({.kind = TrafficSpec::Kind::kTrace,
                                    .file = file,
                                    .time_column = "TIMESTAMP",
                                    .rate_per_s = 20});
  const std::vector<Request> requests = make_requests(scenario, 1, trace_seconds(scenario));
  EXPECT_EQ(requests.size(), 19366u);
  EXPECT_NEAR(cv_of(requests), 1.09, 0.01);
  EXPECT_NEAR(19366 / trace_seconds(scenario), 20, 1e-9);
}

TEST(Arrivals, ClosedLoopHasNone) {
  EXPECT_TRUE(make_requests(with_traffic({.kind = TrafficSpec::Kind::kClosedLoop}), 1, 10).empty());
}

}  // namespace
}  // namespace breakeven
