#include "reports/schema/raw_samples.h"

#include <bit>
#include <cstring>

#include "compiler/support/error.h"
#include "compiler/support/files.h"
#include "compiler/support/hash.h"

namespace breakeven {
namespace {

static_assert(std::endian::native == std::endian::little,
              "columns are copied as they lie in memory");

constexpr std::string_view kMagic("BEVNRAW\0", 8);
constexpr std::uint32_t kColumns = 13;
constexpr std::size_t kHeaderBytes = 8 + 4 + 4 + 8 + 8;
constexpr std::size_t kRowBytes = 9 * 8 + 4 * 4;

template <typename T>
void append(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

template <typename T>
T take(std::string_view& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

/// Calls visit(member pointer) for every column in file order.
template <typename Visit>
void for_each_column(const Visit& visit) {
  visit(&RawSample::id);
  visit(&RawSample::due_ns);
  visit(&RawSample::sent_ns);
  visit(&RawSample::start_ns);
  visit(&RawSample::done_ns);
  visit(&RawSample::compile_ns);
  visit(&RawSample::cache_load_ns);
  visit(&RawSample::batch_wait_ns);
  visit(&RawSample::batch_id);
  visit(&RawSample::shape);
  visit(&RawSample::worker);
  visit(&RawSample::status);
  visit(&RawSample::flags);
}

std::uint64_t column_checksum(std::string_view columns, std::uint64_t count) {
  return hash_bytes(columns, count).low;
}

[[noreturn]] void fail(const std::string& name, std::string message, std::string value = {}) {
  throw UserError({.file = name,
                   .message = std::move(message),
                   .value = std::move(value),
                   .fix = "Run the scenario again, or restore the file from where it was copied"});
}

}  // namespace

std::string raw_samples_to_bytes(const std::vector<RawSample>& samples) {
  std::string columns;
  columns.reserve(samples.size() * kRowBytes);
  for_each_column([&](auto column) {
    for (const RawSample& sample : samples) append(columns, sample.*column);
  });
  std::string bytes;
  bytes.reserve(kHeaderBytes + columns.size());
  bytes += kMagic;
  append(bytes, kRawSamplesVersion);
  append(bytes, kColumns);
  append(bytes, static_cast<std::uint64_t>(samples.size()));
  append(bytes, column_checksum(columns, samples.size()));
  return bytes + columns;
}

std::vector<RawSample> raw_samples_from_bytes(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic)) {
    const bool cut = kMagic.starts_with(bytes);
    fail(name, cut ? "the raw sample file is cut short" : "this is not a raw sample file");
  }
  if (bytes.size() < kHeaderBytes) fail(name, "the raw sample file is cut short in its header");
  bytes.remove_prefix(kMagic.size());
  const auto version = take<std::uint32_t>(bytes);
  if (version != kRawSamplesVersion) {
    fail(name, "raw sample file of another version than " + std::to_string(kRawSamplesVersion),
         std::to_string(version));
  }
  const auto columns = take<std::uint32_t>(bytes);
  if (columns != kColumns) {
    fail(name, "raw sample file with other columns than " + std::to_string(kColumns),
         std::to_string(columns));
  }
  const auto count = take<std::uint64_t>(bytes);
  const auto checksum = take<std::uint64_t>(bytes);
  if (bytes.size() % kRowBytes != 0 || bytes.size() / kRowBytes != count) {
    fail(name, "the raw sample file is cut short or has bytes too many: its header promises " +
                   std::to_string(count) + " samples and " + std::to_string(bytes.size()) +
                   " bytes follow");
  }
  if (column_checksum(bytes, count) != checksum) {
    fail(name, "the raw sample file is corrupt: its checksum does not match");
  }
  std::vector<RawSample> samples(count);
  for_each_column([&](auto column) {
    for (RawSample& sample : samples) {
      sample.*column = take<std::remove_reference_t<decltype(sample.*column)>>(bytes);
    }
  });
  return samples;
}

std::string checksum_of(const std::vector<RawSample>& samples) {
  return hash_bytes(raw_samples_to_bytes(samples)).to_hex();
}

std::string write_raw_samples(const std::vector<RawSample>& samples,
                              const std::filesystem::path& file) {
  const std::string bytes = raw_samples_to_bytes(samples);
  write_file_atomic(file, bytes);
  return hash_bytes(bytes).to_hex();
}

std::vector<RawSample> read_raw_samples(const std::filesystem::path& file,
                                        const std::string& checksum) {
  const std::string bytes = read_file(file);
  std::vector<RawSample> samples = raw_samples_from_bytes(bytes, file.string());
  if (hash_bytes(bytes).to_hex() != checksum) {
    fail(file.string(), "the raw sample file is not the one that results.json was written with");
  }
  return samples;
}

}  // namespace breakeven
