#include "harness/scenario/csv.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "compiler/support/files.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;
constexpr std::size_t kMostFaults = 20;

/// Collects the faults of one file and throws them together.
class Faults {
 public:
  void add(Diagnostic diagnostic) {
    if (found_.size() < kMostFaults) found_.push_back(std::move(diagnostic));
  }
  void throw_if_any() const {
    if (!found_.empty()) throw UserError(found_);
  }

 private:
  std::vector<Diagnostic> found_;
};

std::optional<double> parse_decimal(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int> parse_digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Days since 1970-01-01 of a Gregorian date.
std::int64_t days_of(int year, int month, int day) {
  const int shifted = month <= 2 ? year - 1 : year;
  const int era = shifted / 400;
  const int year_of_era = shifted - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return std::int64_t{era} * 146097 + day_of_era - 719468;
}

bool is_date(int year, int month, int day) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1900 || year > 2200 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

/// Nanoseconds since the epoch of "YYYY-MM-DD HH:MM:SS[.fraction][Z]".
std::optional<Nanos> parse_calendar_stamp(std::string_view text) {
  if (text.ends_with('Z')) text.remove_suffix(1);
  constexpr std::string_view kForm = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = kForm[i] == 'd'   ? digit
                      : kForm[i] == ' ' ? text[i] == ' ' || text[i] == 'T'
                                        : text[i] == kForm[i];
    if (!fits) return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t size) {
    return *parse_digits(text.substr(at, size));
  };
  const int year = part(0, 4), month = part(5, 2), day = part(8, 2);
  const int hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!is_date(year, month, day) || hour > 23 || minute > 59 || second > 60) return std::nullopt;
  std::string_view fraction = text.substr(kForm.size());
  Nanos nanos = 0;
  if (!fraction.empty()) {
    if (fraction[0] != '.' || fraction.size() == 1) return std::nullopt;
    fraction.remove_prefix(1);
    if (fraction.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    std::string nine(fraction.substr(0, 9));
    nine.resize(9, '0');
    nanos = *parse_digits(nine);
  }
  const std::int64_t seconds =
      days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
  return seconds * 1'000'000'000 + nanos;
}

/// One stamp, or why it is none.
std::optional<Nanos> parse_stamp(std::string_view text, bool calendar, std::string& fault) {
  if (text.empty()) {
    fault = "the stamp is missing";
    return std::nullopt;
  }
  if (calendar) {
    const std::optional<Nanos> stamp = parse_calendar_stamp(text);
    if (!stamp) fault = "this is no stamp of the form 2023-11-16 18:15:46.68";
    return stamp;
  }
  const std::optional<double> seconds = parse_decimal(text);
  if (!seconds) {
    fault = "this is neither seconds nor a stamp of the form 2023-11-16 18:15:46.68";
  } else if (!std::isfinite(*seconds)) {
    fault = "the stamp is not a finite number";
  } else if (*seconds < 0) {
    fault = "the stamp is negative";
  } else if (*seconds > 4e9) {
    fault = "the stamp is too large for seconds";
  } else {
    return static_cast<Nanos>(std::llround(*seconds * 1e9));
  }
  return std::nullopt;
}

}  // namespace

CsvFile::CsvFile(const std::filesystem::path& path)
    : path_(path), bytes_(read_file(path, kMaxBytes)) {
  parse();
}

void CsvFile::parse_field(std::size_t& at, int& line, std::size_t& line_start, Cell& cell) {
  cell.line = line;
  cell.column = static_cast<int>(at - line_start) + 1;
  cell.text.clear();
  if (at >= bytes_.size() || bytes_[at] != '"') {
    const std::size_t end = std::min(bytes_.find_first_of(",\n", at), bytes_.size());
    cell.text = bytes_.substr(at, end - at);
    if (cell.text.ends_with('\r')) cell.text.pop_back();
    at = end;
    return;
  }
  for (++at; at < bytes_.size(); ++at) {
    if (bytes_[at] == '"') {
      if (at + 1 >= bytes_.size() || bytes_[at + 1] != '"') break;
      ++at;
    }
    if (bytes_[at] == '\n') {
      ++line;
      line_start = at + 1;
    }
    cell.text.push_back(bytes_[at]);
  }
  if (at < bytes_.size()) ++at;
  if (at < bytes_.size() && bytes_[at] == '\r') ++at;
  if (at < bytes_.size() && bytes_[at] != ',' && bytes_[at] != '\n') {
    throw UserError({.file = path_.string(),
                     .line = cell.line,
                     .column = cell.column,
                     .message = "the quoted field goes on after its closing quote",
                     .fix = "Double the quotes inside it"});
  }
}

void CsvFile::parse() {
  Faults faults;
  std::size_t at = 0;
  std::size_t line_start = 0;
  int line = 1;
  bool first = true;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // Spreadsheets write one.
  if (bytes_.starts_with(kByteOrderMark)) at = line_start = kByteOrderMark.size();
  while (at < bytes_.size()) {
    std::vector<Cell> row;
    const bool quoted = bytes_[at] == '"';
    for (;;) {
      parse_field(at, line, line_start, row.emplace_back());
      if (at >= bytes_.size() || bytes_[at] == '\n') break;
      ++at;
    }
    if (at < bytes_.size()) ++at;
    // A quoted nothing is a missing value; a line with nothing on it is no row.
    const bool blank = row.size() == 1 && row[0].text.empty() && !quoted;
    if (first) {
      for (const Cell& cell : row) {
        if (has_column(cell.text)) {
          faults.add({.file = path_.string(),
                      .line = cell.line,
                      .column = cell.column,
                      .message = "two columns have the same name",
                      .value = '"' + cell.text + '"',
                      .fix = "Rename one"});
        }
        header_.push_back(cell.text);
      }
      width_ = header_.size();
      first = false;
    } else if (!blank && row.size() != width_) {
      faults.add({.file = path_.string(),
                  .line = row[0].line,
                  .column = 1,
                  .message = "the row has " + std::to_string(row.size()) + " fields, the header " +
                             std::to_string(width_),
                  .fix = "Correct the row"});
    } else if (!blank) {
      cells_.insert(cells_.end(), std::make_move_iterator(row.begin()),
                    std::make_move_iterator(row.end()));
    }
    ++line;
    line_start = at;
  }
  faults.throw_if_any();
  if (cells_.empty()) {
    throw UserError(
        {.file = path_.string(),
         .line = 1,
         .column = 1,
         .message = header_.empty() ? "the file is empty" : "there is no row below the header",
         .fix = "Give a CSV file with a header line and rows"});
  }
}

std::size_t CsvFile::column(const std::string& name) const {
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (header_[i] == name) return i;
  }
  const std::string nearest = nearest_word(name, header_);
  throw UserError({.file = path_.string(),
                   .line = 1,
                   .column = 1,
                   .message = "there is no such column",
                   .value = '"' + name + '"',
                   .fix = nearest.empty() ? "Its columns are " + join(header_, ", ")
                                          : "Did you mean \"" + nearest + "\"?"});
}

bool CsvFile::has_column(const std::string& name) const {
  return std::find(header_.begin(), header_.end(), name) != header_.end();
}

std::string_view CsvFile::field(std::size_t row, std::size_t column) const {
  return cells_[row * width_ + column].text;
}

Diagnostic CsvFile::at(std::size_t row, std::size_t column, std::string message,
                       std::string fix) const {
  const Cell& cell = cells_[row * width_ + column];
  return {.file = path_.string(),
          .line = cell.line,
          .column = cell.column,
          .message = std::move(message),
          .value = cell.text.empty() ? "nothing" : '"' + cell.text + '"',
          .fix = std::move(fix)};
}

std::vector<std::size_t> rows_where(const CsvFile& csv,
                                    const std::map<std::string, std::string>& where) {
  std::vector<std::pair<std::size_t, std::string>> wanted;
  for (const auto& [name, text] : where) wanted.emplace_back(csv.column(name), text);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < csv.row_count(); ++row) {
    bool keep = true;
    for (const auto& [column, text] : wanted) keep = keep && csv.field(row, column) == text;
    if (keep) rows.push_back(row);
  }
  if (rows.empty()) {
    throw UserError({.file = csv.path().string(),
                     .message = "no row meets \"where\"",
                     .fix = "Check the columns' texts, which must be equal to the letter"});
  }
  return rows;
}

std::vector<Nanos> read_stamps(const CsvFile& csv, const std::string& column) {
  const std::size_t index = csv.column(column);
  Faults faults;
  std::vector<Nanos> stamps;
  const bool calendar = csv.field(0, index).find(':') != std::string_view::npos;
  for (std::size_t row = 0; row < csv.row_count(); ++row) {
    std::string fault;
    const std::optional<Nanos> stamp = parse_stamp(csv.field(row, index), calendar, fault);
    if (!stamp) {
      faults.add(csv.at(row, index, fault, "Correct or remove the row"));
    } else if (!stamps.empty() && *stamp < stamps.back()) {
      faults.add(csv.at(row, index, "the stamp is earlier than the one before it",
                        "Sort the rows by time"));
    } else {
      stamps.push_back(*stamp);
    }
  }
  faults.throw_if_any();
  if (stamps.size() < 2 || stamps.front() == stamps.back()) {
    throw UserError(csv.at(0, index, "the trace has no two different stamps",
                           "Give a trace with at least two arrivals"));
  }
  const Nanos start = stamps.front();
  for (Nanos& stamp : stamps) stamp -= start;
  return stamps;
}

std::vector<std::int64_t> read_sizes(const CsvFile& csv, const std::string& column,
                                     const std::vector<std::size_t>& rows) {
  const std::size_t index = csv.column(column);
  Faults faults;
  std::vector<std::int64_t> sizes;
  for (const std::size_t row : rows) {
    const std::optional<double> value = parse_decimal(csv.field(row, index));
    const bool whole = value && std::isfinite(*value) && *value == std::floor(*value);
    if (!whole || *value < 1 || *value > 1048576) {
      faults.add(csv.at(row, index, "this is no whole size from 1 to 1048576",
                        "Correct or remove the row"));
    } else {
      sizes.push_back(static_cast<std::int64_t>(*value));
    }
  }
  faults.throw_if_any();
  return sizes;
}

double read_number(const CsvFile& csv, std::size_t row, std::size_t column, double least,
                   double most) {
  const std::optional<double> number = parse_decimal(csv.field(row, column));
  if (number && *number >= least && *number <= most) return *number;
  throw UserError(csv.at(
      row, column, "this is no number from " + format_double(least) + " to " + format_double(most),
      "Correct the value"));
}

/// As of weights in a scenario: sums of them stay finite and exact enough.
constexpr double kMostCount = 1e15;

std::vector<double> read_counts(const CsvFile& csv, const std::string& column,
                                const std::vector<std::size_t>& rows) {
  const std::size_t index = csv.column(column);
  Faults faults;
  std::vector<double> counts;
  double total = 0;
  for (const std::size_t row : rows) {
    const std::optional<double> value = parse_decimal(csv.field(row, index));
    if (!value || !(*value >= 0 && *value <= kMostCount)) {
      faults.add(csv.at(row, index, "this is no count from 0 to " + format_double(kMostCount),
                        "Correct or remove the row"));
    } else {
      counts.push_back(*value);
      total += *value;
    }
  }
  faults.throw_if_any();
  if (total <= 0) {
    throw UserError(csv.at(rows.front(), index, "all counts are zero", "Give counts above zero"));
  }
  return counts;
}

}  // namespace breakeven
