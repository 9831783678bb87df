#include <set>
#include <string>
#include <utility>

#include "compiler/codegen/kernel_text.h"
#include "compiler/codegen/prelude.h"

namespace breakeven {
namespace {

/// Depths that the tile's loop does at a time.
constexpr int kUnroll = 4;
constexpr int kLineFloats = 16;

std::string text_of(std::int64_t value) { return std::to_string(value); }

/// Replaces every "@NAME@" in `text`.
std::string fill(std::string text,
                 std::initializer_list<std::pair<std::string_view, std::string>> values) {
  for (const auto& [name, value] : values) {
    const std::string mark = '@' + std::string(name) + '@';
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), value);
    }
  }
  return text;
}

// Sums of R rows by the panel's columns over depths [from, to), added to `sums`. Few rows take
// several sums each, so that one multiplication need not wait for the last. P lines of `ahead`,
// which a later block reads, are fetched beside the arithmetic of every @UNROLL@ depths.
constexpr const char* kTileText = R"(
typedef float vec __attribute__((vector_size(@BYTES@)));
#ifdef __clang__
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif
BE_INLINE vec multiply_add(vec a, vec b, vec c) {
#if defined(__clang__)
  return __builtin_elementwise_fma(a, b, c);
#elif @FLOATS@ == 16
  return __builtin_ia32_vfmaddps512_mask(a, b, c, (unsigned short)-1, 4);
#else
  return __builtin_ia32_vfmaddps256(a, b, c);
#endif
}
template <int R, int H>
BE_INLINE void step(const float* const* rows, be_i64 k, const float* w, vec (&sum)[H][R][@VECTORS@],
                    int h) {
  vec b[@VECTORS@];
  UNROLLED for (int j = 0; j < @VECTORS@; ++j) b[j] = *(const vec*)(w + @FLOATS@ * j);
  UNROLLED for (int r = 0; r < R; ++r) {
    const float x = rows[r][k];
    const vec a = {@SPLAT@};
    UNROLLED for (int j = 0; j < @VECTORS@; ++j) sum[h][r][j] = multiply_add(a, b[j], sum[h][r][j]);
  }
}
template <int R, int P>
static __attribute__((noinline)) void tile(const float* const* given, be_i64 from, be_i64 to,
                                           const float* w, const float* ahead, float* sums) {
  constexpr int H = R == 1 ? 4 : R == 2 ? 2 : 1;
  vec sum[H][R][@VECTORS@];
  const float* rows[R];
  UNROLLED for (int r = 0; r < R; ++r) rows[r] = given[r];
  UNROLLED for (int h = 0; h < H; ++h) {
    UNROLLED for (int r = 0; r < R; ++r) {
      UNROLLED for (int j = 0; j < @VECTORS@; ++j) sum[h][r][j] = (vec){};
    }
  }
  be_i64 k = from;
  for (; k + @UNROLL@ <= to; k += @UNROLL@) {
    UNROLLED for (int u = 0; u < P; ++u) __builtin_prefetch(ahead + 16 * u);
    ahead += 16 * P;
    UNROLLED for (int u = 0; u < @UNROLL@; ++u) step<R, H>(rows, k + u, w + @LANES@ * u, sum, u % H);
    w += @LANES@ * @UNROLL@;
  }
  for (; k < to; ++k, w += @LANES@) step<R, H>(rows, k, w, sum, 0);
  UNROLLED for (int h = H / 2; h > 0; h /= 2) {
    UNROLLED for (int i = 0; i < h; ++i) {
      UNROLLED for (int r = 0; r < R; ++r) {
        UNROLLED for (int j = 0; j < @VECTORS@; ++j) sum[i][r][j] += sum[i + h][r][j];
      }
    }
  }
  UNROLLED for (int r = 0; r < R; ++r) {
    UNROLLED for (int j = 0; j < @VECTORS@; ++j) {
      vec* to_add = (vec*)(sums + @LANES@ * r + @FLOATS@ * j);
      *to_add = *to_add + sum[0][r][j];
    }
  }
}
// Rows are shared out evenly among as few tiles as hold them.
extern "C" void be_multiply(const float* const* rows, be_i64 count, be_i64 depth, const float* w,
                            float* sums) {
  const be_i64 tiles = (count + @TILE_ROWS@ - 1) / @TILE_ROWS@;
  const int kind = tiles == 1 ? 0 : tiles <= 3 ? 1 : 2;
  for (be_i64 from = 0; from < depth; from += @DEPTH_BLOCK@) {
    const be_i64 to = from + @DEPTH_BLOCK@ < depth ? from + @DEPTH_BLOCK@ : depth;
    const float* block = w + @LANES@ * from;
    be_i64 row = 0;
    for (be_i64 t = 0; t < tiles; ++t) {
      const be_i64 height = count / tiles + (t < count % tiles);
      const float* ahead = block + @LANES@ * @DEPTH_BLOCK@ * (tiles + t) / tiles;
      switch (height * 3 + kind) {
@CASES@      }
      row += height;
    }
  }
}
)";

/// A call for each height of a tile and rate of prefetching that some number of rows leads to.
std::string cases(const ProductNest& nest) {
  std::set<std::pair<int, int>> met;
  for (int count = 1; count <= nest.row_block; ++count) {
    const int tiles = (count + nest.tile_rows - 1) / nest.tile_rows;
    const int kind = tiles == 1 ? 0 : tiles <= 3 ? 1 : 2;
    met.insert({count / tiles, kind});
    if (count % tiles > 0) met.insert({count / tiles + 1, kind});
  }
  const int lines = kUnroll * nest.lanes / kLineFloats;
  std::string text;
  for (const auto& [height, kind] : met) {
    text += "        case " + text_of(3 * height + kind) + ": tile<" + text_of(height) + ", " +
            text_of(lines >> kind) + ">(rows + row, from, to, block, ahead, sums + " +
            text_of(nest.lanes) + " * row); break;\n";
  }
  return text;
}

}  // namespace

const std::string_view kMultiplyType =
    "typedef void (*multiply_fn)(const float* const* rows, be_i64 count, be_i64 depth,\n"
    "                            const float* w, float* sums);\n";

KernelUnit emit_multiply(const ProductNest& nest) {
  const int floats = nest.lanes / nest.vectors;
  std::string splat = "x";
  for (int i = 1; i < floats; ++i) splat += ", x";
  const std::string text = fill(kTileText, {{"CASES", cases(nest)},
                                            {"SPLAT", splat},
                                            {"BYTES", text_of(4 * floats)},
                                            {"FLOATS", text_of(floats)},
                                            {"VECTORS", text_of(nest.vectors)},
                                            {"LANES", text_of(nest.lanes)},
                                            {"UNROLL", text_of(kUnroll)},
                                            {"TILE_ROWS", text_of(nest.tile_rows)},
                                            {"DEPTH_BLOCK", text_of(nest.depth_block)}});
  return {prelude_for(text) + text, "be_multiply"};
}

}  // namespace breakeven
