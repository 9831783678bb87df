#include "compiler/runtime/product_choice.h"

#include <algorithm>
#include <sstream>
#include <system_error>
#include <utility>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

/// Rows up to which the generated kernel is taken unmeasured: libraries pack the weight each time,
/// which so few rows do not pay for.
constexpr std::int64_t kUnmeasuredRows = 64;
/// From here on the rows change the times in proportion.
constexpr std::int64_t kMostRows = 512;

constexpr const char* kFileName = "product_choices.txt";
constexpr const char* kHeader = "breakeven product choices 1";

std::string line_of(const ProductSize& size, const ProductTimes& times) {
  return std::to_string(size.rows) + " x " + std::to_string(size.depth) + " x " +
         std::to_string(size.columns) + ": generated " +
         format_duration_ns(static_cast<double>(times.generated)) + ", library " +
         format_duration_ns(static_cast<double>(times.library));
}

/// 0 when a size of them is symbolic.
std::int64_t rows_of(const Graph& graph, const Product& product) {
  std::int64_t rows = 1;
  const std::vector<Sym>& sizes = graph.type(product.rows).sizes;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) {
    rows *= graph.syms.as_constant(sizes[d]).value_or(0);
  }
  return rows;
}

}  // namespace

ProductChoice::ProductChoice(const std::filesystem::path& directory, const CpuTarget& target,
                             int threads)
    : machine_(target.to_string() + "/" + std::to_string(threads)), unit_(vector_unit(target)) {
  if (directory.empty()) return;
  file_ = directory / kFileName;
  read();
}

std::string ProductChoice::why_library(const Graph& graph, const Product& product,
                                       const Bench* bench) {
  if (!unit_.fused_multiply_add) return "the processor has no fused multiply-add";
  const std::int64_t rows = rows_of(graph, product);
  if (rows <= kUnmeasuredRows) return {};
  ProductSize size{kUnmeasuredRows, product.depth, product.columns};
  while (size.rows < std::min(rows, kMostRows)) size.rows *= 2;
  const std::lock_guard lock(mutex_);
  auto known = times_.find(size);
  if (known == times_.end()) {
    if (bench == nullptr) return {};
    const auto measured = time_product(size, unit_, *bench);
    if (!measured.ok()) return {};
    known = times_.emplace(size, measured.value()).first;
    log_.push_back(line_of(size, known->second));
    write();
  }
  if (!known->second.prefers_library()) return {};
  return "the library was faster when both were timed: " + line_of(size, known->second);
}

std::vector<std::string> ProductChoice::take_log() {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_, {});
}

std::vector<std::string> ProductChoice::lines() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [size, times] : times_) lines.push_back(line_of(size, times));
  return lines;
}

/// Lines of other machines and anything unreadable are passed over: they are measured again.
void ProductChoice::read() {
  std::string text;
  try {
    std::error_code absent;
    if (!std::filesystem::exists(file_, absent)) return;
    text = read_file(file_, 1 << 20);
  } catch (const UserError&) {
    return;
  }
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != kHeader) return;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string machine;
    ProductSize size;
    ProductTimes times;
    fields >> machine >> size.rows >> size.depth >> size.columns >> times.generated >>
        times.library;
    if (!fields || machine != machine_ || times.generated <= 0 || times.library <= 0) continue;
    times_.emplace(size, times);
  }
}

/// Keeps what other machines and processes wrote meanwhile.
void ProductChoice::write() const {
  if (file_.empty()) return;
  std::string text = std::string(kHeader) + '\n';
  try {
    make_directories(file_.parent_path());
    std::error_code absent;
    if (std::filesystem::exists(file_, absent)) {
      std::istringstream lines(read_file(file_, 1 << 20));
      std::string line;
      const bool ours = std::getline(lines, line) && line == kHeader;
      while (ours && std::getline(lines, line)) {
        if (!line.starts_with(machine_ + ' ')) text += line + '\n';
      }
    }
    for (const auto& [size, times] : times_) {
      text += machine_;
      for (const std::int64_t field :
           {size.rows, size.depth, size.columns, times.generated, times.library}) {
        text += ' ' + std::to_string(field);
      }
      text += '\n';
    }
    write_file_atomic(file_, text);
  } catch (const UserError&) {
    // Without a file each process measures for itself.
  }
}

}  // namespace breakeven
