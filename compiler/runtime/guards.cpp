#include "compiler/runtime/guards.h"

#include <map>
#include <set>
#include <utility>

namespace breakeven {
namespace {

std::string name_of_input(const Graph& graph, int input) {
  return graph.node_of(graph.inputs()[static_cast<std::size_t>(input)]).name;
}

std::int64_t size_at(const HostTensor& tensor, int dim) {
  return tensor.sizes[static_cast<std::size_t>(dim)];
}

/// Symbols that the program can depend on: those in the type of any value but unread inputs.
std::set<int> live_symbols(const Graph& graph, const std::vector<int>& uses) {
  std::set<int> live;
  for (std::size_t v = 0; v < graph.values().size(); ++v) {
    const ValueId id{static_cast<std::int32_t>(v)};
    if (graph.node_of(id).kind == NodeKind::kInput && uses[v] == 0) continue;
    for (const Sym size : graph.type(id).sizes) {
      for (const int symbol : graph.syms.symbols_in(size)) live.insert(symbol);
    }
  }
  return live;
}

/// Adds the guards of one input's dims; `first_dim` remembers where each symbol was first met.
class DimGuards {
 public:
  DimGuards(const Graph& graph, const Specialization& specialization, std::set<int> live)
      : graph_(graph), specialization_(specialization), live_(std::move(live)) {}

  void add(int input, int dim, Sym size, Guards& guards) {
    Guard guard;
    guard.input = input;
    guard.dim = static_cast<std::int16_t>(dim);
    if (const auto fixed = graph_.syms.as_constant(size)) {
      guard.kind = GuardKind::kSize;
      guard.lo = *fixed;
      guards.add(guard, "import: the model was exported with this size fixed");
      return;
    }
    const auto index = graph_.syms.symbol_index(size);
    const bool is_fixed = specialization_.fixes_all(graph_.syms.symbols_in(size));
    if (is_fixed || !index.has_value()) {
      if (!depends_on_live(size)) return;
      guard.kind = GuardKind::kSize;
      guard.lo = graph_.syms.evaluate(size, specialization_.values);
      guards.add(guard, (is_fixed ? "specialize (policy " + specialization_.policy_name() + "): "
                                  : std::string("bind: a derived size is checked against ")) +
                            graph_.syms.to_string(size));
      return;
    }
    add_symbol(*index, guard, guards);
  }

 private:
  bool depends_on_live(Sym size) const {
    for (const int symbol : graph_.syms.symbols_in(size)) {
      if (live_.contains(symbol)) return true;
    }
    return false;
  }

  void add_symbol(int symbol, Guard guard, Guards& guards) {
    if (!live_.contains(symbol)) return;
    const auto& declared = graph_.syms.symbols()[static_cast<std::size_t>(symbol)];
    const auto [at, is_new] = first_dim_.try_emplace(symbol, guard.input, guard.dim);
    if (!is_new) {
      guard.kind = GuardKind::kSameSize;
      guard.other_input = at->second.first;
      guard.other_dim = static_cast<std::int16_t>(at->second.second);
      guards.add(guard, "import: both sizes are " + declared.name);
      return;
    }
    guard.kind = GuardKind::kSizeRange;
    guard.lo = declared.range.lo;
    guard.hi = declared.range.hi;
    guards.add(guard, "import: range of " + declared.name);
  }

  const Graph& graph_;
  const Specialization& specialization_;
  std::set<int> live_;
  std::map<int, std::pair<int, int>> first_dim_;
};

bool holds(const Guard& guard, std::span<const HostTensor> inputs) {
  const HostTensor& tensor = inputs[static_cast<std::size_t>(guard.input)];
  switch (guard.kind) {
    case GuardKind::kRank:
      return static_cast<std::int64_t>(tensor.sizes.size()) == guard.lo;
    case GuardKind::kDType:
      return tensor.dtype == guard.dtype;
    case GuardKind::kSize:
      return size_at(tensor, guard.dim) == guard.lo;
    case GuardKind::kSizeRange:
      return size_at(tensor, guard.dim) >= guard.lo && size_at(tensor, guard.dim) <= guard.hi;
    case GuardKind::kSameSize:
      return size_at(tensor, guard.dim) ==
             size_at(inputs[static_cast<std::size_t>(guard.other_input)], guard.other_dim);
  }
  return false;
}

std::string upper_bound(std::int64_t hi) {
  return hi == SymRange::kUnbounded ? std::string() : " <= " + std::to_string(hi);
}

}  // namespace

void Guards::add(const Guard& guard, std::string origin) {
  checks.push_back(guard);
  origins.push_back(std::move(origin));
}

Guards make_guards(const Graph& graph, const Specialization& specialization) {
  const std::vector<int> uses = count_uses(graph);
  Guards guards;
  // Ranks of every input come first, so that no later guard reads a dim that is not there.
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const TensorType& type = graph.type(graph.inputs()[i]);
    guards.add({.kind = GuardKind::kRank,
                .input = static_cast<std::int32_t>(i),
                .lo = static_cast<std::int64_t>(type.sizes.size())},
               "import: rank of the exported input");
    guards.add(
        {.kind = GuardKind::kDType, .dtype = type.dtype, .input = static_cast<std::int32_t>(i)},
        "import: dtype of the exported input");
  }
  DimGuards dims(graph, specialization, live_symbols(graph, uses));
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const ValueId id = graph.inputs()[i];
    if (uses[static_cast<std::size_t>(id.index)] == 0) continue;
    const TensorType& type = graph.type(id);
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
      dims.add(static_cast<int>(i), static_cast<int>(d), type.sizes[d], guards);
    }
  }
  return guards;
}

std::optional<std::size_t> Guards::first_failure(std::span<const HostTensor> inputs) const {
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (!holds(checks[i], inputs)) return i;
  }
  return std::nullopt;
}

std::string to_string(const Graph& graph, const Guard& guard) {
  const std::string input = name_of_input(graph, guard.input);
  const std::string size = input + ".size[" + std::to_string(guard.dim) + "]";
  switch (guard.kind) {
    case GuardKind::kRank:
      return input + ".rank == " + std::to_string(guard.lo);
    case GuardKind::kDType:
      return input + ".dtype == " + std::string(name_of(guard.dtype));
    case GuardKind::kSize:
      return size + " == " + std::to_string(guard.lo);
    case GuardKind::kSizeRange:
      return std::to_string(guard.lo) + " <= " + size + upper_bound(guard.hi);
    case GuardKind::kSameSize:
      return size + " == " + name_of_input(graph, guard.other_input) + ".size[" +
             std::to_string(guard.other_dim) + "]";
  }
  return {};
}

std::string describe_failure(const Graph& graph, const Guard& guard,
                             std::span<const HostTensor> inputs) {
  const HostTensor& tensor = inputs[static_cast<std::size_t>(guard.input)];
  std::string got;
  switch (guard.kind) {
    case GuardKind::kRank:
      got = std::to_string(tensor.sizes.size());
      break;
    case GuardKind::kDType:
      got = std::string(name_of(tensor.dtype));
      break;
    case GuardKind::kSize:
    case GuardKind::kSizeRange:
      got = std::to_string(size_at(tensor, guard.dim));
      break;
    case GuardKind::kSameSize:
      got = std::to_string(size_at(tensor, guard.dim)) + " and " +
            std::to_string(
                size_at(inputs[static_cast<std::size_t>(guard.other_input)], guard.other_dim));
      break;
  }
  return to_string(graph, guard) + ", got " + got;
}

}  // namespace breakeven
