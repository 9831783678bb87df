#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "compiler/ir/dtype.h"
#include "compiler/torch/pt2_archive.h"

namespace breakeven {

/// Enumerations of the torch.export schema 8 (torch/_export/serde/schema.py).
std::optional<DType> dtype_of_export(std::int64_t code);
/// "strided" for the one layout that is supported.
std::optional<std::string> layout_of_export(std::int64_t code);
/// "contiguous_format", "preserve_format", "channels_last", "channels_last_3d".
std::optional<std::string> memory_format_of_export(std::int64_t code);

/// A float of the schema: a JSON number, or "Infinity", "-Infinity", "NaN". Throws a JSON exception
/// for anything else.
double float_of_export(const nlohmann::json& value);

/// The dtype of a TensorMeta; throws the archive's UserError, naming the tensor, unless it is a
/// strided CPU tensor of a supported dtype.
DType checked_dtype(const Pt2Archive& archive, const nlohmann::json& meta, const std::string& name);

}  // namespace breakeven
