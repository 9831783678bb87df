#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "compiler/ir/host_tensor.h"
#include "compiler/torch/pt2_archive.h"

namespace breakeven {

/// The tensors stored in an archive, by name in the module: parameters, buffers and constants.
class Pt2Weights {
 public:
  /// `model` is the model's name inside the archive ("model").
  Pt2Weights(const Pt2Archive& archive, const std::string& model);
  ~Pt2Weights();

  struct Stored {
    HostTensor tensor;  ///< A view of the archive's bytes, not a copy where that is possible.
    /// Equal for two names exactly when they are one tensor (tied weights).
    std::string identity;
  };
  /// Throws UserError when the archive holds no such tensor or its bytes do not fit its type.
  Stored load(const std::string& name);

 private:
  struct Entry;
  void read_config(const std::string& folder, const std::string& record);
  const Pt2Archive& archive_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, Pt2Archive::Bytes> loaded_;  ///< By record.
};

}  // namespace breakeven
