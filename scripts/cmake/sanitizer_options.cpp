// Compiled into the programs of the asan preset alone; ASAN_OPTIONS and LSAN_OPTIONS still
// override.

/// LLVM gives each thread an alternate signal stack of its own, which the sanitizer would free with
/// its own.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "use_sigaltstack=0"; }

/// GCC 12's leak checker crashes in the thread-local storage of a module that was opened at run
/// time (the in-process compiler).
extern "C" const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() { return "use_tls=0"; }
