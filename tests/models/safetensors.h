#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/host_tensor.h"

namespace breakeven {

/// Tensors of a safetensors file by name. Throws when the file is missing or malformed.
std::map<std::string, HostTensor> read_safetensors(const std::filesystem::path& path);

/// One request with PyTorch's own answer, as scripts/export_model.py --save-io wrote it.
struct RecordedCase {
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
};
std::vector<RecordedCase> read_cases(const std::filesystem::path& path);

/// A file of the folder that the fixture fills.
std::filesystem::path model_file(const std::string& name);

/// Largest difference of two tensors of equal sizes; infinity when sizes or dtypes differ.
double largest_difference(const HostTensor& a, const HostTensor& b);

}  // namespace breakeven
