#pragma once

#include <filesystem>
#include <string>

#include "reports/decide/decision.h"

namespace breakeven {

std::string render_json(const Results& results, const Decision& decision);      ///< report.json
std::string render_markdown(const Results& results, const Decision& decision);  ///< report.md
std::string render_html(const Results& results,
                        const Decision& decision);  ///< One file, no network.
/// The JSON Schema of report.json, the same text as reports/render/report.schema.json.
std::string report_schema();
/// For people at a terminal; `colour` adds ANSI colours.
std::string render_terminal(const Results& results, const Decision& decision, bool colour);

/// Reads `directory`/results.json, decides, writes report.{html,json,md} beside it.
Decision make_report(const std::filesystem::path& directory);

}  // namespace breakeven
