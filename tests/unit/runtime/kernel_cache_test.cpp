#include "compiler/runtime/kernel_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "compiler/runtime/kernel_file.h"
#include "compiler/support/files.h"

namespace breakeven {
namespace {

namespace fs = std::filesystem;

/// out[i] = in[i] + `addend` over f32.
std::string adder(int addend) {
  return "typedef long long be_i64;\n"
         "extern \"C\" void be_kernel(const void* const* in, void* const* out, const be_i64* sym,\n"
         "                          be_i64 begin, be_i64 end, void* scratch) {\n"
         "  const float* x = (const float*)in[0];\n"
         "  float* y = (float*)out[0];\n"
         "  for (be_i64 i = begin; i < end; ++i) y[i] = x[i] + " +
         std::to_string(addend) + ".0f;\n}\n";
}

float run_on(const CachedKernel& cached, float x) {
  float y = 0;
  const void* in[] = {&x};
  void* out[] = {&y};
  cached.kernel->entry()(in, out, nullptr, 0, 1, nullptr);
  return y;
}

/// Counts compiles; the code itself comes from a real driver.
class CountingDriver final : public Driver {
 public:
  explicit CountingDriver(Driver& inner) : inner_(inner) {}
  const std::string& identity() const override { return inner_.identity(); }
  const std::string& flags() const override { return inner_.flags(); }
  Result<std::string> compile(std::string_view source) override {
    ++compiles;
    return inner_.compile(source);
  }
  std::atomic<int> compiles = 0;

 private:
  Driver& inner_;
};

class KernelCacheTest : public testing::Test {
 protected:
  static std::unique_ptr<Driver> make(const std::string& name) {
    DriverOptions options;
    options.name = name;
    options.target = detect_cpu();
    return std::move(make_driver(options)).value();
  }
  KernelCache cache(const std::string& sub = "cache", std::int64_t limit = 1 << 30) {
    return KernelCache({.directory = directory_.path() / sub, .limit_bytes = limit}, driver_,
                       detect_cpu());
  }
  fs::path only_file(const std::string& sub = "cache") {
    fs::path found;
    for (const auto& file : fs::directory_iterator(directory_.path() / sub)) {
      EXPECT_TRUE(found.empty()) << "more than one file";
      found = file.path();
    }
    return found;
  }

  TempDir directory_;
  std::unique_ptr<Driver> real_ = make("auto");
  CountingDriver driver_{*real_};
};

TEST(Drivers, BothMakeTheSameArtefact) {
  for (const std::string name : {"clang", "system"}) {
    DriverOptions options;
    options.name = name;
    options.target = detect_cpu();
    Result<std::unique_ptr<Driver>> driver = make_driver(options);
    if (!driver.ok() && name == "clang") continue;  // Built without LLVM's development files.
    ASSERT_TRUE(driver.ok()) << driver.refusal().reason;
    const Result<std::string> object = driver.value()->compile(adder(2));
    ASSERT_TRUE(object.ok()) << name << ": " << object.refusal().reason;
    Result<std::shared_ptr<LoadedKernel>> kernel = LoadedKernel::load(object.value(), "be_kernel");
    ASSERT_TRUE(kernel.ok()) << kernel.refusal().reason;
    EXPECT_EQ(run_on({kernel.value(), CacheOutcome::kCompiled, {}}, 1), 3) << name;
  }
}

TEST(Drivers, ASourceThatDoesNotCompileIsARefusalWithTheMessage) {
  for (const std::string name : {"auto", "system"}) {
    DriverOptions options;
    options.name = name;
    options.target = detect_cpu();
    const auto driver = std::move(make_driver(options)).value();
    const Result<std::string> object = driver->compile("int f( {");
    ASSERT_FALSE(object.ok());
    EXPECT_EQ(object.refusal().code, "compiler_failed");
    EXPECT_NE(object.refusal().reason.find("error"), std::string::npos) << object.refusal().reason;
  }
}

fs::path write_script(const TempDir& directory, const std::string& name, const std::string& body) {
  const fs::path path = directory.path() / name;
  std::ofstream(path) << "#!/bin/sh\ncase \"$1\" in --version) echo fake 1; exit 0;; esac\n"
                      << body;
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

// B082, B090: no compiler, one that fails, crashes or hangs.
TEST(Drivers, ASystemCompilerThatMisbehavesIsARefusal) {
  const TempDir directory;
  const struct {
    const char* body;
    const char* code;
  } cases[] = {{"echo broken >&2; exit 1\n", "compiler_failed"},
               {"exit 0\n", "compiler_failed"},
               {"kill -SEGV $$\n", "compiler_crashed"},
               {"sleep 60\n", "compiler_timed_out"}};
  for (const auto& one : cases) {
    DriverOptions options;
    options.name = "system";
    options.system_compiler = write_script(directory, "cc", one.body).string();
    options.timeout = 300'000'000;
    const auto driver = std::move(make_driver(options)).value();
    const Nanos start = now_ns();
    const Result<std::string> object = driver->compile(adder(1));
    ASSERT_FALSE(object.ok());
    EXPECT_EQ(object.refusal().code, one.code) << object.refusal().reason;
    EXPECT_LT(now_ns() - start, 10'000'000'000);
  }
  DriverOptions missing;
  missing.name = "system";
  missing.system_compiler = "no-such-compiler";
  const auto none = make_driver(missing);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.refusal().code, "compiler_missing");
  EXPECT_NE(none.refusal().reason.find("install g++"), std::string::npos);
}

TEST_F(KernelCacheTest, MemoryThenDiskThenCompiler) {
  KernelCache first = cache();
  auto a = first.get(adder(1), "be_kernel");
  ASSERT_TRUE(a.ok()) << a.refusal().reason;
  EXPECT_EQ(a.value().outcome, CacheOutcome::kCompiled);
  EXPECT_NE(a.value().miss.find("no file"), std::string::npos) << a.value().miss;
  EXPECT_EQ(first.get(adder(1), "be_kernel").value().outcome, CacheOutcome::kMemory);
  KernelCache second = cache();
  auto b = second.get(adder(1), "be_kernel");
  EXPECT_EQ(b.value().outcome, CacheOutcome::kDisk);
  EXPECT_EQ(run_on(b.value(), 4), 5);
  EXPECT_EQ(driver_.compiles, 1);
}

TEST_F(KernelCacheTest, KeyHoldsTextEntryDriverAndTarget) {
  const KernelCache one = cache();
  const Hash128 key = one.key("text", "entry");
  EXPECT_NE(key, one.key("text2", "entry"));
  EXPECT_NE(key, one.key("text", "entry2"));
  EXPECT_NE(one.key("ab", "c"), one.key("a", "bc"));
  const auto other = make("system");
  const KernelCache by_other({}, *other, detect_cpu());
  if (other->identity() != driver_.identity()) {
    EXPECT_NE(key, by_other.key("text", "entry"));
  }
  CpuTarget target = detect_cpu();
  target.features.emplace_back("imaginary");
  EXPECT_NE(key, KernelCache({}, driver_, target).key("text", "entry"));
}

// B074: nothing of the process or its environment is in the key.
TEST_F(KernelCacheTest, KeyIgnoresTheEnvironment) {
  const Hash128 key = cache().key("text", "entry");
  ::setenv("MASTER_PORT", "29511", 1);
  ::setenv("HOSTNAME", "other", 1);
  EXPECT_EQ(key, cache("elsewhere").key("text", "entry"));
}

TEST_F(KernelCacheTest, BadFilesAreSetAsideCountedAndNeverLoaded) {
  const auto corrupt = [](std::string bytes) { return bytes.back() ^= 1, bytes; };
  const auto truncate = [](std::string bytes) { return bytes.substr(0, bytes.size() / 2); };
  const auto empty = [](std::string) { return std::string(); };
  const auto foreign = [](std::string) { return std::string(5000, 'x'); };
  const auto newer = [](std::string bytes) { return bytes[8] = 9, bytes; };
  const auto huge = [](std::string bytes) { return bytes.replace(16, 8, 8, '\xff'), bytes; };
  int round = 0;
  for (const std::function<std::string(std::string)>& damage :
       std::vector<std::function<std::string(std::string)>>{corrupt, truncate, empty, foreign,
                                                            newer, huge}) {
    const std::string sub = "cache" + std::to_string(round++);
    ASSERT_TRUE(cache(sub).get(adder(1), "be_kernel").ok());
    const fs::path file = only_file(sub);
    std::string bytes = damage(read_file(file));
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    KernelCache reader = cache(sub);
    auto again = reader.get(adder(1), "be_kernel");
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again.value().outcome, CacheOutcome::kCompiled) << round;
    EXPECT_NE(again.value().miss.find("set aside"), std::string::npos) << again.value().miss;
    EXPECT_EQ(reader.counters().bad_files, 1) << round;
    EXPECT_TRUE(fs::exists(file.string() + ".bad"));
    EXPECT_EQ(run_on(again.value(), 1), 2);
    EXPECT_EQ(cache(sub).get(adder(1), "be_kernel").value().outcome, CacheOutcome::kDisk);
  }
}

// B078: a file under the right name that holds another kernel is not believed.
TEST_F(KernelCacheTest, AFileOfAnotherKernelIsNotBelieved) {
  KernelCache writer = cache();
  ASSERT_TRUE(writer.get(adder(1), "be_kernel").ok());
  const fs::path one = only_file();
  const fs::path two = one.parent_path() / (writer.key(adder(2), "be_kernel").to_hex() + ".kernel");
  fs::copy_file(one, two);
  KernelCache reader = cache();
  auto cached = reader.get(adder(2), "be_kernel");
  EXPECT_EQ(run_on(cached.value(), 1), 3);
  EXPECT_EQ(reader.counters().bad_files, 1);
}

// B076: what a killed writer leaves is no kernel file.
TEST_F(KernelCacheTest, ATemporaryOfAKilledWriterIsIgnored) {
  ASSERT_TRUE(cache().get(adder(1), "be_kernel").ok());
  const fs::path file = only_file();
  const std::string bytes = read_file(file);
  fs::remove(file);
  std::ofstream(file.string() + ".tmp-AbCdEf", std::ios::binary) << bytes.substr(0, 100);
  KernelCache reader = cache();
  EXPECT_EQ(reader.get(adder(1), "be_kernel").value().outcome, CacheOutcome::kCompiled);
  EXPECT_EQ(reader.counters().bad_files, 0);
}

// B080: the directory goes away between two uses; loaded kernels stay.
TEST_F(KernelCacheTest, DirectoryRemovedInUse) {
  KernelCache one = cache();
  auto loaded = one.get(adder(1), "be_kernel");
  fs::remove_all(directory_.path() / "cache");
  EXPECT_EQ(run_on(loaded.value(), 1), 2);
  auto next = one.get(adder(2), "be_kernel");
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(run_on(next.value(), 1), 3);
  EXPECT_EQ(cache().get(adder(2), "be_kernel").value().outcome, CacheOutcome::kDisk);
}

TEST_F(KernelCacheTest, ADirectoryThatCannotBeWrittenDegrades) {
  const fs::path blocker = directory_.path() / "file";
  std::ofstream(blocker) << "not a directory";
  KernelCache one({.directory = blocker / "cache"}, driver_, detect_cpu());
  auto kernel = one.get(adder(1), "be_kernel");
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ(run_on(kernel.value(), 1), 2);
  EXPECT_EQ(one.counters().unwritten, 1);
  EXPECT_FALSE(one.disk_trouble().empty());
}

TEST_F(KernelCacheTest, DirectoryStaysUnderItsLimitAndDropsTheOldest) {
  KernelCache first = cache();
  ASSERT_TRUE(first.get(adder(1), "be_kernel").ok());
  const auto size = static_cast<std::int64_t>(fs::file_size(only_file()));
  fs::last_write_time(only_file(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  KernelCache bounded = cache("cache", 2 * size + size / 2);
  ASSERT_TRUE(bounded.get(adder(2), "be_kernel").ok());
  ASSERT_TRUE(bounded.get(adder(3), "be_kernel").ok());
  EXPECT_EQ(bounded.counters().evicted_files, 1);
  EXPECT_EQ(cache().get(adder(1), "be_kernel").value().outcome, CacheOutcome::kCompiled);
  EXPECT_EQ(cache().get(adder(3), "be_kernel").value().outcome, CacheOutcome::kDisk);
}

TEST_F(KernelCacheTest, ManyThreadsThatAskForOneKernelCompileItOnce) {
  KernelCache one = cache();
  constexpr int kThreads = 64;
  std::barrier start(kThreads);
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      auto kernel = one.get(adder(7), "be_kernel");
      right += kernel.ok() && run_on(kernel.value(), 1) == 8;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, kThreads);
  EXPECT_EQ(driver_.compiles, 1);
}

TEST_F(KernelCacheTest, ProcessesThatShareADirectoryAllGetTheRightKernel) {
  constexpr int kProcesses = 4;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool right = true;
      KernelCache mine = cache();
      for (int addend = 0; addend < 6; ++addend) {
        auto kernel = mine.get(adder(addend), "be_kernel");
        right &= kernel.ok() && run_on(kernel.value(), 1) == 1.0F + static_cast<float>(addend);
      }
      ::_exit(right && mine.counters().bad_files == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  int files = 0;
  for (const auto& file : fs::directory_iterator(directory_.path() / "cache")) {
    EXPECT_EQ(file.path().extension(), ".kernel") << file.path();
    ++files;
  }
  EXPECT_EQ(files, 6);
}

// The system's loader knows a library by its path, and a descriptor's number comes again.
TEST(LoadedKernel, TwoObjectsLoadedOneAfterTheOtherStayApart) {
  DriverOptions options;
  options.target = detect_cpu();
  const auto driver = std::move(make_driver(options)).value();
  std::vector<std::shared_ptr<LoadedKernel>> kernels;
  for (int addend = 0; addend < 4; ++addend) {
    kernels.push_back(
        LoadedKernel::load(driver->compile(adder(addend)).value(), "be_kernel").value());
  }
  for (int addend = 0; addend < 4; ++addend) {
    EXPECT_EQ(run_on({kernels[static_cast<std::size_t>(addend)], CacheOutcome::kCompiled, {}}, 1),
              1.0F + static_cast<float>(addend));
  }
}

TEST(LoadedKernel, AnObjectWithoutTheEntryOrThatIsNoneIsRefused) {
  EXPECT_FALSE(LoadedKernel::load("garbage", "be_kernel").ok());
  DriverOptions options;
  options.target = detect_cpu();
  const auto driver = std::move(make_driver(options)).value();
  const Result<std::string> object = driver->compile(adder(1));
  ASSERT_TRUE(object.ok());
  const auto other = LoadedKernel::load(object.value(), "other");
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.refusal().code, "kernel_unloadable");
}

}  // namespace
}  // namespace breakeven
