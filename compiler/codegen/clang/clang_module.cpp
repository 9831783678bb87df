#include <clang/Basic/DiagnosticOptions.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/codegen/clang/clang_abi.h"

LLD_HAS_DRIVER(elf)

namespace {

/// A private directory for the linker's files, removed with them.
class LinkDirectory {
 public:
  LinkDirectory() {
    const char* parent = std::getenv("TMPDIR");
    path_ = std::string(parent != nullptr && *parent != 0 ? parent : "/tmp") + "/breakeven-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~LinkDirectory() {
    if (path_.empty()) return;
    unlink(object_path().c_str());
    unlink(shared_path().c_str());
    rmdir(path_.c_str());
  }
  LinkDirectory(const LinkDirectory&) = delete;
  LinkDirectory& operator=(const LinkDirectory&) = delete;

  bool valid() const { return !path_.empty(); }
  std::string object_path() const { return path_ + "/kernel.o"; }
  std::string shared_path() const { return path_ + "/kernel.so"; }

 private:
  std::string path_;
};

bool write_bytes(const std::string& path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error) return false;
  stream << bytes;
  stream.close();
  const bool ok = !stream.has_error();
  stream.clear_error();
  return ok;
}

void register_target_once() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
}

bool compile_object(const BreakevenClangJob& job, llvm::SmallVectorImpl<char>& object,
                    std::string& message) {
  llvm::raw_string_ostream message_stream(message);
  auto* options = new clang::DiagnosticOptions();
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs(), options,
                                       new clang::TextDiagnosticPrinter(message_stream, options));

  const std::string triple = llvm::sys::getDefaultTargetTriple();
  std::vector<const char*> arguments = {"-triple", triple.c_str(), "-emit-obj", "-x", "c++"};
  arguments.insert(arguments.end(), job.cc1_arguments, job.cc1_arguments + job.cc1_argument_count);
  arguments.push_back("kernel.cpp");

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, diagnostics)) return false;
  auto source = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(job.source, job.source_size),
                                                     "kernel.cpp");
  invocation->getPreprocessorOpts().addRemappedFile("kernel.cpp", source.release());

  clang::CompilerInstance compiler;
  compiler.setInvocation(std::move(invocation));
  compiler.createDiagnostics(new clang::TextDiagnosticPrinter(message_stream, options));
  compiler.setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
  clang::EmitObjAction action;
  return compiler.ExecuteAction(action) && !object.empty();
}

bool link_shared(llvm::StringRef object, std::string& shared, std::string& message) {
  const LinkDirectory directory;
  const std::string input_path = directory.object_path();
  const std::string output_path = directory.shared_path();
  if (!directory.valid() || !write_bytes(input_path, object)) {
    message = "no temporary directory for the linker: set TMPDIR to a writable one";
    return false;
  }
  const std::vector<const char*> arguments = {
      "ld.lld",      "-shared",     "--threads=1", "--build-id=none",   "--hash-style=gnu", "-z",
      "noexecstack", "--strip-all", "-o",          output_path.c_str(), input_path.c_str()};
  llvm::raw_string_ostream stream(message);
  // The linker keeps its configuration in globals: one link at a time.
  static std::mutex linker;
  const std::lock_guard lock(linker);
  if (!lld::elf::link(arguments, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false)) {
    return false;
  }
  lld::CommonLinkerContext::destroy();
  auto buffer = llvm::MemoryBuffer::getFile(output_path);
  if (!buffer) {
    message = "the linker wrote no file: " + buffer.getError().message();
    return false;
  }
  shared = (*buffer)->getBuffer().str();
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int breakeven_clang_compile(
    const BreakevenClangJob* job) {
  register_target_once();
  llvm::SmallVector<char, 0> object;
  std::string message;
  std::string shared;
  const bool ok = compile_object(*job, object, message) &&
                  link_shared(llvm::StringRef(object.data(), object.size()), shared, message);
  if (ok) {
    job->take_object(job->context, shared.data(), shared.size());
    return 0;
  }
  job->take_message(job->context, message.data(), message.size());
  return 1;
}

extern "C" __attribute__((visibility("default"))) const char* breakeven_clang_version() {
  return LLVM_VERSION_STRING;
}
