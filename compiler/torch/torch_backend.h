#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/reference.h"
#include "compiler/runtime/extern_backend.h"
#include "compiler/support/parallel.h"

namespace breakeven {

/// A model as read from disk: `.pt2` or `.ir`.
struct ImportedModel {
  Graph graph;
  WeightMap weights;  ///< Bytes of every kWeight node.
};

/// Reads a torch.export archive. Throws UserError naming the file and what is wrong: no zip, newer
/// schema, an op whose namespace no loaded library registers (with the library that would).
ImportedModel import_pt2(const std::filesystem::path& path);

/// ATen's dispatcher behind ExternOp.
std::unique_ptr<ExternBackend> make_aten_backend();

/// ATen's intra-op pool as a ParallelFor.
std::unique_ptr<ParallelFor> make_aten_parallel();
void set_torch_threads(int threads);

/// PyTorch eager: the graph op by op through the dispatcher, intermediates freed after last use.
class EagerModel {
 public:
  EagerModel(const Graph& graph, const WeightMap& weights, bool as_fp64 = false);
  ~EagerModel();
  Result<std::vector<HostTensor>> run(std::span<const HostTensor> inputs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Version text of the LibTorch in use, "2.11.0+cu130".
std::string torch_version();

}  // namespace breakeven
