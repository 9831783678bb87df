#include "harness/selfbench/record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/support/text.h"

namespace breakeven {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) {
  return value.has_value() ? Json(*value) : Json(nullptr);
}

/// What a line says of a row of `table`; nothing for a line that is not of this run, or that lacks
/// something, which may be there now.
std::optional<MeasuredRow> measured_by(const std::string& line, const FigureTable& table,
                                       const std::string& run) {
  try {
    const Json json = Json::parse(line);
    const bool is_complete = json.at("reason").get<std::string>().empty();
    if (json.at("run").get<std::string>() != run || !is_complete) return std::nullopt;
    for (const FigureRow& row : table.rows) {
      if (row.figure != json.at("figure").get<std::string>()) continue;
      if (row.text != json.at("definition").get<std::string>()) return std::nullopt;
      MeasuredRow measured;
      measured.row = row;
      for (const Json& pair : json.at("raw")) {
        measured.raw.push_back({pair.at("against").get<std::string>(),
                                pair.at("ours").get<SideSamples>(),
                                pair.at("peer").get<SideSamples>()});
      }
      judge(measured);
      return measured;
    }
  } catch (const Json::exception&) {
    // Cut short by a kill: measured again.
  }
  return std::nullopt;
}

}  // namespace

std::string to_line(const MeasuredRow& measured, const std::string& group, const std::string& run) {
  Json json = {{"group", group},
               {"figure", measured.row.figure},
               {"ours", number(measured.ours)},
               {"peer", number(measured.theirs)},
               {"value", number(measured.value)},
               {"target", measured.row.target},
               {"op", measured.row.at_most ? "<=" : ">="},
               {"unit", measured.row.unit},
               {"holds", measured.holds},
               {"samples", measured.samples},
               {"against", measured.peer},
               {"reason", printable(measured.reason, 1000)},
               {"definition", measured.row.text},
               {"run", run},
               {"raw", Json::array()}};
  for (const RawPair& pair : measured.raw) {
    json["raw"].push_back({{"against", pair.peer}, {"ours", pair.ours}, {"peer", pair.theirs}});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_record(std::string_view text) {
  const std::size_t end = text.find('\n');
  const Json first = Json::parse(text.substr(0, end), nullptr, false);
  if (first.is_object()) return first.contains("figure") && first.contains("definition");
  // A first line that a kill cut short.
  return end == std::string_view::npos && text.starts_with("{\"group\"");
}

std::vector<MeasuredRow> read_lines(std::string_view text, const FigureTable& table,
                                    const std::string& run) {
  std::vector<MeasuredRow> rows;
  for (const std::string& line : split(text, '\n')) {
    std::optional<MeasuredRow> measured = measured_by(line, table, run);
    if (!measured.has_value()) continue;
    std::erase_if(rows,
                  [&](const MeasuredRow& old) { return old.row.figure == measured->row.figure; });
    if (measured->value.has_value()) rows.push_back(std::move(*measured));
  }
  return rows;
}

}  // namespace breakeven
