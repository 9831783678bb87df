#include "compiler/codegen/clang_driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "compiler/codegen/clang/clang_abi.h"
#include "compiler/support/files.h"
#include "compiler/support/text.h"

namespace breakeven {
namespace {

constexpr const char* kModuleName = "breakeven_clang.so";

/// Arguments of clang -cc1: the vectorisers that the -O3 of clang's own command line turns on must
/// be named here, and contraction is off so that a result never depends on what was fused.
std::vector<std::string> cc1_arguments(const CpuTarget& target) {
  std::vector<std::string> arguments = {"-std=c++17",
                                        "-O3",
                                        "-vectorize-loops",
                                        "-vectorize-slp",
                                        "-fopenmp-simd",
                                        "-ffp-contract=off",
                                        "-fwrapv",
                                        "-mrelocation-model",
                                        "pic",
                                        "-pic-level",
                                        "2",
                                        "-nostdsysteminc",
                                        "-target-cpu",
                                        target.cpu};
  for (const std::string& feature : target.features) {
    arguments.emplace_back("-target-feature");
    arguments.push_back('+' + feature);
  }
  return arguments;
}

class ClangDriver final : public Driver {
 public:
  ClangDriver(std::string module, const CpuTarget& target)
      : module_(std::move(module)), arguments_(cc1_arguments(target)) {
    flags_ = join(arguments_, " ");
  }

  const std::string& identity() const override { return identity_; }
  const std::string& flags() const override { return flags_; }

  Result<std::string> compile(std::string_view source) override {
    std::call_once(opened_, [this] { open(); });
    if (compile_ == nullptr) return Refusal{"compiler_missing", trouble_};
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments_) pointers.push_back(argument.c_str());
    struct Answer {
      std::string object;
      std::string message;
    } answer;
    BreakevenClangJob job{};
    job.source = source.data();
    job.source_size = source.size();
    job.cc1_arguments = pointers.data();
    job.cc1_argument_count = pointers.size();
    job.context = &answer;
    job.take_object = [](void* context, const char* bytes, std::size_t size) {
      static_cast<Answer*>(context)->object.assign(bytes, size);
    };
    job.take_message = [](void* context, const char* text, std::size_t size) {
      static_cast<Answer*>(context)->message.assign(text, size);
    };
    if (compile_(&job) != 0) {
      return Refusal{"compiler_failed", identity_ + ": " + printable(answer.message, 2000)};
    }
    return std::move(answer.object);
  }

 private:
  void open() {
    // The handle is never closed: LLVM registers destructors that must find its code.
    void* handle = ::dlopen(module_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      trouble_ = std::string("the in-process compiler does not load: ") + ::dlerror();
      return;
    }
    compile_ =
        reinterpret_cast<BreakevenClangCompile>(::dlsym(handle, BREAKEVEN_CLANG_COMPILE_SYMBOL));
    if (compile_ == nullptr) trouble_ = module_ + " is not the in-process compiler";
  }

  std::string module_;
  std::string identity_ = std::string("clang ") + BREAKEVEN_CLANG_BUILD_VERSION + " (in process)";
  std::vector<std::string> arguments_;
  std::string flags_;
  std::once_flag opened_;
  BreakevenClangCompile compile_ = nullptr;
  std::string trouble_;
};

}  // namespace

std::string clang_module_path() {
  const char* directory = std::getenv("BREAKEVEN_PLUGIN_DIR");
  const std::filesystem::path parent = directory != nullptr && *directory != '\0'
                                           ? std::filesystem::path(directory)
                                           : executable_path().parent_path();
  const std::filesystem::path module = parent / kModuleName;
  return ::access(module.c_str(), R_OK) == 0 ? module.string() : std::string();
}

Result<std::unique_ptr<Driver>> make_clang_driver(const DriverOptions& options) {
  std::string module = clang_module_path();
  if (module.empty()) {
    return Refusal{"compiler_missing",
                   std::string("the in-process compiler (") + kModuleName +
                       ") is not beside the program: build with LLVM 19's development packages"};
  }
  return std::unique_ptr<Driver>(std::make_unique<ClangDriver>(std::move(module), options.target));
}

}  // namespace breakeven
