#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace breakeven {

/// How a figure is measured.
enum class Probe : std::uint8_t {
  kDispatch,     ///< A request to a program of 8 inputs and one tiny kernel.
  kSteady,       ///< Requests of the arm against requests of the peer, block by block.
  kCold,         ///< Weights in memory to first answer, empty cache; processes of their own.
  kWarm,         ///< The same on the cache that a cold start left.
  kStart,        ///< Process start to first answer, on that cache.
  kCopy,         ///< Against memcpy of as many bytes as the model reads and writes.
  kRoofline,     ///< Against the slower of streaming its bytes and doing its multiply-adds.
  kStream,       ///< Against reading its weights' bytes once.
  kNewShape,     ///< A shape that the program did not see before, against the peer's own program.
  kNewCompiles,  ///< Compiles that this shape causes, in counts.
  kGeomean,      ///< Of other rows' values.
};

/// What is judged, from times of ours and the peer's.
enum class FigureValue : std::uint8_t {
  kOurs,         ///< "ours", in the row's unit.
  kOursPerPeer,  ///< "ours/peer": a ratio of times.
  kPeerPerOurs,  ///< "peer/ours": a share of the limit's speed.
};

/// One required figure: a row of the committed table.
struct FigureRow {
  std::string figure;
  Probe probe = Probe::kSteady;
  std::string model;  ///< Key of FigureTable::models; empty: the probe needs none.
  int depth = 0;      ///< Layers; 0: the model has no such number.
  std::map<std::string, std::int64_t> sizes;  ///< By dim: batch, length.
  std::string dtype;
  std::string arm;
  std::vector<std::string> peers;  ///< Arms; the best of them is the peer.
  FigureValue value = FigureValue::kOurs;
  bool at_most = true;  ///< op "<=", else ">=".
  double target = 0;
  std::string unit;        ///< Of value and target: "us", "ms", "s", "x", "compiles".
  bool by_bound = false;   ///< The ratio's 95 % bound is judged instead of its median.
  int processes = 3;       ///< Repetitions, each in processes of its own.
  std::int64_t bytes = 0;  ///< Of kStream.
  std::int64_t fmas = 0;   ///< Of kRoofline: multiply-adds of a request.
  std::string of;          ///< Of kGeomean: regular expression on figures.
  std::string text;        ///< The row as in the file: what a resumed table compares.
};

struct FigureModel {
  std::string file;    ///< Absolute.
  std::string inputs;  ///< JSON text, as in a scenario.
  std::vector<std::string> export_args;
};

/// The figures that must hold for one group.
struct FigureTable {
  std::filesystem::path path;
  std::string group;
  int threads = 0;  ///< Intra-op threads of both sides; 0: all cores.
  std::map<std::string, FigureModel> models;
  std::vector<FigureRow> rows;

  const FigureRow& row(const std::string& figure) const;  ///< Throws UserError when there is none.
};

/// The committed table of `group`: scenarios/selfbench/GROUP.json below the working directory, else
/// in the source tree. Throws UserError naming the groups there are.
std::filesystem::path figure_table_path(const std::string& group);

/// Throws one UserError with every fault.
FigureTable load_figure_table(const std::filesystem::path& path);

}  // namespace breakeven
