#include "compiler/runtime/memory_plan.h"

#include <algorithm>

#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

constexpr std::int64_t kAlignment = 64;

std::size_t slot(ValueId id) { return static_cast<std::size_t>(id.index); }

/// Whether the library's answer may share memory with an operand.
bool may_alias(const Graph& graph, const Step& step) {
  if (step.kind == GroupKind::kFused) return false;
  const OpRow* row = find_op(graph.nodes()[static_cast<std::size_t>(step.node)].op);
  if (row == nullptr) return true;
  switch (row->op_class) {
    case OpClass::kReduction:
    case OpClass::kGather:
    case OpClass::kJoin:
    case OpClass::kCreation:
    case OpClass::kExtern:
      return false;
    case OpClass::kPointwise:  // contiguous and casts to the same dtype return their operand.
    case OpClass::kView:
    case OpClass::kComposite:
      return true;
  }
  return true;
}

std::int64_t bytes_of(const Graph& graph, ValueId id, std::span<const std::int64_t> symbol_values) {
  std::int64_t bytes = size_of(graph.type(id).dtype);
  for (const Sym size : graph.type(id).sizes) bytes *= graph.syms.evaluate(size, symbol_values);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// A placed value: its life in steps and its bytes in the arena.
struct Placed {
  int first = 0;
  int last = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// The lowest offset where `bytes` fit beside everything alive at the same time.
std::int64_t place(std::vector<Placed>& placed, Placed wanted) {
  std::vector<const Placed*> beside;
  for (const Placed& other : placed) {
    if (other.first <= wanted.last && wanted.first <= other.last) beside.push_back(&other);
  }
  std::sort(beside.begin(), beside.end(),
            [](const Placed* a, const Placed* b) { return a->offset < b->offset; });
  std::int64_t offset = 0;
  for (const Placed* other : beside) {
    if (offset + wanted.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  wanted.offset = offset;
  placed.push_back(wanted);
  return offset;
}

}  // namespace

MemoryPlan plan_memory(const Graph& graph, std::span<const Step> steps,
                       std::span<const std::int64_t> symbol_values) {
  const std::size_t value_count = graph.values().size();
  MemoryPlan plan;
  plan.offset.assign(value_count, MemoryPlan::kNotInArena);
  plan.last_use.assign(value_count, -1);
  std::vector<bool> escapes(value_count, false);
  for (const ValueId output : graph.outputs()) escapes[slot(output)] = true;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const ValueId operand : steps[s].operands) {
      plan.last_use[slot(operand)] = static_cast<int>(s);
    }
  }
  // Backwards, so that a chain of views hands the last view's life on to the first operand.
  for (std::size_t s = steps.size(); s-- > 0;) {
    if (!may_alias(graph, steps[s])) continue;
    for (const ValueId operand : steps[s].operands) {
      for (const ValueId output : steps[s].outputs) {
        int& last = plan.last_use[slot(operand)];
        last = std::max(last, plan.last_use[slot(output)]);
        escapes[slot(operand)] = escapes[slot(operand)] || escapes[slot(output)];
      }
    }
  }
  std::vector<Placed> placed;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].kind != GroupKind::kFused) continue;
    for (const ValueId output : steps[s].outputs) {
      if (escapes[slot(output)]) continue;
      Placed wanted;
      wanted.first = static_cast<int>(s);
      wanted.last = std::max(static_cast<int>(s), plan.last_use[slot(output)]);
      wanted.bytes = bytes_of(graph, output, symbol_values);
      const std::int64_t offset = place(placed, wanted);
      plan.offset[slot(output)] = offset;
      plan.arena_bytes = std::max(plan.arena_bytes, offset + wanted.bytes);
    }
  }
  return plan;
}

}  // namespace breakeven
