#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace breakeven {

/// One served request, as kept in the raw file.
struct RawSample {
  std::int64_t id = 0;
  std::int64_t due_ns = 0;    ///< Intended arrival, relative to the trial's start of traffic.
  std::int64_t sent_ns = 0;   ///< When the generator handed it over.
  std::int64_t start_ns = 0;  ///< When the executor began it.
  std::int64_t done_ns = 0;
  std::int64_t compile_ns = 0;     ///< Compile work inside the service time.
  std::int64_t cache_load_ns = 0;  ///< Cache loads without a compile, inside the service time.
  std::int64_t batch_wait_ns = 0;  ///< Waiting for a batch to fill, before start_ns.
  std::int64_t batch_id = 0;       ///< Requests served together share it; 0 without batching.
  std::int32_t shape = 0;          ///< Index into Trial::shapes.
  std::int32_t worker = 0;         ///< Which server of the process.
  std::int32_t status = 0;         ///< SampleStatus.
  std::uint32_t flags = 0;         ///< SampleFlag bits.
};

enum SampleStatus : std::int32_t {
  kStatusOk = 0,
  kStatusFailed = 1,  ///< The executor gave no answer.
};

enum SampleFlag : std::uint32_t {
  kSampleCompiled = 1,  ///< The request waited for a compile or cache load of its own.
  kSampleFellBack = 2,  ///< Served eagerly in a compiled arm.
  kSampleFirst = 4,     ///< First request of its process.
  kSampleFailed = 8,    ///< No answer; latency is not a latency.
};

/// Layout, all little-endian: magic "BEVNRAW\0", u32 version, u32 columns, u64 count, u64 checksum
/// (low half of XXH3-128 over the columns, seeded with count), then whole columns one after
/// another: id, due, sent, start, done, compile, cache_load, batch_wait, batch_id (i64 each),
/// shape, worker, status (i32 each), flags (u32).
inline constexpr std::uint32_t kRawSamplesVersion = 1;

std::string raw_samples_to_bytes(const std::vector<RawSample>& samples);
/// Throws UserError naming `name` for bytes that are foreign, truncated, corrupt or of another
/// version.
std::vector<RawSample> raw_samples_from_bytes(std::string_view bytes, const std::string& name);

/// Names the samples by their content, in hex: what a trial remembers of its raw file.
std::string checksum_of(const std::vector<RawSample>& samples);

/// Writes to a temporary name, then renames. Returns checksum_of(samples).
std::string write_raw_samples(const std::vector<RawSample>& samples,
                              const std::filesystem::path& file);
/// Throws UserError for a file that cannot be read, is not whole, or does not hold the samples that
/// `checksum` names.
std::vector<RawSample> read_raw_samples(const std::filesystem::path& file,
                                        const std::string& checksum);

}  // namespace breakeven
