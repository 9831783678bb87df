#include "harness/selfbench/table.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 11> kProbes = {
    "dispatch", "steady", "cold",      "warm",         "start",  "copy",
    "roofline", "stream", "new_shape", "new_compiles", "geomean"};
constexpr std::array<std::string_view, 3> kValues = {"ours", "ours/peer", "peer/ours"};
constexpr std::array<std::string_view, 5> kUnits = {"us", "ms", "s", "x", "compiles"};
constexpr std::array<std::string_view, 17> kKeys = {
    "figure", "probe",  "model", "depth",    "sizes",     "dtype", "arm",  "peers", "value",
    "op",     "target", "unit",  "by_bound", "processes", "bytes", "fmas", "of"};

template <std::size_t N>
std::size_t place_of(const std::array<std::string_view, N>& words, const std::string& word) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

/// Reads one row; what is wrong with it goes to `faults`.
class RowReader {
 public:
  RowReader(const Json& json, std::vector<std::string>& faults) : json_(json), faults_(faults) {}

  FigureRow read() {
    FigureRow row;
    row.figure = json_.value("figure", "");
    row.probe = static_cast<Probe>(word("probe", kProbes));
    row.model = json_.value("model", "");
    row.depth = json_.value("depth", 0);
    row.sizes = json_.value("sizes", row.sizes);
    row.dtype = json_.value("dtype", "");
    row.arm = json_.value("arm", "");
    row.peers = json_.value("peers", row.peers);
    row.value = static_cast<FigureValue>(word("value", kValues));
    const auto op = json_.at("op").get<std::string>();
    row.at_most = op == "<=";
    if (op != "<=" && op != ">=") fault("op", op);
    row.target = json_.at("target").get<double>();
    row.unit = kUnits.at(std::min(word("unit", kUnits), kUnits.size() - 1));
    row.by_bound = json_.value("by_bound", false);
    row.processes = json_.value("processes", 3);
    row.bytes = json_.value("bytes", std::int64_t{0});
    row.fmas = json_.value("fmas", std::int64_t{0});
    row.of = json_.value("of", "");
    row.text = json_.dump();
    for (const auto& [key, ignored] : json_.items()) {
      if (place_of(kKeys, key) == kKeys.size()) fault(key, "an unknown key");
    }
    if (row.figure.empty()) fault("figure", "empty");
    if (row.processes < 1) fault("processes", std::to_string(row.processes));
    const bool is_ratio = row.value != FigureValue::kOurs || row.probe == Probe::kGeomean;
    if (is_ratio != (row.unit == "x")) fault("unit", row.unit + ": ratios, and they alone, are x");
    return row;
  }

 private:
  template <std::size_t N>
  std::size_t word(const char* key, const std::array<std::string_view, N>& words) {
    const auto given = json_.at(key).get<std::string>();
    const std::size_t at = place_of(words, given);
    if (at < N) return at;
    fault(key, given);
    return 0;
  }
  void fault(const std::string& key, const std::string& what) {
    faults_.push_back("row \"" + json_.value("figure", "") + "\": " + key + ": " + printable(what));
  }

  const Json& json_;
  std::vector<std::string>& faults_;
};

FigureTable read_table(const Json& json, const std::filesystem::path& path,
                       std::vector<std::string>& faults) {
  FigureTable table;
  table.path = path;
  table.group = json.at("group").get<std::string>();
  table.threads = json.value("threads", 0);
  for (const auto& [name, model] : json.at("models").items()) {
    FigureModel& made = table.models[name];
    const std::filesystem::path file = model.at("file").get<std::string>();
    made.file = std::filesystem::absolute(path.parent_path() / file).lexically_normal().string();
    made.inputs = model.at("inputs").dump();
    made.export_args = model.value("export", made.export_args);
  }
  std::set<std::string> figures;
  for (const Json& row : json.at("rows")) {
    table.rows.push_back(RowReader(row, faults).read());
    const FigureRow& read = table.rows.back();
    if (!figures.insert(read.figure).second) faults.push_back("figure twice: " + read.figure);
    if (!read.model.empty() && !table.models.contains(read.model)) {
      faults.push_back("row \"" + read.figure + "\": no model " + read.model);
    }
  }
  return table;
}

}  // namespace

const FigureRow& FigureTable::row(const std::string& figure) const {
  for (const FigureRow& one : rows) {
    if (one.figure == figure) return one;
  }
  throw UserError(Diagnostic{path.string(), 0, 0, "the table has no such figure", figure, ""});
}

std::filesystem::path figure_table_path(const std::string& group) {
  std::vector<std::string> known;
  for (const std::filesystem::path& root :
       {std::filesystem::path("."), std::filesystem::path(BREAKEVEN_SOURCE_DIR)}) {
    const std::filesystem::path folder = root / "scenarios/selfbench";
    if (std::filesystem::is_regular_file(folder / (group + ".json"))) {
      return folder / (group + ".json");
    }
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(folder, absent)) {
      if (entry.path().extension() == ".json") known.push_back(entry.path().stem().string());
    }
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  throw UserError(Diagnostic{"", 0, 0, "there is no table of figures for the group", group,
                             "Groups: " + join(known, ", ")});
}

FigureTable load_figure_table(const std::filesystem::path& path) {
  std::vector<std::string> faults;
  FigureTable table;
  try {
    table = read_table(Json::parse(read_file(path)), path, faults);
  } catch (const Json::exception& error) {
    faults.emplace_back(error.what());
  }
  if (faults.empty()) return table;
  throw UserError(Diagnostic{path.string(), 0, 0, "the table of figures is faulty",
                             join(faults, "; "), "See scenarios/selfbench/README.md"});
}

}  // namespace breakeven
