#include "compiler/torch/pt2_archive.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "compiler/ir/host_tensor.h"
#include "compiler/support/error.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr const char* kFixArchive =
    "Write the model again with torch.export.save (scripts/export_model.py for the models here).";

/// A private, writable mapping of a whole file: writes by a misbehaving op never reach the disk.
class MappedFile {
 public:
  /// Returns nullptr with errno set.
  static std::shared_ptr<MappedFile> open(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    struct stat status = {};
    std::shared_ptr<MappedFile> mapped;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<std::size_t>(status.st_size);
      // Populated now, so that reading the weights counts as loading and not as the first request;
      // populated before it becomes writable, or the kernel would copy every page.
      void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
      if (data != MAP_FAILED) mapped.reset(new MappedFile(data, size));
      if (mapped && ::mprotect(data, size, PROT_READ | PROT_WRITE) != 0) mapped.reset();
    } else if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
    } else {
      errno = 0;
    }
    const int saved = errno;
    ::close(file);
    errno = saved;
    return mapped;
  }

  ~MappedFile() { ::munmap(data_, size_); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  char* data() const { return static_cast<char*>(data_); }
  std::size_t size() const { return size_; }

 private:
  MappedFile(void* data, std::size_t size) : data_(data), size_(size) {}
  void* data_;
  std::size_t size_;
};

class MappedAdapter final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit MappedAdapter(std::shared_ptr<MappedFile> file) : file_(std::move(file)) {}
  std::size_t size() const override { return file_->size(); }
  std::size_t read(std::uint64_t position, void* buffer, std::size_t count,
                   const char*) const override {
    if (position >= file_->size()) return 0;
    const std::size_t available = file_->size() - static_cast<std::size_t>(position);
    const std::size_t taken = std::min(count, available);
    std::memcpy(buffer, file_->data() + position, taken);
    return taken;
  }

 private:
  std::shared_ptr<MappedFile> file_;
};

}  // namespace

struct Pt2Archive::State {
  std::shared_ptr<MappedFile> file;
  std::unique_ptr<caffe2::serialize::PyTorchStreamReader> reader;
  std::vector<std::string> records;
};

Pt2Archive::Pt2Archive(const std::filesystem::path& path)
    : path_(path), state_(std::make_unique<State>()) {
  errno = 0;
  state_->file = MappedFile::open(path);
  if (!state_->file) {
    if (errno == 0) fail("the model archive is empty or no regular file", "", kFixArchive);
    fail("cannot read the model archive", std::strerror(errno),
         "Check the path, or write the model with scripts/export_model.py.");
  }
  try {
    state_->reader = std::make_unique<caffe2::serialize::PyTorchStreamReader>(
        std::make_shared<MappedAdapter>(state_->file));
    state_->records = state_->reader->getAllRecords();
  } catch (const std::exception&) {
    const std::string_view head(state_->file->data(),
                                std::min<std::size_t>(4, state_->file->size()));
    if (head == "PK\x03\x04") fail("the model archive is truncated or damaged", "", kFixArchive);
    fail("not a .pt2 archive: the file is no zip", printable(head, 16), kFixArchive);
  }
}

Pt2Archive::~Pt2Archive() = default;

bool Pt2Archive::has_record(const std::string& name) const {
  return std::find(state_->records.begin(), state_->records.end(), name) != state_->records.end();
}

std::vector<std::string> Pt2Archive::records_under(std::string_view prefix) const {
  std::vector<std::string> found;
  for (const std::string& name : state_->records) {
    if (std::string_view(name).starts_with(prefix)) found.push_back(name);
  }
  return found;
}

std::size_t Pt2Archive::checked_size(const std::string& name) const {
  if (!has_record(name))
    fail("the archive has no record '" + printable(name) + "'", "", kFixArchive);
  const std::size_t size = state_->reader->getRecordSize(name);
  // Deflate cannot expand by more than about 1032; a larger claim would only exhaust memory.
  if (size / 1040 > state_->file->size()) {
    fail("record '" + printable(name) + "' claims an impossible size", std::to_string(size),
         kFixArchive);
  }
  return size;
}

std::string Pt2Archive::text(const std::string& name, std::size_t max_bytes) const {
  try {
    const std::size_t size = checked_size(name);
    if (size > max_bytes) {
      fail("record '" + printable(name) + "' is too large", std::to_string(size), kFixArchive);
    }
    std::string content(size, '\0');
    if (size > 0 && state_->reader->getRecord(name, content.data(), size) != size) {
      fail("record '" + printable(name) + "' is truncated", "", kFixArchive);
    }
    return content;
  } catch (const c10::Error&) {
    fail("record '" + printable(name) + "' is damaged", "", kFixArchive);
  }
}

Pt2Archive::Bytes Pt2Archive::bytes(const std::string& name) const {
  try {
    Bytes result;
    result.size = checked_size(name);
    const MappedFile& file = *state_->file;
    const std::size_t header = state_->reader->getRecordHeaderOffset(name);
    const std::size_t offset = state_->reader->getRecordOffset(name);
    const bool header_inside = header <= file.size() && file.size() - header >= 30;
    // Bytes 8 and 9 of a zip local header: the compression method, 0 for stored.
    const bool stored =
        header_inside && file.data()[header + 8] == 0 && file.data()[header + 9] == 0;
    if (stored) {
      if (offset > file.size() || file.size() - offset < result.size) {
        fail("record '" + printable(name) + "' is truncated", "", kFixArchive);
      }
      if (offset % 16 == 0) {
        result.owner = state_->file;
        result.data = file.data() + offset;
        return result;
      }
    }
    HostTensor copy = HostTensor::empty(DType::kU8, {static_cast<std::int64_t>(result.size)});
    if (result.size > 0 && state_->reader->getRecord(name, copy.data, result.size) != result.size) {
      fail("record '" + printable(name) + "' is truncated", "", kFixArchive);
    }
    result.owner = copy.storage;
    result.data = copy.data;
    result.copied = true;
    return result;
  } catch (const c10::Error&) {
    fail("record '" + printable(name) + "' is damaged", "", kFixArchive);
  }
}

void Pt2Archive::fail(const std::string& message, const std::string& value,
                      const std::string& fix) const {
  throw UserError(Diagnostic{path_.string(), 0, 0, message, value, fix});
}

}  // namespace breakeven
