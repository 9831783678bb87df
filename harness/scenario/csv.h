#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/clock.h"
#include "compiler/support/error.h"

namespace breakeven {

/// A CSV file with a header line (RFC 4180), each field with its place. Errors name file, line and
/// column; a file's faults are thrown together, the first twenty of them.
class CsvFile {
 public:
  /// Throws UserError: unreadable, empty, larger than 256 MiB, a row of another width.
  explicit CsvFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  std::size_t row_count() const { return cells_.size() / width_; }
  /// Index of a column; throws UserError with the nearest name.
  std::size_t column(const std::string& name) const;
  bool has_column(const std::string& name) const;
  std::string_view field(std::size_t row, std::size_t column) const;
  /// The Diagnostic of a field, its place filled in.
  Diagnostic at(std::size_t row, std::size_t column, std::string message, std::string fix) const;

 private:
  struct Cell {
    std::string text;
    int line = 0;
    int column = 0;
  };
  void parse();
  void parse_field(std::size_t& at, int& line, std::size_t& line_start, Cell& cell);

  std::filesystem::path path_;
  std::string bytes_;
  std::vector<std::string> header_;
  std::size_t width_ = 1;
  std::vector<Cell> cells_;
};

/// Rows whose columns equal the texts of `where`, ascending.
std::vector<std::size_t> rows_where(const CsvFile& csv,
                                    const std::map<std::string, std::string>& where);

/// Stamps of a column relative to the first: seconds, or "2023-11-16 18:15:46.6805900" (UTC, also
/// with T and Z). Throws UserError for negative, unordered, NaN or missing stamps and fewer than
/// two.
std::vector<Nanos> read_stamps(const CsvFile& csv, const std::string& column);

/// Positive whole sizes of a column. Throws UserError.
std::vector<std::int64_t> read_sizes(const CsvFile& csv, const std::string& column,
                                     const std::vector<std::size_t>& rows);

/// A finite number from `least` up to `most` in a field. Throws UserError with its place.
double read_number(const CsvFile& csv, std::size_t row, std::size_t column, double least,
                   double most);

/// Counts >= 0 of a column, not all zero. Throws UserError.
std::vector<double> read_counts(const CsvFile& csv, const std::string& column,
                                const std::vector<std::size_t>& rows);

}  // namespace breakeven
