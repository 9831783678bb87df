#include "compiler/torch/pt2_weights.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "compiler/support/text.h"
#include "compiler/torch/pt2_schema.h"

namespace breakeven {
namespace {

constexpr std::size_t kMaxConfigBytes = std::size_t{256} << 20;
constexpr const char* kFix = "Write the model again with torch.export.save.";

/// Elements from the first to the last that the strides reach, -1 on overflow.
std::int64_t extent_of(const HostTensor& tensor) {
  std::int64_t extent = 1;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    std::int64_t reach = 0;
    if (tensor.sizes[i] == 0) return 0;
    if (tensor.sizes[i] < 0 || tensor.strides[i] < 0 ||
        __builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &reach) ||
        __builtin_add_overflow(extent, reach, &extent)) {
      return -1;
    }
  }
  return extent;
}

}  // namespace

struct Pt2Weights::Entry {
  std::string record;
  nlohmann::json meta;
};

Pt2Weights::Pt2Weights(const Pt2Archive& archive, const std::string& model) : archive_(archive) {
  read_config("data/weights/", "data/weights/" + model + "_weights_config.json");
  read_config("data/constants/", "data/constants/" + model + "_constants_config.json");
}

Pt2Weights::~Pt2Weights() = default;

void Pt2Weights::read_config(const std::string& folder, const std::string& record) {
  if (!archive_.has_record(record)) return;
  const auto json = nlohmann::json::parse(archive_.text(record, kMaxConfigBytes));
  for (const auto& [name, payload] : json.at("config").items()) {
    if (payload.at("use_pickle").get<bool>() || !payload.at("tensor_meta").is_object()) {
      continue;  // Refused by load() when the graph needs it.
    }
    entries_[name] = {folder + payload.at("path_name").get<std::string>(),
                      payload.at("tensor_meta")};
  }
}

Pt2Weights::Stored Pt2Weights::load(const std::string& name) {
  const std::string place = "weight '" + printable(name, 120) + "'";
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    archive_.fail("the archive has no plain bytes for " + place, "", kFix);
  }
  const Entry& entry = found->second;
  auto bytes = loaded_.find(entry.record);
  if (bytes == loaded_.end()) {
    bytes = loaded_.emplace(entry.record, archive_.bytes(entry.record)).first;
  }
  Stored stored;
  HostTensor& tensor = stored.tensor;
  tensor.dtype = checked_dtype(archive_, entry.meta, name);
  for (const auto& size : entry.meta.at("sizes")) {
    tensor.sizes.push_back(size.at("as_int").get<std::int64_t>());
  }
  for (const auto& stride : entry.meta.at("strides")) {
    tensor.strides.push_back(stride.at("as_int").get<std::int64_t>());
  }
  const auto offset = entry.meta.at("storage_offset").at("as_int").get<std::int64_t>();
  const auto extent = tensor.strides.size() == tensor.sizes.size() ? extent_of(tensor) : -1;
  const auto capacity = static_cast<std::int64_t>(bytes->second.size) / size_of(tensor.dtype);
  if (extent < 0 || offset < 0 || extent > capacity || offset > capacity - extent) {
    archive_.fail(
        place + " does not fit its bytes",
        entry.meta.at("sizes").dump() + " in " + std::to_string(bytes->second.size) + " bytes",
        kFix);
  }
  tensor.storage = bytes->second.owner;
  tensor.data = static_cast<char*>(bytes->second.data) + offset * size_of(tensor.dtype);
  stored.identity = entry.record + entry.meta.dump();
  return stored;
}

}  // namespace breakeven
