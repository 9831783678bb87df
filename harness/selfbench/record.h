#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/selfbench/judge.h"

namespace breakeven {

/// The row as one line of JSON: what is judged, why, and every sample. `run` names the machine and
/// the build that measured it.
std::string to_line(const MeasuredRow& measured, const std::string& group, const std::string& run);

/// True for a file that selfbench wrote, or began to.
bool is_record(std::string_view text);

/// Rows of a file of such lines that `run` measured for rows of `table` as they stand now, judged
/// again; a line that a kill cut short, or that belongs to another build, is left out. Of several
/// lines for a figure the last counts.
std::vector<MeasuredRow> read_lines(std::string_view text, const FigureTable& table,
                                    const std::string& run);

}  // namespace breakeven
