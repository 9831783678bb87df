#include <algorithm>
#include <string>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/kernel_text.h"
#include "compiler/codegen/prelude.h"

namespace breakeven {
namespace {

/// Depths that a tile's loop does at a time.
constexpr int kUnroll = 2;
constexpr int kLineBytes = 64;
/// How far before its use a weight that is read once is fetched: memory's latency, in one L1.
constexpr int kAheadBytes = 8192;

std::string text_of(std::int64_t value) { return std::to_string(value); }

/// Writes tiles as straight-line text with a variable for each register: arrays and templates that
/// an optimiser must first take apart cost it three times the work.
class MultiplyText {
 public:
  explicit MultiplyText(const ProductNest& nest)
      : nest_(nest), floats_(nest.lanes / nest.vectors) {}

  std::string run() {
    definitions();
    for (int rows = 1; rows <= nest_.tile_rows; ++rows) tile(rows);
    entry();
    return std::move(text_);
  }

 private:
  void definitions() {
    const std::string floats = text_of(floats_);
    std::string lanes = "x";
    for (int i = 1; i < floats_; ++i) lanes += ", x";
    const std::string builtin =
        floats_ == 16 ? "__builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4)"
                      : "__builtin_ia32_vfmaddps" + text_of(32 * floats_) + "(a, b, c)";
    text_ += "typedef float vec __attribute__((vector_size(" + text_of(4 * floats_) +
             ")));\n"
             "BE_INLINE vec multiply_add(vec a, vec b, vec c) {\n"
             "#if defined(__clang__)\n"
             "  return __builtin_elementwise_fma(a, b, c);\n"
             "#else\n"
             "  return " +
             builtin +
             ";\n"
             "#endif\n"
             "}\n"
             "BE_INLINE vec splat(float x) { return (vec){" +
             lanes + "}; }\n";
  }

  /// Few rows take several sums each, so that one multiplication need not wait for the last.
  static int chains(int rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }

  static std::string sum(int chain, int row, int vector) {
    return "c" + text_of(chain) + '_' + text_of(row) + '_' + text_of(vector);
  }

  void tile(int rows) {
    const int unroll = std::max(kUnroll, chains(rows));
    text_ += "// The sums of " + text_of(rows) +
             " rows by a panel's columns over depths [from, to), added to `sums`.\n"
             "static __attribute__((noinline)) void tile_" +
             text_of(rows) +
             "(const float* const* rows, be_i64 from, be_i64 to, const float* w,\n"
             "    const char* ahead, be_i64 gap, be_i64 advance, float* sums) {\n";
    for (int r = 0; r < rows; ++r) {
      text_ += "  const float* x" + text_of(r) + " = rows[" + text_of(r) + "] + to;\n";
    }
    for (int h = 0; h < chains(rows); ++h) {
      for (int r = 0; r < rows; ++r) {
        for (int v = 0; v < nest_.vectors; ++v) text_ += "  vec " + sum(h, r, v) + " = {};\n";
      }
    }
    text_ += "  be_i64 k = from - to;\n  for (; k <= " + text_of(-unroll) +
             "; k += " + text_of(unroll) + ") {\n";
    for (int u = 0; u < unroll; ++u) {
      text_ +=
          "    __builtin_prefetch(ahead);\n    __builtin_prefetch(ahead + gap);\n"
          "    ahead += advance;\n";
      step(rows, u, u % chains(rows));
    }
    const std::string lanes = text_of(nest_.lanes);
    text_ += "    w += " + text_of(unroll * nest_.lanes) +
             ";\n  }\n  for (; k < 0; ++k, w += " + lanes + ") {\n";
    step(rows, 0, 0);
    text_ += "  }\n";
    add_chains(rows);
    text_ += "}\n";
  }

  void step(int rows, int depth, int chain) {
    text_ += "    {\n";
    for (int v = 0; v < nest_.vectors; ++v) {
      text_ += "      const vec b" + text_of(v) + " = *(const vec*)(w + " +
               text_of(nest_.lanes * depth + floats_ * v) + ");\n";
    }
    for (int r = 0; r < rows; ++r) {
      const std::string a = "a" + text_of(r);
      text_ +=
          "      const vec " + a + " = splat(x" + text_of(r) + "[k + " + text_of(depth) + "]);\n";
      for (int v = 0; v < nest_.vectors; ++v) {
        const std::string c = sum(chain, r, v);
        text_ += "      " + c + " = multiply_add(" + a + ", b" + text_of(v) + ", " + c + ");\n";
      }
    }
    text_ += "    }\n";
  }

  void add_chains(int rows) {
    for (int half = chains(rows) / 2; half > 0; half /= 2) {
      for (int h = 0; h < half; ++h) {
        for (int r = 0; r < rows; ++r) {
          for (int v = 0; v < nest_.vectors; ++v) {
            text_ += "  " + sum(h, r, v) + " += " + sum(h + half, r, v) + ";\n";
          }
        }
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < nest_.vectors; ++v) {
        text_ += "  *(vec*)(sums + " + text_of(nest_.lanes * r + floats_ * v) +
                 ") += " + sum(0, r, v) + ";\n";
      }
    }
  }

  /// Rows are shared out evenly among as few tiles as hold them, depths among blocks. Each tile
  /// fetches its share of what comes next, `advance` bytes for each depth as one line or two `gap`
  /// apart: the next block where several tiles read this one, else a little ahead in the stream.
  void entry() {
    const std::string lanes = text_of(nest_.lanes);
    const std::string line = text_of(kLineBytes);
    text_ +=
        "extern \"C\" void be_multiply(const float* const* rows, be_i64 count, be_i64 depth,\n"
        "                            const float* w, float* sums) {\n"
        "  if (count < 1) return;\n  const be_i64 tiles = (count + " +
        text_of(nest_.tile_rows - 1) + ") / " + text_of(nest_.tile_rows) +
        ";\n  const be_i64 blocks = (depth + " + text_of(nest_.depth_block - 1) + ") / " +
        text_of(nest_.depth_block) + ";\n  const be_i64 advance = " + text_of(4 * nest_.lanes) +
        " / tiles;\n  const be_i64 gap = advance > " + line + " ? " + line +
        " : 0;\n  for (be_i64 b = 0; b < blocks; ++b) {\n"
        "    const be_i64 from = b * depth / blocks, to = (b + 1) * depth / blocks;\n"
        "    const char* ahead = tiles > 1 ? (const char*)(w + " +
        lanes + " * to) : (const char*)(w + " + lanes + " * from) + " + text_of(kAheadBytes) +
        ";\n    be_i64 row = 0;\n    for (be_i64 t = 0; t < tiles; ++t) {\n"
        "      const be_i64 height = count / tiles + (t < count % tiles);\n"
        "      switch (height) {\n";
    for (int rows = 1; rows <= nest_.tile_rows; ++rows) {
      text_ += "        case " + text_of(rows) + ":\n          tile_" + text_of(rows) +
               "(rows + row, from, to, w + " + lanes + " * from, ahead, gap, advance, sums + " +
               lanes + " * row);\n          break;\n";
    }
    text_ +=
        "      }\n      ahead += advance * (to - from);\n      row += height;\n    }\n  }\n}\n";
  }

  const ProductNest& nest_;
  int floats_;
  std::string text_;
};

}  // namespace

const std::string_view kMultiplyType =
    "typedef void (*multiply_fn)(const float* const* rows, be_i64 count, be_i64 depth,\n"
    "                            const float* w, float* sums);\n";

KernelUnit emit_multiply(const ProductNest& nest) {
  const std::string text = MultiplyText(nest).run();
  return {prelude_for(text) + text, "be_multiply"};
}

}  // namespace breakeven
