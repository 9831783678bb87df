#include "tests/models/safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "compiler/support/files.h"

namespace breakeven {
namespace {

DType dtype_of(const std::string& name) {
  const std::map<std::string, DType> names = {
      {"F32", DType::kF32}, {"F64", DType::kF64}, {"I64", DType::kI64}, {"BOOL", DType::kBool}};
  return names.at(name);
}

}  // namespace

std::map<std::string, HostTensor> read_safetensors(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof(header_size));
  const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
  const char* data = bytes.data() + 8 + header_size;
  std::map<std::string, HostTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    HostTensor tensor = HostTensor::empty(dtype_of(entry.at("dtype")), entry.at("shape"));
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    std::memcpy(tensor.data, data + begin, static_cast<std::size_t>(tensor.byte_count()));
    tensors[name] = tensor;
  }
  return tensors;
}

std::vector<RecordedCase> read_cases(const std::filesystem::path& path) {
  const auto tensors = read_safetensors(path);
  std::vector<RecordedCase> cases;
  const auto take = [&](std::size_t index, const char* kind, std::vector<HostTensor>& into) {
    const std::string prefix = "case" + std::to_string(index) + "." + kind;
    for (std::size_t i = 0; tensors.contains(prefix + std::to_string(i)); ++i) {
      into.push_back(tensors.at(prefix + std::to_string(i)));
    }
  };
  while (true) {
    RecordedCase next;
    take(cases.size(), "input", next.inputs);
    take(cases.size(), "output", next.outputs);
    if (next.outputs.empty()) break;
    cases.push_back(std::move(next));
  }
  if (cases.empty()) throw std::runtime_error(path.string() + " holds no recorded case");
  return cases;
}

std::filesystem::path model_file(const std::string& name) {
  return std::filesystem::path(BREAKEVEN_MODELS) / name;
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    largest = std::max(largest, std::fabs(element_as_double(a, i) - element_as_double(b, i)));
  }
  return largest;
}

}  // namespace breakeven
