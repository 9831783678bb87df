#include "compiler/codegen/prelude_text.h"

#include <tuple>
#include <utility>

namespace breakeven {

// Kernels include no header: the in-process compiler has none to read, and a small text parses
// fast.
const std::string_view kPreludeTypes =
    "typedef signed char be_i8;\n"
    "typedef unsigned char be_u8;\n"
    "typedef short be_i16;\n"
    "typedef unsigned short be_u16;\n"
    "typedef int be_i32;\n"
    "typedef unsigned be_u32;\n"
    "typedef long long be_i64;\n"
    "#define BE_INLINE static inline __attribute__((always_inline))\n"
    // Ahead of the loop over a reduction's lanes. clang would unroll it first and then find only
    // half of the vectors; told the width, it makes whole ones.
    "#ifdef __clang__\n"
    "#define BE_LANES _Pragma(\"clang loop vectorize(assume_safety) vectorize_width(16) "
    "interleave_count(1) unroll(disable)\")\n"
    "#else\n"
    "#define BE_LANES _Pragma(\"omp simd\")\n"
    "#endif\n";

namespace {

using Functions = std::vector<PreludeFunction>;

/// `text` with every "T" that stands alone between '@' signs replaced: @T@ -> type, @S@ -> suffix.
std::string fill(std::string text, const std::string& type, const std::string& suffix) {
  for (const auto& [mark, with] :
       {std::pair<std::string, const std::string&>{"@T@", type}, {"@S@", suffix}}) {
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark)) {
      text.replace(at, mark.size(), with);
    }
  }
  return text;
}

void add_conversions(Functions& all) {
  all.push_back(
      {"be_bits", "BE_INLINE be_i32 be_bits(float x) { return __builtin_bit_cast(be_i32, x); }\n"});
  all.push_back({"be_float",
                 "BE_INLINE float be_float(be_i32 x) { return __builtin_bit_cast(float, x); }\n"});
  all.push_back({"be_load_bf16",
                 "BE_INLINE float be_load_bf16(be_u16 x) {\n"
                 "  return be_float((be_i32)((be_u32)x << 16));\n}\n"});
  all.push_back({"be_store_bf16",
                 "BE_INLINE be_u16 be_store_bf16(float x) {\n"
                 "  const be_u32 b = (be_u32)be_bits(x);\n"
                 "  const be_u32 r = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;\n"
                 "  return (be_u16)(x != x ? 0x7fc0u : r);\n}\n"});
  all.push_back({"be_round_bf16",
                 "BE_INLINE float be_round_bf16(float x) {\n"
                 "  return be_load_bf16(be_store_bf16(x));\n}\n"});
  all.push_back({"be_load_f16", "BE_INLINE float be_load_f16(_Float16 x) { return (float)x; }\n"});
  all.push_back(
      {"be_store_f16", "BE_INLINE _Float16 be_store_f16(float x) { return (_Float16)x; }\n"});
  all.push_back(
      {"be_round_f16", "BE_INLINE float be_round_f16(float x) { return (float)(_Float16)x; }\n"});
}

/// exp: n = round(x / ln 2), e^r by a polynomial on |r| <= ln 2 / 2, scaled by 2^n in two steps so
/// that denormal results round once. The polynomials here are minimax fits to the functions.
void add_exponentials(Functions& all) {
  all.push_back({"be_exp_f32",
                 "BE_INLINE float be_exp_f32(float v) {\n"
                 "  float x = v < -104.0f ? -104.0f : v;\n"
                 "  x = x > 89.0f ? 89.0f : x;\n"
                 "  const float n = __builtin_fmaf(x, 0x1.715476p+0f, 0x1.8p+23f) - 0x1.8p+23f;\n"
                 "  float r = __builtin_fmaf(n, -0x1.62e4p-1f, x);\n"
                 "  r = __builtin_fmaf(n, -0x1.7f7d1cp-20f, r);\n"
                 "  float p = 0x1.6d7548p-10f;\n"
                 "  p = __builtin_fmaf(p, r, 0x1.120b7p-7f);\n"
                 "  p = __builtin_fmaf(p, r, 0x1.5554b8p-5f);\n"
                 "  p = __builtin_fmaf(p, r, 0x1.5554dcp-3f);\n"
                 "  p = __builtin_fmaf(p, r, 0x1p-1f);\n"
                 "  p = __builtin_fmaf(p, r * r, r) + 1.0f;\n"
                 "  const be_i32 k = (be_i32)(n == n ? n : 0.0f);\n"
                 "  const be_i32 h = k >> 1;\n"
                 "  return p * be_float((h + 127) << 23) * be_float((k - h + 127) << 23);\n}\n"});
  all.push_back(
      {"be_log_f32",
       "BE_INLINE float be_log_f32(float x) {\n"
       "  const be_i32 tiny = x < 0x1p-126f;\n"
       "  const float s = tiny ? x * 0x1p+23f : x;\n"
       "  const be_i32 b = be_bits(s);\n"
       "  const be_i32 e = (b - 0x3f3504f3) >> 23;\n"
       "  const float f = be_float(b - (e << 23)) - 1.0f;\n"
       "  const float n = (float)(e - (tiny ? 23 : 0));\n"
       "  float p = 0x1.2c42b8p-4f;\n"
       "  p = __builtin_fmaf(p, f, -0x1.dd9246p-4f);\n"
       "  p = __builtin_fmaf(p, f, 0x1.dc92a8p-4f);\n"
       "  p = __builtin_fmaf(p, f, -0x1.fbc59cp-4f);\n"
       "  p = __builtin_fmaf(p, f, 0x1.23dcf2p-3f);\n"
       "  p = __builtin_fmaf(p, f, -0x1.556258p-3f);\n"
       "  p = __builtin_fmaf(p, f, 0x1.999d36p-3f);\n"
       "  p = __builtin_fmaf(p, f, -0x1.ffffe6p-3f);\n"
       "  p = __builtin_fmaf(p, f, 0x1.555554p-2f);\n"
       "  const float q = f * f;\n"
       "  float r = __builtin_fmaf(p * f, q, __builtin_fmaf(n, 0x1.7f7d1cp-20f, -0.5f * q)) + f;\n"
       "  r = __builtin_fmaf(n, 0x1.62e4p-1f, r);\n"
       "  r = x == __builtin_inff() ? x : r;\n"
       "  r = x == 0.0f ? -__builtin_inff() : r;\n"
       "  return x < 0.0f || x != x ? __builtin_nanf(\"\") : r;\n}\n"});
  all.push_back({"be_tanh_f32",
                 "BE_INLINE float be_tanh_f32(float x) {\n"
                 "  const float a = __builtin_fabsf(x);\n"
                 "  const float s = x * x;\n"
                 "  float p = 0x1.2d4cf8p-9f;\n"
                 "  p = __builtin_fmaf(p, s, -0x1.119b78p-7f);\n"
                 "  p = __builtin_fmaf(p, s, 0x1.64b1f2p-6f);\n"
                 "  p = __builtin_fmaf(p, s, -0x1.ba095ep-5f);\n"
                 "  p = __builtin_fmaf(p, s, 0x1.1110eap-3f);\n"
                 "  p = __builtin_fmaf(p, s, -0x1.555556p-2f);\n"
                 "  const float low = __builtin_fmaf(p * s, x, x);\n"
                 "  const float e = be_exp_f32(2.0f * a);\n"
                 "  const float high = __builtin_copysignf(1.0f - 2.0f / (e + 1.0f), x);\n"
                 "  return a < 0.625f ? low : high;\n}\n"});
  all.push_back({"be_erf_f32",
                 "BE_INLINE float be_erf_f32(float x) {\n"
                 "  const float a = __builtin_fabsf(x);\n"
                 "  const float s = x * x;\n"
                 "  float p = 0x1.5bd39p-14f;\n"
                 "  p = __builtin_fmaf(p, s, -0x1.a9fa7ap-11f);\n"
                 "  p = __builtin_fmaf(p, s, 0x1.54c17p-8f);\n"
                 "  p = __builtin_fmaf(p, s, -0x1.b80e0cp-6f);\n"
                 "  p = __builtin_fmaf(p, s, 0x1.ce2e06p-4f);\n"
                 "  p = __builtin_fmaf(p, s, -0x1.812742p-2f);\n"
                 "  p = __builtin_fmaf(p, s, 0x1.06eba8p-3f);\n"
                 "  const float low = __builtin_fmaf(p, x, x);\n"
                 "  const float t = a > 3.95f ? 3.95f : a;\n"
                 "  float q = -0x1.428ee6p-18f;\n"
                 "  q = __builtin_fmaf(q, t, 0x1.7119ap-15f);\n"
                 "  q = __builtin_fmaf(q, t, 0x1.e2723ap-15f);\n"
                 "  q = __builtin_fmaf(q, t, -0x1.82e194p-9f);\n"
                 "  q = __builtin_fmaf(q, t, 0x1.740d7ep-6f);\n"
                 "  q = __builtin_fmaf(q, t, -0x1.af493ap-4f);\n"
                 "  q = __builtin_fmaf(q, t, -0x1.456e94p-1f);\n"
                 "  q = __builtin_fmaf(q, t, -0x1.0747e8p-3f);\n"
                 "  const float e = 1.0f - be_exp_f32(__builtin_fmaf(q, t, -t));\n"
                 "  const float high = __builtin_copysignf(a >= 3.95f ? 1.0f : e, x);\n"
                 "  return x != x ? x : (a < 0.92f ? low : high);\n}\n"});
}

/// Functions that the C library has: rare enough that a call an element does.
void add_library_calls(Functions& all) {
  for (const std::string name : {"exp", "log", "tanh", "erf"}) {
    all.push_back({"be_" + name + "_f64", "extern \"C\" double " + name +
                                              "(double);\nBE_INLINE double be_" + name +
                                              "_f64(double x) { return " + name + "(x); }\n"});
  }
  for (const std::string name : {"sin", "cos", "log1p", "expm1"}) {
    all.push_back({"be_" + name + "_f32", "extern \"C\" float " + name +
                                              "f(float);\nBE_INLINE float be_" + name +
                                              "_f32(float x) { return " + name + "f(x); }\n"});
    all.push_back({"be_" + name + "_f64", "extern \"C\" double " + name +
                                              "(double);\nBE_INLINE double be_" + name +
                                              "_f64(double x) { return " + name + "(x); }\n"});
  }
  for (const std::string name : {"pow", "fmod"}) {
    all.push_back({"be_" + name + "_f32",
                   "extern \"C\" float " + name + "f(float, float);\nBE_INLINE float be_" + name +
                       "_f32(float a, float b) { return " + name + "f(a, b); }\n"});
    all.push_back({"be_" + name + "_f64",
                   "extern \"C\" double " + name + "(double, double);\nBE_INLINE double be_" +
                       name + "_f64(double a, double b) { return " + name + "(a, b); }\n"});
  }
}

void add_builtin_calls(Functions& all) {
  for (const std::string name : {"sqrt", "floor", "ceil", "rint", "trunc", "fabs"}) {
    for (const auto& [type, suffix, letter] :
         {std::tuple<std::string, std::string, std::string>{"float", "f32", "f"},
          {"double", "f64", ""}}) {
      all.push_back({"be_" + name + "_" + suffix,
                     "BE_INLINE " + type + " be_" + name + "_" + suffix + "(" + type +
                         " x) { return __builtin_" + name + letter + "(x); }\n"});
    }
  }
}

void add_float_rules(Functions& all) {
  for (const auto& [type, suffix] :
       {std::pair<std::string, std::string>{"float", "f32"}, {"double", "f64"}}) {
    const auto add = [&](const std::string& name, const std::string& text) {
      all.push_back({name + "_" + suffix, fill(text, type, suffix)});
    };
    add("be_rsqrt", "BE_INLINE @T@ be_rsqrt_@S@(@T@ x) { return 1 / be_sqrt_@S@(x); }\n");
    add("be_select", "BE_INLINE @T@ be_select_@S@(be_u8 c, @T@ a, @T@ b) { return c ? a : b; }\n");
    add("be_fmin_nan",
        "BE_INLINE @T@ be_fmin_nan_@S@(@T@ a, @T@ b) {\n"
        "  const @T@ m = a < b ? a : b;\n"
        "  return a != a ? a : (b != b ? b : m);\n}\n");
    add("be_fmax_nan",
        "BE_INLINE @T@ be_fmax_nan_@S@(@T@ a, @T@ b) {\n"
        "  const @T@ m = a > b ? a : b;\n"
        "  return a != a ? a : (b != b ? b : m);\n}\n");
    add("be_remainder",
        "BE_INLINE @T@ be_remainder_@S@(@T@ a, @T@ b) {\n"
        "  const @T@ r = be_fmod_@S@(a, b);\n"
        "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n");
    add("be_floor_div",
        "BE_INLINE @T@ be_floor_div_@S@(@T@ a, @T@ b) {\n"
        "  const @T@ r = be_fmod_@S@(a, b);\n"
        "  @T@ q = (a - r) / b;\n"
        "  if (r != 0 && (b < 0) != (r < 0)) q -= 1;\n"
        "  const @T@ f = be_floor_@S@(q);\n"
        "  const @T@ n = q - f > (@T@)0.5 ? f + 1 : f;\n"
        "  const @T@ zero = a / b < 0 ? -(@T@)0 : (@T@)0;\n"
        "  return b == 0 ? a / b : (q != 0 ? n : zero);\n}\n");
  }
}

void add_integer_rules(Functions& all) {
  for (const std::string suffix : {"u8", "i8", "i16", "i32", "i64"}) {
    const std::string type = "be_" + suffix;
    const auto add = [&](const std::string& name, const std::string& text) {
      all.push_back({name + "_" + suffix, fill(text, type, suffix)});
    };
    add("be_select", "BE_INLINE @T@ be_select_@S@(be_u8 c, @T@ a, @T@ b) { return c ? a : b; }\n");
    add("be_fmin_nan", "BE_INLINE @T@ be_fmin_nan_@S@(@T@ a, @T@ b) { return a < b ? a : b; }\n");
    add("be_fmax_nan", "BE_INLINE @T@ be_fmax_nan_@S@(@T@ a, @T@ b) { return a > b ? a : b; }\n");
    add("be_pow",
        "BE_INLINE @T@ be_pow_@S@(@T@ a, @T@ b) {\n"
        "  if (b < 0) return (@T@)(a == 1 ? 1 : a == (@T@)-1 ? (b % 2 ? -1 : 1) : 0);\n"
        "  @T@ r = 1;\n"
        "  for (; b > 0; b = (@T@)(b / 2), a = (@T@)(a * a)) r = b % 2 ? (@T@)(r * a) : r;\n"
        "  return r;\n}\n");
    add("be_fabs", "BE_INLINE @T@ be_fabs_@S@(@T@ x) { return (@T@)(x < 0 ? -x : x); }\n");
    // -1 apart: the quotient of the smallest integer by it does not exist.
    add("be_fmod",
        "BE_INLINE @T@ be_fmod_@S@(@T@ a, @T@ b) { return (@T@)(b == (@T@)-1 && b < 0 ? 0 : a % "
        "b); "
        "}\n");
    add("be_remainder",
        "BE_INLINE @T@ be_remainder_@S@(@T@ a, @T@ b) {\n"
        "  const @T@ r = be_fmod_@S@(a, b);\n"
        "  return (@T@)(r != 0 && (r < 0) != (b < 0) ? r + b : r);\n}\n");
    add("be_floor_div",
        "BE_INLINE @T@ be_floor_div_@S@(@T@ a, @T@ b) {\n"
        "  if (b < 0 && b == (@T@)-1) return (@T@)-a;\n"
        "  const @T@ r = (@T@)(a % b);\n"
        "  return (@T@)(a / b - (r != 0 && (r < 0) != (b < 0)));\n}\n");
  }
}

}  // namespace

const std::vector<PreludeFunction>& prelude_functions() {
  static const Functions functions = [] {
    Functions all;
    add_conversions(all);
    add_exponentials(all);
    add_library_calls(all);
    add_builtin_calls(all);
    add_float_rules(all);
    add_integer_rules(all);
    return all;
  }();
  return functions;
}

}  // namespace breakeven
