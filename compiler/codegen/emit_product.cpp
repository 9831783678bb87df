#include <string>
#include <utility>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/kernel_text.h"

namespace breakeven {
namespace {

std::string text_of(std::int64_t value) { return std::to_string(value); }

class ProductLoops final : public KernelText {
 public:
  ProductLoops(Graph& graph, const Schedule& schedule)
      : KernelText(graph, schedule), nest_(*schedule.product), weight_(*schedule.body.weight) {}

  KernelSource run() {
    const std::string rows = print_.named_size(nest_.rows);
    steps(rows);
    KernelSource kernel = kernel_of("");
    kernel.scratch_bytes = graph_.syms.constant(kStatusBytes);
    return kernel;
  }

 private:
  void steps(const std::string& rows) {
    const std::string lanes = text_of(nest_.lanes);
    const std::string block = text_of(nest_.row_block);
    const std::string panels = text_of(nest_.panels);
    // Blocks of equal size: a last one of few rows would read the weights again for little.
    body_ << "  const be_i64 blocks = (" << rows << " + " << nest_.row_block - 1 << ") / " << block
          << ";\n  const be_i64 height = blocks > 0 ? (" << rows << " + blocks - 1) / blocks : 0;\n"
          << "  for (be_i64 p = begin; p < end; ++p) {\n"
          << "    const be_i64 column = p % " << panels << " * " << lanes << ";\n"
          << "    const be_i64 first = p / " << panels << " * height;\n"
          << "    const be_i64 count = " << rows << " - first < height ? " << rows
          << " - first : height;\n"
          << "    alignas(64) float sums[" << block << " * " << lanes << "];\n"
          << "    const float* starts[" << block << "];\n"
          << "    for (be_i64 l = 0; l < count * " << lanes << "; ++l) sums[l] = 0;\n"
          << "    for (be_i64 q = 0; q < count; ++q) {\n";
    const Member& product = members()[product_member()];
    outer_variables("(first + q)", "      ");
    body_ << "      starts[q] = " << input(product.source) << " + " << print_.index(product.offset)
          << ";\n    }\n"
          << "    multiply(starts, count, " << weight_.depth << ", w + column * " << weight_.depth
          << ", sums);\n"
          << "    for (be_i64 q = 0; q < count; ++q) {\n";
    outer_variables("(first + q)", "      ");
    body_ << "      const float* c = sums + " << lanes << " * q;\n";
    once(0, "      ");
    elements();
    body_ << "    }\n  }\n";
  }

  std::size_t product_member() const {
    for (std::size_t m = 0; m < members().size(); ++m) {
      if (members()[m].kind == MemberKind::kProduct) return m;
    }
    BE_CHECK(false, "a product's nest without a product");
  }

  /// The group's members for each column of the panel that exists.
  void elements() {
    const std::string lanes = text_of(nest_.lanes);
    const std::string columns = text_of(weight_.columns);
    std::string width = lanes;
    if (weight_.columns % nest_.lanes != 0) {
      body_ << "      const be_i64 width = " << columns << " - column < " << lanes << " ? "
            << columns << " - column : " << lanes << ";\n";
      width = "width";
    }
    bool checks_rows = false;
    for (std::size_t m = 0; m < members().size(); ++m) {
      checks_rows = checks_rows || (in_row(m) && members()[m].index_bound_member >= 0);
    }
    if (!checks_rows) body_ << "#pragma omp simd\n";
    body_ << "      for (be_i64 l = 0; l < " << width << "; ++l) {\n"
          << "        const be_i64 j = column + l;\n";
    for (std::size_t m = 0; m < members().size(); ++m) {
      if (in_row(m)) define(m, "        ");
    }
    for (std::size_t o = 0; o < schedule_.body.outputs.size(); ++o) store("        ", o);
    body_ << "      }\n";
  }

  const ProductNest& nest_;
  const ProductWeight& weight_;
};

}  // namespace

KernelSource emit_product(Graph& graph, const Schedule& schedule) {
  return ProductLoops(graph, schedule).run();
}

}  // namespace breakeven
