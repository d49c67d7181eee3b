#include "serving/launch/supervise/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "inference/machine/process_binding.h"

namespace het::serving {
namespace {

Failure failed(std::string_view what) {
  return error(StatusCode::Internal, "cannot start an instance: {} fails: {}", what,
               std::strerror(errno));
}

struct Pipe {
  OwnedFd read;
  OwnedFd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return failed("pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{OwnedFd(ends[0]), OwnedFd(ends[1])};
}

/// Memory that a child reads as a file: jobs are longer than command lines may be.
Result<OwnedFd> job_file(const std::string& job) {
  OwnedFd file(::memfd_create("job", MFD_CLOEXEC));
  if (!file.is_open()) return failed("memfd_create");
  size_t written = 0;
  while (written < job.size()) {
    const ssize_t count = ::write(file.get(), job.data() + written, job.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("writing its job");
    written += static_cast<size_t>(count);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

void stay_open(int fd) {
  ::fcntl(fd, F_SETFD, 0);
}

void say_as_child(const std::string& text) {
  const std::string line = "hetero launch: " + text + "\n";
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, line.data(), line.size());
}

/// In the child: its process group, signals, standard streams and place. `input` of -1: nothing.
void prepare_child(const ChildPlace& place, pid_t parent, int input, int output, int errors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotRunInstance);  // it died before
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  const OwnedFd nothing(input < 0 ? ::open("/dev/null", O_RDONLY | O_CLOEXEC) : -1);
  ::dup2(input < 0 ? nothing.get() : input, STDIN_FILENO);
  if (!place.processors.empty()) {
    const Status bound = bind_processors(place.processors);
    if (!bound.ok()) {
      say_as_child(bound.message());
      ::_exit(kCannotRunInstance);
    }
  }
  if (!place.numa_nodes.empty()) {
    const Status bound = bind_memory(place.numa_nodes);
    if (!bound.ok())
      say_as_child(bound.message() + "; going on, memory comes from where threads run");
  }
}

/// In the child. Never returns.
[[noreturn]] void become_program(const std::string& program,
                                 const std::vector<std::string>& arguments) {
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(program.c_str(), words.data());
  say_as_child(fmt::format("cannot run {}: {}", program, std::strerror(errno)));
  ::_exit(kCannotRunInstance);
}

/// In the child. Never returns.
[[noreturn]] void become_instance(const std::string& program, int job, int reports) {
  stay_open(job);
  stay_open(reports);
  become_program(program,
                 {"hetero-launch", "--instance", std::to_string(job), std::to_string(reports)});
}

}  // namespace

std::string end_text(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exit status {}", WEXITSTATUS(wait_status));
  return fmt::format("signal {} ({})", WTERMSIG(wait_status), ::strsignal(WTERMSIG(wait_status)));
}

OwnedFd& OwnedFd::operator=(OwnedFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int OwnedFd::release() {
  return std::exchange(fd_, -1);
}

void OwnedFd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<ChildProcess> ChildProcess::start(const std::string& program, const std::string& job,
                                         const ChildPlace& place) {
  HET_ASSIGN(const OwnedFd job_fd, job_file(job));
  HET_ASSIGN(Pipe output, make_pipe());
  HET_ASSIGN(Pipe errors, make_pipe());
  HET_ASSIGN(Pipe reports, make_pipe());
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed("fork");
  if (pid == 0) {
    prepare_child(place, parent, -1, output.write.get(), errors.write.get());
    become_instance(program, job_fd.get(), reports.write.get());
  }
  ::setpgid(pid, pid);  // whoever comes first
  ChildProcess child;
  child.pid = pid;
  child.output = std::move(output.read);
  child.errors = std::move(errors.read);
  child.reports = std::move(reports.read);
  return child;
}

Result<ChildProcess> ChildProcess::start_with_input(const std::string& program,
                                                    const std::vector<std::string>& arguments,
                                                    const ChildPlace& place) {
  HET_ASSIGN(Pipe input, make_pipe());
  HET_ASSIGN(Pipe output, make_pipe());
  HET_ASSIGN(Pipe errors, make_pipe());
  // Of this one the parent has the other end.
  ::fcntl(input.read.get(), F_SETFL, 0);
  ::fcntl(input.write.get(), F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return failed("fork");
  if (pid == 0) {
    prepare_child(place, parent, input.read.get(), output.write.get(), errors.write.get());
    become_program(program, arguments);
  }
  ::setpgid(pid, pid);  // whoever comes first
  ChildProcess child;
  child.pid = pid;
  child.input = std::move(input.write);
  child.output = std::move(output.read);
  child.errors = std::move(errors.read);
  return child;
}

}  // namespace het::serving
