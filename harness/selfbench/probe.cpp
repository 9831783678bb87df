#include "harness/selfbench/probe.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "compiler/runtime/compiled_model.h"
#include "compiler/support/check.h"
#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"
#include "harness/measure/environment.h"
#include "harness/measure/workload.h"
#include "harness/selfbench/limits.h"

namespace breakeven {
namespace {

using Work = std::function<void()>;
using Side = std::function<void(std::vector<double>&)>;

double timed(const Work& work) {
  const Nanos start = now_ns();
  work();
  return static_cast<double>(now_ns() - start);
}

/// A block of requests: the first brings the caches back and is not counted.
Side block_of(Work work) {
  return [work = std::move(work)](std::vector<double>& samples) {
    constexpr Nanos kBlock = 30'000'000;
    constexpr int kMost = 25;
    work();
    const Nanos start = now_ns();
    for (int i = 0; i < kMost && (i == 0 || now_ns() - start < kBlock); ++i) {
      samples.push_back(timed(work));
    }
  };
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Processor time that was not this process's since an earlier moment: other processes', and what
/// the hypervisor gave to others.
class OthersTime {
 public:
  double since_start() const { return now() - start_; }

 private:
  static double now() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    stat >> cpu;
    double busy = 0;
    constexpr int kFields = 8;  // user nice system idle iowait irq softirq steal
    for (int i = 0; i < kFields; ++i) {
      double ticks = 0;
      stat >> ticks;
      if (i != 3 && i != 4) busy += ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    struct rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    return busy - seconds(own.ru_utime) - seconds(own.ru_stime);
  }

  double start_ = now();
};

/// Both sides in turn, the first of a turn changing, so that neither gains from its place. Throws
/// when other work had too much of the cores for the times to mean anything.
ProbeSamples in_turn(const Side& ours, const Side& theirs, int turns) {
  constexpr double kMostOthers = 0.05;
  const OthersTime others;
  const Nanos start = now_ns();
  ProbeSamples samples;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn % 2 == 1 && theirs) theirs(samples.theirs);
    ours(samples.ours);
    if (turn % 2 == 0 && theirs) theirs(samples.theirs);
  }
  const double wall = static_cast<double>(now_ns() - start) * 1e-9;
  const double share = others.since_start() / (wall * usable_cores());
  constexpr double kTick = 0.03;  // Ticks are coarse: of a short measurement they say little.
  if (share > kMostOthers + kTick / wall) {
    throw UserError(Diagnostic{"", 0, 0, "other work had the cores while the benchmark ran",
                               format_double(std::round(share * 100)) + " % of their time",
                               "Stop it and measure again"});
  }
  return samples;
}

/// A request to a program of eight inputs that adds one element of each.
ProbeSamples probe_dispatch(const std::filesystem::path& folder) {
  constexpr int kInputs = 8;
  constexpr int kRequests = 2000;
  std::string text = "graph \"dispatch\" {\n  sym n in [1, 64] hint 2\n";
  for (int i = 0; i < kInputs; ++i) {
    text += "  %x" + std::to_string(i) + " = input \"x" + std::to_string(i) + "\" : f32[1, n]\n";
  }
  std::string sum = "%x0";
  for (int i = 1; i < kInputs; ++i) {
    const std::string next = "%s" + std::to_string(i);
    text += "  " + next + " = aten.add.Tensor(self=" + sum + ", other=%x" + std::to_string(i) +
            ") : f32[1, n]\n";
    sum = next;
  }
  text += "  return " + sum + "\n}\n";
  const auto backend = make_reference_backend();
  SerialFor serial;
  CompileOptions options;
  options.cache_dir = folder / "kernels";
  CompiledModel model(parse_graph(text, "dispatch"), {}, options, *backend, serial);
  const std::vector<HostTensor> inputs(kInputs, HostTensor::zeros(DType::kF32, {1, 1}));
  CompiledModel::RunResult result;
  const auto serve = [&] {
    const bool ok = model.run(inputs, result).ok();
    BE_CHECK(ok && !result.eager, "the dispatch program must be compiled");
  };
  serve();
  ProbeSamples samples;
  for (int block = 0; block < 50; ++block) {
    const double all = timed([&] {
      for (int i = 0; i < kRequests; ++i) serve();
    });
    samples.ours.push_back(all / kRequests);
  }
  return samples;
}

/// One arm in this process with the row's model loaded.
class LoadedArm {
 public:
  LoadedArm(const Scenario& scenario, const std::string& arm, const std::filesystem::path& cache,
            int threads, const ArmTable& arms)
      : scenario_(scenario) {
    const ArmKind* kind = find_arm(arms, arm);
    if (kind == nullptr) {
      throw UserError(
          Diagnostic{scenario.path.string(), 0, 0, "this build does not have the arm", arm, ""});
    }
    context_ = {.scenario = &scenario, .cache_dir = cache / safe_folder(arm), .threads = threads};
    executor_ = kind->make(arm, context_);
    executor_->prepare();
  }

  /// A request; counts what compiles and keeps the bytes that it moved.
  void serve(const std::vector<HostTensor>& inputs) {
    const RunOutcome outcome = executor_->run(inputs);
    compiles_ += static_cast<std::int64_t>(outcome.compiles.size());
    if (outcome.fell_back) {
      throw UserError(Diagnostic{
          scenario_.path.string(), 0, 0, "the compiled arm ran the request eagerly",
          executor_->fallbacks().empty() ? std::string() : executor_->fallbacks().back().reason,
          ""});
    }
    answer_bytes_ = 0;
    for (const HostTensor& output : outcome.outputs) answer_bytes_ += output.byte_count();
  }
  Side block(const std::vector<HostTensor>& inputs) {
    return block_of([this, &inputs] { serve(inputs); });
  }
  std::int64_t compiles() const { return compiles_; }
  std::int64_t answer_bytes() const { return answer_bytes_; }

 private:
  static std::string safe_folder(std::string arm) {
    std::replace_if(
        arm.begin(), arm.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return arm;
  }

  const Scenario& scenario_;
  ExecutorContext context_;
  std::unique_ptr<Executor> executor_;
  std::int64_t compiles_ = 0, answer_bytes_ = 0;
};

std::int64_t bytes_of(const std::vector<HostTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const HostTensor& tensor : tensors) bytes += tensor.byte_count();
  return bytes;
}

/// Times of what the machine could do at most for the row.
Side limit_of(const FigureRow& row, std::int64_t moved, int threads) {
  constexpr int kPasses = 5;
  return [=](std::vector<double>& to) {
    // The pool of our arm spins for some milliseconds after its last request.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    std::vector<double> passes = row.probe == Probe::kCopy
                                     ? time_copy(moved, threads, kPasses)
                                     : time_stream(row.bytes + moved, threads, kPasses);
    if (row.probe == Probe::kRoofline) {
      const std::vector<double> fmas = time_fmas(row.fmas, threads, kPasses);
      for (int i = 0; i < kPasses; ++i) passes[i] = std::max(passes[i], fmas[i]);
    }
    to.insert(to.end(), passes.begin(), passes.end());
  };
}

constexpr int kTurns = 12;
constexpr int kLimitTurns = 10;

}  // namespace

std::string to_text(const ProbeSamples& samples) {
  return nlohmann::json{{"ours", samples.ours}, {"theirs", samples.theirs}}.dump() + '\n';
}

ProbeSamples parse_probe_samples(std::string_view text, const std::string& name) {
  try {
    const auto json = nlohmann::json::parse(text);
    return {json.at("ours").get<std::vector<double>>(),
            json.at("theirs").get<std::vector<double>>()};
  } catch (const nlohmann::json::exception&) {
    throw UserError(Diagnostic{name, 0, 0, "this is no measurement of selfbench", "", ""});
  }
}

void write_figure_scenario(const FigureTable& table, const FigureRow& row,
                           const std::filesystem::path& file) {
  using Json = nlohmann::ordered_json;
  const FigureModel& model = table.models.at(row.model);
  Json dims = Json::object();
  for (const auto& [name, size] : row.sizes) dims[name] = {{"min", size}, {"max", size}};
  const Json scenario = {
      {"breakeven", 1},
      {"name", "selfbench"},
      {"model", {{"name", row.model}, {"file", model.file}}},
      {"dims", dims},
      {"inputs", Json::parse(model.inputs)},
      {"traffic", {{"kind", "poisson"}, {"rate_per_s", 1}, {"origin", "assumed"}}},
      {"arms", {row.arm}},
      {"life", {{"restarts_per_day", 1}, {"origin", "assumed"}}},
      {"price", {{"usd_per_hour", 1}, {"device", "this machine"}, {"origin", "assumed"}}}};
  write_file_atomic(file, scenario.dump(2) + '\n');
}

ProbeSamples run_probe(const FigureTable& table, const FigureRow& row, const std::string& peer,
                       const std::filesystem::path& folder, const ArmTable& arms) {
  if (row.probe == Probe::kDispatch) return probe_dispatch(folder);
  const Scenario scenario = load_scenario(folder / "scenario.json");
  const int threads = table.threads > 0 ? table.threads : usable_cores();
  const std::filesystem::path cache = folder / "kernels";
  ShapeBinding shape, other;
  for (const DimSpec& dim : scenario.dims) {
    shape.push_back(dim.min);
    other.push_back(dim.min > 1 ? dim.min - 1 : 2);
  }
  const std::vector<HostTensor> inputs = make_inputs(scenario, shape, scenario.measure.seed);
  LoadedArm ours(scenario, row.arm, cache, threads, arms);
  std::int64_t expected = 1;
  if (row.probe == Probe::kNewShape || row.probe == Probe::kNewCompiles) {
    ours.serve(make_inputs(scenario, other, scenario.measure.seed));
    expected = ours.compiles();
  }
  ours.serve(inputs);
  if (row.probe == Probe::kNewCompiles) {
    return {{static_cast<double>(ours.compiles() - expected)}, {}};
  }
  if (!peer.empty()) {
    LoadedArm theirs(scenario, peer, cache, threads, arms);
    theirs.serve(inputs);
    return in_turn(ours.block(inputs), theirs.block(inputs), kTurns);
  }
  if (row.value == FigureValue::kOurs) return in_turn(ours.block(inputs), {}, kTurns);
  const std::int64_t moved = bytes_of(inputs) + ours.answer_bytes();
  const bool weights_alone = row.probe == Probe::kStream;
  return in_turn(ours.block(inputs), limit_of(row, weights_alone ? 0 : moved, threads),
                 kLimitTurns);
}

}  // namespace breakeven
