#include "compiler/codegen/emit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <sstream>

#include "compiler/codegen/c_types.h"
#include "compiler/codegen/kernel_text.h"
#include "compiler/ir/op_table.h"

namespace breakeven {
namespace {

/// Partial results of a reduction: fixed, so that a sum is the same on every machine.
constexpr int kLanes = 16;
/// Single-precision sums hand over to double after so many elements.
constexpr int kSumBlock = 4096;

std::string number(std::size_t value) { return std::to_string(value); }

/// How a reduction starts, folds `x` into `a`, and joins two partial results.
struct Fold {
  std::string init;
  std::string step;  ///< Statement over a and x.
  bool tracks_nan = false;
};

Fold fold_of(Combine combine, DType dtype) {
  const std::string reg(c_type(dtype).reg);
  const bool floating = is_floating(dtype);
  switch (combine) {
    case Combine::kSum:
      return {"0", "a = (" + reg + ")(a + x);"};
    case Combine::kProd:
      return {"1", "a = (" + reg + ")(a * x);"};
    case Combine::kAny:
      return {"0", "a = (be_u8)(a | (x != 0));"};
    case Combine::kAll:
      return {"1", "a = (be_u8)(a & (x != 0));"};
    case Combine::kMax:
    case Combine::kMin: {
      const std::string better = combine == Combine::kMax ? ">" : "<";
      return {"", "a = x " + better + " a ? x : a;", floating};
    }
    case Combine::kNone:
      break;
  }
  BE_CHECK(false, "a reduction without a fold");
  return {};
}

class RowLoops final : public KernelText {
 public:
  RowLoops(Graph& graph, const Schedule& schedule) : KernelText(graph, schedule) {}

  KernelSource run() {
    passes();
    // The buffers last: their size may name one more.
    KernelSource kernel = kernel_of(buffers());
    kernel.scratch_bytes = graph_.syms.add(
        graph_.syms.constant(kStatusBytes),
        graph_.syms.mul(graph_.syms.constant(static_cast<std::int64_t>(schedule_.buffers.size())),
                        buffer_stride()));
    return kernel;
  }

 private:
  Sym buffer_stride() {
    SymContext& syms = graph_.syms;
    const Sym bytes = syms.mul(schedule_.row_extent, syms.constant(8));
    return syms.mul(syms.floor_div(syms.add(bytes, syms.constant(63)), syms.constant(64)),
                    syms.constant(64));
  }

  std::string buffers() {
    std::string text;
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
      const auto m = static_cast<std::size_t>(schedule_.buffers[b]);
      text += "  " + reg(m) + "* __restrict b" + number(m) + " = (" + reg(m) +
              "*)((char*)scratch + " + number(kStatusBytes) + " + " + number(b) + " * " +
              print_.size(buffer_stride()) + ");\n";
    }
    return text;
  }

  void passes() {
    if (schedule_.row_is_parallel) {
      once(0, "  ");
      pass(0, "  ");
      return;
    }
    body_ << "  for (be_i64 p = begin; p < end; ++p) {\n";
    outer_variables("p", "    ");
    for (int p = 0; p <= schedule_.passes; ++p) {
      once(p, "    ");
      if (p < schedule_.passes) pass(p, "    ");
    }
    store_rows();
    body_ << "  }\n";
  }

  void store_rows() {
    for (std::size_t o = 0; o < schedule_.body.outputs.size(); ++o) {
      if (!schedule_.full[static_cast<std::size_t>(schedule_.body.outputs[o].member)]) {
        store("    ", o);
      }
    }
  }

  /// Members that the row loop of pass `p` needs: those it computes, and what it reads of earlier
  /// ones.
  std::set<std::size_t> needed_in(int p) const {
    std::set<std::size_t> needed;
    std::vector<std::size_t> stack;
    for (std::size_t m = 0; m < members().size(); ++m) {
      if (in_row(m) && schedule_.pass[m] == p) stack.push_back(m);
    }
    while (!stack.empty()) {
      const std::size_t m = stack.back();
      stack.pop_back();
      const bool reduced = members()[m].kind == MemberKind::kReduce;
      if (reduced ? schedule_.pass[m] != p : !schedule_.full[m]) continue;
      if (!needed.insert(m).second) continue;
      const bool kept = schedule_.pass[m] < p && schedule_.keep[m] != Keep::kRecompute;
      if (kept) continue;
      for (const int read : members()[m].operands) {
        if (read >= 0) stack.push_back(static_cast<std::size_t>(read));
      }
      if (members()[m].index_bound_member >= 0) {
        stack.push_back(static_cast<std::size_t>(members()[m].index_bound_member));
      }
    }
    return needed;
  }

  /// An element of the row: computes, stores, folds.
  void element(int p, const std::set<std::size_t>& needed, const std::string& indent) {
    row_variables(indent);
    for (const std::size_t m : needed) {
      if (members()[m].kind == MemberKind::kReduce) {
        fold(m, indent);
      } else if (schedule_.pass[m] < p && schedule_.keep[m] == Keep::kBuffer) {
        body_ << indent << "const " << reg(m) << " m" << m << " = b" << m << "[j];\n";
      } else if (schedule_.pass[m] < p && schedule_.keep[m] == Keep::kReload) {
        reload(m, indent);
      } else {
        define(m, indent);
        if (schedule_.pass[m] == p) keep(m, indent);
      }
    }
  }

  void row_variables(const std::string& indent) {
    if (schedule_.row_dims <= 1) return;
    const auto& space = schedule_.body.space;
    const std::size_t first = space.size() - static_cast<std::size_t>(schedule_.row_dims);
    std::string rest = "j";
    for (std::size_t v = space.size() - 1; v > first; --v) {
      const std::string extent = print_.size(space[v].extent);
      body_ << indent << "const be_i64 r" << v - first << " = " << rest << " % " << extent << ";\n";
      rest = "(" + rest + " / " + extent + ")";
    }
    body_ << indent << "const be_i64 r0 = " << rest << ";\n";
  }

  void reload(std::size_t m, const std::string& indent) {
    for (std::size_t o = 0; o < schedule_.body.outputs.size(); ++o) {
      const GroupOutput& output = schedule_.body.outputs[o];
      if (output.member != static_cast<int>(m)) continue;
      const CType& type = c_type(graph_.type(output.value).dtype);
      const std::string at = "y" + number(o) + "[" + print_.index(output.offset) + "]";
      body_ << indent << "const " << reg(m) << " m" << m << " = "
            << (type.load.empty() ? at : std::string(type.load) + '(' + at + ')') << ";\n";
      return;
    }
    BE_CHECK(false, "m" << m << " is stored nowhere");
  }

  void keep(std::size_t m, const std::string& indent) {
    for (std::size_t o = 0; o < schedule_.body.outputs.size(); ++o) {
      if (schedule_.body.outputs[o].member == static_cast<int>(m)) store(indent, o);
    }
    if (schedule_.keep[m] == Keep::kBuffer) {
      body_ << indent << "b" << m << "[j] = m" << m << ";\n";
    }
  }

  Combine combine(std::size_t m) const {
    return find_op(graph_.nodes()[static_cast<std::size_t>(members()[m].node)].op)->combine;
  }

  void fold(std::size_t m, const std::string& indent) {
    const Fold how = fold_of(combine(m), members()[m].dtype);
    const int source = members()[m].operands[0];
    body_ << indent << "{ const " << c_type(members()[static_cast<std::size_t>(source)].dtype).reg
          << " x = " << print_.operand(source) << "; " << reg(m) << "& a = a" << m << "[l]; "
          << how.step;
    if (how.tracks_nan) body_ << " n" << m << "[l] |= x != x;";
    body_ << " }\n";
  }

  std::string init_of(std::size_t m) const {
    const Fold how = fold_of(combine(m), members()[m].dtype);
    if (!how.init.empty()) return how.init;
    const DType dtype = members()[m].dtype;
    const bool max = combine(m) == Combine::kMax;
    if (is_floating(dtype)) {
      return float_literal(max ? -HUGE_VAL : HUGE_VAL, dtype);
    }
    const int bits = 8 * size_of(dtype);
    const bool is_unsigned = dtype == DType::kU8 || dtype == DType::kBool;
    const std::int64_t top = bits == 64    ? INT64_MAX
                             : is_unsigned ? (std::int64_t{1} << bits) - 1
                                           : (std::int64_t{1} << (bits - 1)) - 1;
    return integer_literal(max ? (is_unsigned ? 0 : -top - 1) : top, dtype);
  }

  void pass(int p, const std::string& indent) {
    const std::set<std::size_t> needed = needed_in(p);
    std::vector<std::size_t> folds;
    bool checks_rows = false;
    for (const std::size_t m : needed) {
      if (members()[m].kind == MemberKind::kReduce) folds.push_back(m);
      checks_rows = checks_rows || members()[m].index_bound_member >= 0;
    }
    const std::string begin = schedule_.row_is_parallel ? "begin" : "0";
    const std::string end =
        schedule_.row_is_parallel ? std::string("end") : print_.size(schedule_.row_extent);
    if (folds.empty()) {
      // A checked gather writes the shared flag: its loop is not declared free of dependences.
      if (!checks_rows) body_ << "#pragma omp simd\n";
      body_ << indent << "for (be_i64 j = " << begin << "; j < " << end << "; ++j) {\n";
      element(p, needed, indent + "  ");
      body_ << indent << "}\n";
      return;
    }
    folding_pass(p, needed, folds, end, indent, checks_rows);
  }

  bool sums_in_double(std::size_t m) const {
    return combine(m) == Combine::kSum && members()[m].dtype == DType::kF32;
  }

  void folding_pass(int p, const std::set<std::size_t>& needed,
                    const std::vector<std::size_t>& folds, const std::string& end,
                    const std::string& indent, bool checks_rows) {
    for (const std::size_t m : folds) {
      body_ << indent << (sums_in_double(m) ? "double" : reg(m)) << " t" << m << " = " << init_of(m)
            << ";\n";
      if (fold_of(combine(m), members()[m].dtype).tracks_nan) {
        body_ << indent << "be_i32 u" << m << " = 0;\n";
      }
    }
    const std::string inner = indent + "  ";
    body_ << indent << "for (be_i64 from = 0; from < " << end << "; from += " << kSumBlock
          << ") {\n"
          << inner << "const be_i64 to = from + " << kSumBlock << " < " << end << " ? from + "
          << kSumBlock << " : " << end << ";\n";
    for (const std::size_t m : folds) {
      body_ << inner << reg(m) << " a" << m << "[" << kLanes << "];\n";
      const bool nan = fold_of(combine(m), members()[m].dtype).tracks_nan;
      if (nan) body_ << inner << "be_i32 n" << m << "[" << kLanes << "];\n";
      body_ << inner << "for (int l = 0; l < " << kLanes << "; ++l) a" << m
            << "[l] = " << init_of(m) << ";\n";
      if (nan) {
        body_ << inner << "for (int l = 0; l < " << kLanes << "; ++l) n" << m << "[l] = 0;\n";
      }
    }
    body_ << inner
          << "const auto element = [&](be_i64 j, int l) __attribute__((always_inline)) {\n";
    element(p, needed, inner + "  ");
    body_ << inner << "};\n"
          << inner << "be_i64 at = from;\n"
          << inner << "for (; at + " << kLanes << " <= to; at += " << kLanes << ") {\n"
          << (checks_rows ? "" : "BE_LANES\n") << inner << "  for (int l = 0; l < " << kLanes
          << "; ++l) element(at + l, l);\n"
          << inner << "}\n"
          << inner << "for (int l = 0; at + l < to; ++l) element(at + l, l);\n";
    for (const std::size_t m : folds) join_lanes(m, inner);
    body_ << indent << "}\n";
    for (const std::size_t m : folds) finish(m, indent);
  }

  void join_lanes(std::size_t m, const std::string& indent) {
    const Fold how = fold_of(combine(m), members()[m].dtype);
    body_ << indent << "for (int w = " << kLanes / 2 << "; w > 0; w /= 2) {\n"
          << indent << "  for (int l = 0; l < w; ++l) { const " << reg(m) << " x = a" << m
          << "[l + w]; " << reg(m) << "& a = a" << m << "[l]; " << how.step << " }\n"
          << indent << "}\n"
          << indent << "{ const " << reg(m) << " x = a" << m << "[0]; "
          << (sums_in_double(m) ? "double" : reg(m)) << "& a = t" << m << "; "
          << (sums_in_double(m) ? "a += x;" : how.step) << " }\n";
    if (how.tracks_nan) {
      body_ << indent << "for (int l = 0; l < " << kLanes << "; ++l) u" << m << " |= n" << m
            << "[l];\n";
    }
  }

  void finish(std::size_t m, const std::string& indent) {
    const bool nan = fold_of(combine(m), members()[m].dtype).tracks_nan;
    const std::string total = "(" + reg(m) + ")t" + number(m);
    body_ << indent << "const " << reg(m) << " m" << m << " = "
          << print_.rounded(nan ? "(u" + number(m) + " ? " +
                                      float_literal(NAN, members()[m].dtype) + " : " + total + ")"
                                : total,
                            members()[m].dtype)
          << ";\n";
  }
};

}  // namespace

KernelSource emit_kernel(Graph& graph, const Schedule& schedule) {
  if (schedule.product.has_value()) return emit_product(graph, schedule);
  return RowLoops(graph, schedule).run();
}

}  // namespace breakeven
