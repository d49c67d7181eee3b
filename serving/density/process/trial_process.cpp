#include "serving/density/process/trial_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "serving/launch/instance/process_time.h"
#include "serving/launch/supervise/child_process.h"

namespace het::density {
namespace {

constexpr int kCannotRun = 127;
/// Beside a trial's own times: to start, to compile, to stop.
constexpr double kMostOtherS = 240;
constexpr double kMostEndS = 3;
constexpr size_t kMostReportBytes = size_t{256} << 20;

volatile std::sig_atomic_t stop_signal = 0;
std::array<struct sigaction, 3> previous_actions = {};
constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};

Failure cannot(std::string_view what) {
  return error(StatusCode::Internal, "cannot start a trial: {} fails: {}", what,
               std::strerror(errno));
}

/// Memory that the child reads as its standard input.
Result<serving::OwnedFd> order_file(const std::string& text) {
  serving::OwnedFd file(::memfd_create("order", MFD_CLOEXEC));
  if (!file.is_open()) return cannot("memfd_create");
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return cannot("writing its order");
    written += static_cast<size_t>(count);
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

[[noreturn]] void become_trial(const std::vector<std::string>& program, pid_t parent, int input,
                               int output) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotRun);
  for (const int number : kStopSignals) ::signal(number, SIG_DFL);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  if (program.empty()) {
    ::execl("/proc/self/exe", "hetero-density", "--trial", nullptr);
  } else {
    std::vector<char*> words;
    for (const std::string& word : program) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execvp(words.front(), words.data());
  }
  std::fprintf(stderr, "hetero density: cannot run %s: %s\n",
               program.empty() ? "/proc/self/exe" : program.front().c_str(), std::strerror(errno));
  std::fflush(stderr);
  ::_exit(kCannotRun);
}

/// A child that is killed with its group when nobody has waited for it.
class TrialChild {
 public:
  explicit TrialChild(pid_t pid) : pid_(pid) {}
  ~TrialChild() {
    if (!status_) end();
  }
  TrialChild(const TrialChild&) = delete;
  TrialChild& operator=(const TrialChild&) = delete;

  bool has_ended() {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
    return status_.has_value();
  }

  void end() {
    ::kill(-pid_, SIGTERM);
    wait(kMostEndS);
    if (status_) return;
    ::kill(-pid_, SIGKILL);
    int status = 0;
    if (::waitpid(pid_, &status, 0) == pid_) status_ = status;
  }

  void wait(double most_s) {
    const double limit_s = serving::wall_time_s() + most_s;
    while (!has_ended() && serving::wall_time_s() < limit_s) ::usleep(10000);
  }

  std::string end_text() const {
    if (!status_) return "it runs";
    return serving::end_text(*status_);
  }

 private:
  pid_t pid_;
  std::optional<int> status_;
};

enum class ReadEnd { Done, Stopped, TooLate, TooLong };

ReadEnd read_output(int fd, std::string& text, double give_up_s, double limit_s) {
  std::array<char, size_t{64} << 10> bytes;
  while (true) {
    const double now_s = serving::wall_time_s();
    if (StopFlag::is_set() || now_s >= limit_s) return ReadEnd::Stopped;
    if (now_s >= give_up_s) return ReadEnd::TooLate;
    if (text.size() > kMostReportBytes) return ReadEnd::TooLong;
    pollfd polled = {fd, POLLIN, 0};
    if (::poll(&polled, 1, 100) <= 0) continue;
    const ssize_t count = ::read(fd, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return ReadEnd::Done;
    text.append(bytes.data(), static_cast<size_t>(count));
  }
}

/// The report is the last line; others are the program's own.
std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of("\n \r");
  if (end == std::string::npos) return "";
  const size_t before = text.rfind('\n', end);
  const size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, end - begin + 1);
}

void take_stop(int number) {
  stop_signal = number;
}

}  // namespace

StopFlag::StopFlag() {
  stop_signal = 0;
  struct sigaction action = {};
  action.sa_handler = take_stop;
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    ::sigaction(kStopSignals[i], nullptr, &previous_actions[i]);
    // nohup
    if (kStopSignals[i] == SIGHUP && previous_actions[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kStopSignals[i], &action, nullptr);
  }
}

StopFlag::~StopFlag() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    ::sigaction(kStopSignals[i], &previous_actions[i], nullptr);
  }
}

bool StopFlag::is_set() {
  return stop_signal != 0;
}

Result<std::optional<TrialReport>> run_trial_process(const std::vector<std::string>& program,
                                                     const TrialOrder& order, double limit_s) {
  HET_ASSIGN(const serving::OwnedFd input, order_file(order.to_json()));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot("pipe");
  const serving::OwnedFd output(ends[0]);
  serving::OwnedFd child_output(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot("fork");
  if (pid == 0) become_trial(program, parent, input.get(), child_output.get());
  ::setpgid(pid, pid);  // whoever comes first
  child_output.reset();
  TrialChild child(pid);
  const double most_s = order.warmup_s + order.window_s + order.lost_after_s + kMostOtherS;
  std::string text;
  const ReadEnd read_end =
      read_output(output.get(), text, serving::wall_time_s() + most_s, limit_s);
  if (read_end == ReadEnd::Stopped) return std::optional<TrialReport>();
  const std::string what = program.empty() ? "the trial" : fmt::format("'{}'", program.front());
  if (read_end != ReadEnd::Done) {
    return error(StatusCode::TimedOut, "{} of {} streams has no report {}", what, order.streams,
                 read_end == ReadEnd::TooLate ? fmt::format("after {:.0f} s", most_s)
                                              : fmt::format("in {} bytes", text.size()));
  }
  child.wait(kMostEndS);
  const std::string line = last_line(text);
  if (line.empty()) {
    if (!child.has_ended()) child.end();
    return error(StatusCode::Internal, "{} of {} streams ended without a report ({})", what,
                 order.streams, child.end_text());
  }
  HET_ASSIGN(TrialReport report, TrialReport::parse(line));
  if (!report.error.empty()) return error(StatusCode::InvalidArgument, "{}", report.error);
  if (report.streams.size() != order.streams) {
    return error(StatusCode::ParseError, "{} reports {} streams, not the {} that it was to run",
                 what, report.streams.size(), order.streams);
  }
  return std::optional<TrialReport>(std::move(report));
}

}  // namespace het::density
