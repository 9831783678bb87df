#include "compiler/runtime/compiled_model.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "compiler/runtime/compile.h"
#include "compiler/runtime/guards.h"
#include "compiler/runtime/product_choice.h"
#include "compiler/runtime/specialization.h"
#include "compiler/support/error.h"

namespace breakeven {
namespace {

std::string shape_text(const Graph& graph, std::span<const std::int64_t> symbol_values) {
  std::string text;
  for (std::size_t i = 0; i < symbol_values.size(); ++i) {
    if (!text.empty()) text += ' ';
    text += graph.syms.symbols()[i].name + '=' + std::to_string(symbol_values[i]);
  }
  return text.empty() ? "fixed" : text;
}

std::string sizes_text(std::span<const HostTensor> inputs) {
  std::string text;
  for (const HostTensor& input : inputs) {
    if (!text.empty()) text += ", ";
    text += std::string(name_of(input.dtype)) + '[';
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
      text += (d > 0 ? ", " : "") + std::to_string(input.sizes[d]);
    }
    text += ']';
  }
  return text;
}

}  // namespace

struct CompiledModel::State {
  struct Entry {
    Guards guards;
    std::shared_ptr<Program> program;
  };

  State(Graph given_graph, WeightMap given_weights, CompileOptions given_options,
        ExternBackend& given_backend, ParallelFor& given_parallel)
      : graph(std::move(given_graph)),
        weights(std::move(given_weights)),
        options(std::move(given_options)),
        specializer(graph, options.policy),
        choice(options.cache_dir, target, given_parallel.thread_count()),
        backend(given_backend),
        parallel(given_parallel) {
    DriverOptions wanted;
    wanted.name = options.driver;
    wanted.target = target;
    auto made = make_driver(wanted);
    if (!made.ok()) {
      no_driver = made.refusal();
      return;
    }
    driver = std::move(made).value();
    KernelCache::Options where;
    where.directory = options.cache_dir;
    where.limit_bytes = options.cache_limit_bytes;
    cache = std::make_unique<KernelCache>(std::move(where), *driver, wanted.target);
  }

  std::shared_ptr<Program> find(std::span<const HostTensor> inputs) {
    const std::lock_guard lock(mutex);
    // The next request is most likely like the last one.
    if (last_hit < entries.size() && entries[last_hit].guards.hold(inputs)) {
      return entries[last_hit].program;
    }
    for (std::size_t i = entries.size(); i-- > 0;) {
      if (!entries[i].guards.hold(inputs)) continue;
      last_hit = i;
      return entries[i].program;
    }
    return nullptr;
  }

  /// The program for `inputs`, compiled now; a refusal means: run eagerly.
  Result<std::shared_ptr<Program>> compile(std::span<const HostTensor> inputs,
                                           std::vector<CompileEvent>& compiles);
  Result<std::shared_ptr<Program>> build(std::span<const HostTensor> inputs,
                                         const Specialization& specialization, CompileEvent& event);
  Program& eager_program();
  Result<bool> run_eagerly(std::span<const HostTensor> inputs, const std::string& reason,
                           RunResult& result);
  void count_fallback(const std::string& what, const std::string& reason, bool whole_request);

  Graph graph;
  WeightMap weights;
  CompileOptions options;
  Specializer specializer;  ///< Under compile_mutex.
  CpuTarget target = detect_cpu();
  ProductChoice choice;
  ExternBackend& backend;
  ParallelFor& parallel;
  std::unique_ptr<Driver> driver;
  std::unique_ptr<KernelCache> cache;
  PackedWeights packed;
  std::optional<Refusal> no_driver;

  std::mutex compile_mutex;  ///< One compile at a time: who waits finds the program there.
  std::mutex mutex;          ///< Of everything below.
  std::vector<Entry> entries;
  std::size_t last_hit = 0;
  std::shared_ptr<Program> eager;
  std::map<std::string, Refusal> failed;  ///< By shape: not tried again.
  std::map<std::pair<std::string, std::string>, Fallback> fallbacks;
  std::int64_t guard_failures = 0;
  std::int64_t eager_requests = 0;
  RunCounters run_counters;
};

CompiledModel::CompiledModel(Graph graph, WeightMap weights, CompileOptions options,
                             ExternBackend& backend, ParallelFor& parallel)
    : state_(std::make_unique<State>(std::move(graph), std::move(weights), std::move(options),
                                     backend, parallel)) {}

CompiledModel::~CompiledModel() = default;

Result<CompiledModel::RunResult> CompiledModel::run(std::span<const HostTensor> inputs) {
  RunResult result;
  const auto done = run(inputs, result);
  if (!done.ok()) return done.refusal();
  return result;
}

Result<bool> CompiledModel::run(std::span<const HostTensor> inputs, RunResult& result) {
  State& state = *state_;
  if (inputs.size() != state.graph.inputs().size()) {
    return Refusal{"wrong_input_count", "the model takes " +
                                            std::to_string(state.graph.inputs().size()) +
                                            " inputs, got " + std::to_string(inputs.size())};
  }
  result.compiles.clear();
  result.eager = false;
  std::shared_ptr<Program> program = state.find(inputs);
  if (program == nullptr) {
    auto compiled = state.compile(inputs, result.compiles);
    if (!compiled.ok()) return state.run_eagerly(inputs, compiled.refusal().reason, result);
    program = std::move(compiled).value();
  }
  const auto done = program->run(inputs, result.outputs, state.run_counters);
  if (done.ok()) return true;
  return state.run_eagerly(inputs, "the compiled program refused: " + done.refusal().reason,
                           result);
}

Result<std::shared_ptr<Program>> CompiledModel::State::compile(
    std::span<const HostTensor> inputs, std::vector<CompileEvent>& compiles) {
  const std::lock_guard one_at_a_time(compile_mutex);
  if (std::shared_ptr<Program> program = find(inputs)) return program;
  auto bound = bind_symbols(graph, inputs);
  if (!bound.ok()) return bound.refusal();
  CompileEvent event;
  event.started_at = now_ns();
  event.shape = shape_text(graph, bound.value());
  {
    const std::lock_guard lock(mutex);
    if (const auto known = failed.find(event.shape); known != failed.end()) return known->second;
    if (!entries.empty()) {
      const Guards& guards = entries.back().guards;
      const auto failed_guard = guards.first_failure(inputs);
      BE_CHECK(failed_guard.has_value(), "a program that fits was not found");
      event.trigger = CompileTrigger::kRecompile;
      event.failed_guard = describe_failure(graph, guards.checks[*failed_guard], inputs);
      event.origin = guards.origins[*failed_guard];
      ++guard_failures;
    }
    if (static_cast<int>(entries.size()) >= options.recompile_limit) {
      return Refusal{"recompile_limit", "recompile limit of " +
                                            std::to_string(options.recompile_limit) +
                                            " programs reached; " + event.failed_guard};
    }
  }
  auto program = build(inputs, specializer.next(std::move(bound).value()), event);
  if (!program.ok()) {
    const std::lock_guard lock(mutex);
    failed.emplace(event.shape, program.refusal());
    return program.refusal();
  }
  compiles.push_back(std::move(event));
  return program;
}

Result<std::shared_ptr<Program>> CompiledModel::State::build(std::span<const HostTensor> inputs,
                                                             const Specialization& specialization,
                                                             CompileEvent& event) {
  if (no_driver.has_value() && options.fuse) return *no_driver;
  StageTimer timer;
  LoweredGraph lowered;
  try {
    std::optional<ProductChoice::Bench> bench;
    if (cache != nullptr) bench.emplace(ProductChoice::Bench{*cache, backend, parallel});
    const LeaveProduct leave = [&](const Graph& given, const Product& product) {
      return choice.why_library(given, product, bench.has_value() ? &*bench : nullptr);
    };
    lowered = lower(graph, options, target, leave, specialization, timer);
    event.choices = choice.take_log();
  } catch (const UserError& error) {
    // Sizes at which the graph itself is unsound: eager says so in its own words, or copes.
    return Refusal{"unsound_at_these_sizes", error.what()};
  }
  if (cache != nullptr) {
    auto compiled = compile_kernels(lowered.steps, *cache, options.compile_threads, event);
    if (!compiled.ok()) return compiled.refusal();
  }
  timer.end(event.compiled > 0 ? "compile" : "cache_load");
  pack_weights(lowered.graph, weights, lowered.steps, packed, parallel, event);
  timer.end("pack");
  for (const Group& group : lowered.plan.groups) {
    if (group.kind != GroupKind::kExtern) continue;
    for (const int node : group.nodes) {
      count_fallback(lowered.graph.nodes()[static_cast<std::size_t>(node)].op, group.reason, false);
    }
  }
  auto program = std::make_shared<Program>(std::move(lowered.graph), std::move(lowered.steps),
                                           weights, backend, parallel);
  Entry entry{make_guards(graph, specialization), program};
  BE_CHECK(entry.guards.hold(inputs), "a new program refuses its own request");
  const std::lock_guard lock(mutex);
  entries.push_back(std::move(entry));
  event.duration = now_ns() - event.started_at;
  event.stages = timer.stages(event.duration);
  return program;
}

Program& CompiledModel::State::eager_program() {
  const std::lock_guard lock(mutex);
  if (eager == nullptr) {
    LoweredGraph lowered = lower_eagerly(graph);
    eager = std::make_shared<Program>(std::move(lowered.graph), std::move(lowered.steps), weights,
                                      backend, parallel);
  }
  return *eager;
}

Result<bool> CompiledModel::State::run_eagerly(std::span<const HostTensor> inputs,
                                               const std::string& reason, RunResult& result) {
  // Ranks and dtypes are no matter of range: eager itself would refuse them or mean another model.
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    if (inputs[i].sizes.size() != type.sizes.size() || inputs[i].dtype != type.dtype) {
      return Refusal{"wrong_input", "input " + graph.node_of(graph.inputs()[i]).name + " must be " +
                                        to_string(graph, type) + ", got " +
                                        sizes_text(inputs.subspan(i, 1))};
    }
  }
  auto done = eager_program().run(inputs, result.outputs, run_counters);
  if (!done.ok()) return done;
  result.eager = true;
  count_fallback(sizes_text(inputs), reason, true);
  const std::lock_guard lock(mutex);
  ++eager_requests;
  return true;
}

void CompiledModel::State::count_fallback(const std::string& what, const std::string& reason,
                                          bool whole_request) {
  const std::lock_guard lock(mutex);
  Fallback& fallback = fallbacks[{what, reason}];
  fallback.what = what;
  fallback.reason = reason;
  fallback.whole_request = whole_request;
  ++fallback.count;
}

RuntimeCounters CompiledModel::counters() const {
  RuntimeCounters counters;
  if (state_->cache != nullptr) {
    const CacheCounters cache = state_->cache->counters();
    counters.kernels_compiled = cache.compiled;
    counters.kernels_from_disk = cache.from_disk;
    counters.kernels_from_memory = cache.from_memory;
    counters.bad_cache_files = cache.bad_files;
  }
  counters.kernel_launches = state_->run_counters.kernel_launches;
  counters.extern_calls = state_->run_counters.extern_calls;
  const std::lock_guard lock(state_->mutex);
  counters.programs = static_cast<std::int64_t>(state_->entries.size());
  counters.guard_failures = state_->guard_failures;
  counters.eager_requests = state_->eager_requests;
  return counters;
}

std::vector<Fallback> CompiledModel::fallbacks() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<Fallback> all;
  for (const auto& [key, fallback] : state_->fallbacks) all.push_back(fallback);
  return all;
}

int CompiledModel::kernels_per_request(std::span<const HostTensor> inputs) {
  std::shared_ptr<Program> program = state_->find(inputs);
  if (program == nullptr) {
    std::vector<CompileEvent> compiles;
    auto compiled = state_->compile(inputs, compiles);
    if (!compiled.ok()) return 0;
    program = std::move(compiled).value();
  }
  return program->kernel_count();
}

}  // namespace breakeven
