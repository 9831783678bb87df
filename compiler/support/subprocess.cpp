#include "compiler/support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/support/text.h"

extern char** environ;

namespace breakeven {
namespace {

constexpr std::size_t kCaptureLimit = std::size_t{16} << 20;
constexpr int kPollMs = 50;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  void close_write() { close_end(write_end); }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }

 private:
  static void close_end(int& fd) {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

std::vector<std::string> merged_environment(const std::vector<std::string>& overrides) {
  std::vector<std::string> merged = overrides;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view inherited = *entry;
    const std::string_view key = inherited.substr(0, inherited.find('=') + 1);
    bool overridden = false;
    for (const std::string& one : overrides) overridden |= one.starts_with(key);
    if (!overridden) merged.emplace_back(inherited);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& text : strings) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// In the child: only async-signal-safe calls. Writes errno to `report` when exec fails.
[[noreturn]] void become(char* const* argv, char* const* env, const char* directory, int out,
                         int err, int report, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  if (*directory == '\0' || ::chdir(directory) == 0) ::execvpe(argv[0], argv, env);
  const int error = errno;
  [[maybe_unused]] const ssize_t sent = ::write(report, &error, sizeof error);
  ::_exit(127);
}

/// Appends what is readable; keeps the tail. Returns false at end of file.
bool drain(int fd, std::string& into) {
  char block[1 << 15];
  const ssize_t got = ::read(fd, block, sizeof block);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  into.append(block, static_cast<std::size_t>(got));
  if (into.size() > 2 * kCaptureLimit) into.erase(0, into.size() - kCaptureLimit);
  return true;
}

using Ending = SubprocessResult::Ending;

/// Reads both streams until the child is gone; kills its group on time-out or interruption.
void attend(pid_t child, Pipe& out, Pipe& err, const SubprocessOptions& options,
            SubprocessResult& result, int& status, rusage& usage) {
  bool out_open = true;
  bool err_open = true;
  bool exited = false;
  Ending forced = Ending::kExited;
  const auto check_limits = [&] {
    if (forced != Ending::kExited) return;
    if (options.interrupted != nullptr && options.interrupted->load()) {
      forced = Ending::kInterrupted;
    } else if (options.timeout > 0 && now_ns() - result.started_at > options.timeout) {
      forced = Ending::kTimedOut;
    }
    if (forced != Ending::kExited) ::kill(-child, SIGKILL);
  };
  while (!exited) {
    pollfd watched[2] = {{out_open ? out.read_end : -1, POLLIN, 0},
                         {err_open ? err.read_end : -1, POLLIN, 0}};
    // With both streams closed the child may still run; poll then only paces the wait.
    ::poll(watched, 2, kPollMs);
    if (out_open && watched[0].revents != 0) out_open = drain(out.read_end, result.standard_output);
    if (err_open && watched[1].revents != 0) err_open = drain(err.read_end, result.standard_error);
    check_limits();
    exited = ::wait4(child, &status, WNOHANG, &usage) == child;
  }
  ::kill(-child, SIGKILL);  // Grandchildren must not outlive the trial, nor hold the pipes open.
  for (Pipe* pipe : {&out, &err}) {
    std::string& text = pipe == &out ? result.standard_output : result.standard_error;
    ::fcntl(pipe->read_end, F_SETFL, O_NONBLOCK);
    for (std::size_t before = SIZE_MAX; text.size() != before;) {
      before = text.size();
      if (!drain(pipe->read_end, text)) break;
    }
    if (text.size() > kCaptureLimit) text.erase(0, text.size() - kCaptureLimit);
  }
  if (forced != Ending::kExited) {
    result.ending = forced;
  } else if (WIFSIGNALED(status)) {
    result.ending = Ending::kSignalled;
    result.signal = WTERMSIG(status);
  } else {
    result.ending = Ending::kExited;
    result.exit_code = WEXITSTATUS(status);
  }
}

}  // namespace

std::string SubprocessResult::describe() const {
  switch (ending) {
    case Ending::kExited:
      return "exited with " + std::to_string(exit_code);
    case Ending::kSignalled: {
      const char* abbreviation = ::sigabbrev_np(signal);
      return std::string("killed by SIG") +
             (abbreviation != nullptr ? abbreviation : std::to_string(signal).c_str());
    }
    case Ending::kTimedOut:
      return "timed out";
    case Ending::kInterrupted:
      return "interrupted";
    case Ending::kNotStarted:
      break;
  }
  return "could not be started: " + standard_error;
}

SubprocessResult run_subprocess(const SubprocessOptions& options) {
  SubprocessResult result;
  Pipe out;
  Pipe err;
  Pipe report;
  if (options.argv.empty() || !out.open() || !err.open() || !report.open()) {
    result.standard_error = options.argv.empty() ? "empty command" : std::strerror(errno);
    return result;
  }
  std::vector<std::string> arguments = options.argv;
  std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> env = pointers(environment);
  const std::string directory = options.working_directory.string();
  const pid_t parent = ::getpid();
  result.started_at = now_ns();
  const pid_t child = ::fork();
  if (child < 0) {
    result.standard_error = std::strerror(errno);
    return result;
  }
  if (child == 0) {
    become(argv.data(), env.data(), directory.c_str(), out.write_end, err.write_end,
           report.write_end, parent);
  }
  ::setpgid(child, child);
  out.close_write();
  err.close_write();
  report.close_write();
  int exec_error = 0;
  ssize_t reported = 0;
  do {
    reported = ::read(report.read_end, &exec_error, sizeof exec_error);
  } while (reported < 0 && errno == EINTR);
  int status = 0;
  rusage usage{};
  attend(child, out, err, options, result, status, usage);
  result.peak_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  if (reported == static_cast<ssize_t>(sizeof exec_error)) {
    result.ending = Ending::kNotStarted;
    result.standard_error = options.argv[0] + ": " + std::strerror(exec_error);
  }
  return result;
}

}  // namespace breakeven
