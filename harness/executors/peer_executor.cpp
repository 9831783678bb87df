#include "harness/executors/peer_executor.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "compiler/support/check.h"
#include "harness/executors/shape_label.h"

namespace breakeven {
namespace {

/// One compile as the plugin tells it.
CompileEvent event_of(const nlohmann::json& json, std::string shape) {
  CompileEvent event;
  event.trigger =
      json.at("repeat").get<bool>() ? CompileTrigger::kRecompile : CompileTrigger::kFirst;
  event.started_at = now_ns() - json.at("age").get<Nanos>();
  event.duration = json.at("ns").get<Nanos>();
  event.shape = std::move(shape);
  event.failed_guard = json.at("guard").get<std::string>();
  event.origin = json.at("origin").get<std::string>();
  event.kernels = json.at("kernels").get<int>();
  event.compiled = json.at("compiled").get<int>();
  event.from_disk = json.at("from_disk").get<int>();
  event.misses = json.at("misses").get<std::vector<std::string>>();
  for (const auto& stage : json.at("stages")) {
    event.stages.push_back({stage.at(0).get<std::string>(), stage.at(1).get<Nanos>()});
  }
  return event;
}

class PeerExecutor final : public Executor {
 public:
  PeerExecutor(PeerArm arm, const ExecutorContext& context)
      : arm_(std::move(arm)), context_(context) {}

  PrepareOutcome prepare() override {
    peer_.emplace(arm_, context_);
    return {peer_->stages(), {}};
  }

  RunOutcome run(std::span<const HostTensor> inputs) override {
    PythonPeer::Answer answer = peer_->run(inputs);
    RunOutcome outcome{std::move(answer.outputs), {}, false};
    if (!answer.text.empty()) take_news(answer.text, inputs, outcome);
    return outcome;
  }

  Counters counters() const override {
    return peer_ ? report().at("counters").get<Counters>() : Counters{};
  }

  std::vector<Fallback> fallbacks() const override {
    std::vector<Fallback> all;
    for (const auto& [key, count] : eager_) all.push_back({key.first, key.second, count, true});
    if (!peer_) return all;
    const nlohmann::json now = report();
    for (const auto& one : now.at("fallbacks")) {
      all.push_back({one.at("what").get<std::string>(), one.at("reason").get<std::string>(),
                     one.at("count").get<std::int64_t>(), false});
    }
    return all;
  }

  std::map<std::string, std::string> facts() const override {
    using Facts = std::map<std::string, std::string>;
    return peer_ ? report().at("facts").get<Facts>() : Facts{};
  }

 private:
  nlohmann::json report() const { return nlohmann::json::parse(peer_->report()); }

  void take_news(const std::string& text, std::span<const HostTensor> inputs, RunOutcome& outcome) {
    const nlohmann::json news = nlohmann::json::parse(text);
    const std::string shape = shape_label(*context_.scenario, inputs);
    for (const auto& event : news.at("events")) {
      outcome.compiles.push_back(event_of(event, shape));
    }
    const auto reason = news.at("fell_back").get<std::string>();
    outcome.fell_back = !reason.empty();
    if (outcome.fell_back) ++eager_[{shape, reason}];
  }

  PeerArm arm_;
  ExecutorContext context_;
  std::optional<PythonPeer> peer_;
  std::map<std::pair<std::string, std::string>, std::int64_t> eager_;  ///< By shape and reason.
};

class PythonReference final : public AccuracyReference {
 public:
  explicit PythonReference(const ExecutorContext& context)
      : eager_({.engine = "torch-eager", .mode = {}}, context),
        fp64_({.engine = "torch-eager", .mode = {}}, context, true) {}

  std::vector<HostTensor> run_eager(std::span<const HostTensor> inputs) override {
    return eager_.run(inputs).outputs;
  }
  std::vector<HostTensor> run_fp64(std::span<const HostTensor> inputs) override {
    return fp64_.run(inputs).outputs;
  }

 private:
  PythonPeer eager_, fp64_;
};

std::unique_ptr<Executor> make_peer(const std::string& arm, const ExecutorContext& context) {
  const std::optional<PeerArm> parsed = parse_peer_arm(arm);
  BE_CHECK(parsed, "no arm of PyTorch's own: " << arm);
  return std::make_unique<PeerExecutor>(*parsed, context);
}

}  // namespace

ArmTable python_arms() {
  return {{"torch-eager", "PyTorch in Python, op by op", make_peer},
          {"torch-compile:", "torch.compile: MODE[:dynamic|:mark_dynamic][:freezing]", make_peer},
          {"torchscript", "TorchScript, traced, frozen and optimised for inference", make_peer}};
}

std::filesystem::path capture_model(const ExecutorContext& context, std::vector<Stage>& stages) {
  const std::filesystem::path archive = context.cache_dir / "captured.pt2";
  if (std::filesystem::exists(archive)) return archive;
  const PythonPeer peer({.engine = "torch-eager", .mode = {}}, context);
  stages.insert(stages.end(), peer.stages().begin(), peer.stages().end());
  // A half-written archive must not serve the next trial.
  const std::filesystem::path partial = context.cache_dir / "partial.pt2";
  const std::vector<Stage> written = stages_in(peer.write("export", partial));
  stages.insert(stages.end(), written.begin(), written.end());
  std::filesystem::rename(partial, archive);
  return archive;
}

std::unique_ptr<AccuracyReference> make_python_reference(const ExecutorContext& context) {
  return std::make_unique<PythonReference>(context);
}

}  // namespace breakeven
