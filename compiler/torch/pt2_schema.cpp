#include "compiler/torch/pt2_schema.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "compiler/support/text.h"

namespace breakeven {

std::optional<DType> dtype_of_export(std::int64_t code) {
  switch (code) {
    case 1:
      return DType::kU8;
    case 2:
      return DType::kI8;
    case 3:
      return DType::kI16;
    case 4:
      return DType::kI32;
    case 5:
      return DType::kI64;
    case 6:
      return DType::kF16;
    case 7:
      return DType::kF32;
    case 8:
      return DType::kF64;
    case 12:
      return DType::kBool;
    case 13:
      return DType::kBF16;
    default:
      return std::nullopt;
  }
}

std::optional<std::string> layout_of_export(std::int64_t code) {
  if (code == 7) return "strided";
  return std::nullopt;
}

std::optional<std::string> memory_format_of_export(std::int64_t code) {
  switch (code) {
    case 1:
      return "contiguous_format";
    case 2:
      return "channels_last";
    case 3:
      return "channels_last_3d";
    case 4:
      return "preserve_format";
    default:
      return std::nullopt;
  }
}

double float_of_export(const nlohmann::json& value) {
  if (value.is_string()) {
    const std::string text = value.get<std::string>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  return value.get<double>();
}

DType checked_dtype(const Pt2Archive& archive, const nlohmann::json& meta,
                    const std::string& name) {
  const std::string place = "tensor '" + printable(name, 80) + "'";
  const std::string device = meta.at("device").at("type").get<std::string>();
  if (device != "cpu") {
    archive.fail(place + " lies on a device that this build does not run", printable(device, 40),
                 "Move the model to the CPU (model.cpu()) and export it again.");
  }
  if (!layout_of_export(meta.at("layout").get<std::int64_t>())) {
    archive.fail(place + " has a layout other than strided", meta.at("layout").dump(),
                 "Convert it to a dense tensor and export the model again.");
  }
  const auto dtype = dtype_of_export(meta.at("dtype").get<std::int64_t>());
  if (!dtype) {
    archive.fail(place + " has a dtype that is not supported", meta.at("dtype").dump(),
                 "Export with bool, 8 to 64-bit integers, f16, bf16, f32 or f64.");
  }
  return *dtype;
}

}  // namespace breakeven
