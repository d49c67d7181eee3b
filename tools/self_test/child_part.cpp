#include "tools/self_test/child_part.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

extern char** environ;

namespace het::self_test {
namespace {

using PartClock = std::chrono::steady_clock;

constexpr auto kAsleep = std::chrono::seconds(2);
constexpr size_t kMostSaid = 1000;
constexpr size_t kMostLine = size_t{1} << 20;

struct PartPipe {
  std::array<int, 2> ends{-1, -1};
  PartPipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~PartPipe() {
    close_end(0);
    close_end(1);
  }
  PartPipe(const PartPipe&) = delete;
  PartPipe& operator=(const PartPipe&) = delete;
  void close_end(size_t end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  /// Appends what is there.
  void read_to(std::string& text) const {
    std::array<char, 4096> block;
    ssize_t count = 0;
    while ((count = ::read(ends[0], block.data(), block.size())) > 0) {
      text.append(block.data(), static_cast<size_t>(count));
    }
  }
};

/// Starts the child in a process group of its own. Returns 0 and an error number where it cannot.
pid_t start(const std::vector<std::string>& arguments, const PartPipe& events,
            const PartPipe& prints, int& failed) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, prints.ends[1], 1);
  posix_spawn_file_actions_adddup2(&files, prints.ends[1], 2);
  posix_spawn_file_actions_adddup2(&files, events.ends[1], kEventsFile);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  failed = ::posix_spawn(&child, "/proc/self/exe", &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0 ? child : 0;
}

/// The end of a process, where it comes soon: one that waits in a driver cannot even be killed.
std::optional<int> end_of(pid_t child, std::chrono::milliseconds within) {
  const auto until = PartClock::now() + within;
  do {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || ended < 0) return ended == child ? status : 0;
    if (within.count() > 0) ::usleep(5000);
  } while (PartClock::now() < until);
  return std::nullopt;
}

/// Takes whole lines out of `pending`; true when there was one.
bool take_lines(std::string& pending, PartOutcome& outcome,
                const std::function<void(const std::string&)>& begun) {
  bool any = false;
  size_t end = 0;
  while ((end = pending.find('\n')) != std::string::npos) {
    const nlohmann::json line = nlohmann::json::parse(pending.substr(0, end), nullptr, false);
    pending.erase(0, end + 1);
    any = true;
    if (!line.is_object()) continue;
    if (line.contains("begin") && line["begin"].is_string()) {
      outcome.doing = line["begin"].get<std::string>();
      begun(outcome.doing);
    }
    if (line.contains("result")) outcome.results.push_back(line["result"]);
    if (line.contains("end")) outcome.complete = true;
  }
  if (pending.size() > kMostLine) pending.clear();
  return any;
}

std::string problem_of(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("the driver crashed (signal {}, {})", number, ::strsignal(number));
  }
  return fmt::format("the driver ended the process (exit status {})", WEXITSTATUS(status));
}

}  // namespace

PartOutcome run_part_in_child(const std::vector<std::string>& before,
                              const std::vector<std::string>& words, const PartLimits& limits,
                              const std::function<void(const std::string&)>& begun) {
  PartOutcome outcome;
  PartPipe events;
  PartPipe prints;
  if (events.ends[0] < 0 || prints.ends[0] < 0) {
    outcome.problem = "cannot make a pipe to a process of its own";
    return outcome;
  }
  std::vector<std::string> arguments{"hetero"};
  arguments.insert(arguments.end(), before.begin(), before.end());
  arguments.insert(arguments.end(), {"devices", "--self-test-part"});
  arguments.insert(arguments.end(), words.begin(), words.end());
  int failed = 0;
  const pid_t child = start(arguments, events, prints, failed);
  if (child == 0) {
    outcome.problem = fmt::format("cannot start a process of its own: {}", std::strerror(failed));
    return outcome;
  }
  events.close_end(1);
  prints.close_end(1);
  auto begin = PartClock::now();
  auto last_event = begin;
  auto last_look = begin;
  std::string pending;
  std::optional<int> status;
  while (!status) {
    std::array<pollfd, 1> waits{{{events.ends[0], POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), 20);
    // A closed pipe is always ready.
    if ((waits[0].revents & POLLIN) == 0 && (waits[0].revents & POLLHUP) != 0) ::usleep(5000);
    status = end_of(child, std::chrono::milliseconds(0));
    events.read_to(pending);
    prints.read_to(outcome.said);
    if (outcome.said.size() > kMostSaid) {
      outcome.said.erase(0, outcome.said.size() - kMostSaid);
    }
    const auto now = PartClock::now();
    // A machine that slept, or did not let this process run, took that time from the child, too.
    if (now - last_look > kAsleep) {
      begin += now - last_look;
      last_event += now - last_look;
    }
    last_look = now;
    if (take_lines(pending, outcome, begun)) last_event = now;
    if (status) break;
    const double silent = std::chrono::duration<double>(now - last_event).count();
    const double total = std::chrono::duration<double>(now - begin).count();
    // What a driver does after the last line counts as well, but not for long.
    const double allowed = outcome.complete ? 5.0 : limits.silence_s;
    if (silent < allowed && total < limits.total_s) continue;
    ::kill(-child, SIGKILL);
    const bool ended = end_of(child, std::chrono::seconds(2)).has_value();
    if (outcome.complete) {
      outcome.problem = "the driver hangs when it is closed";
    } else if (total >= limits.total_s) {
      outcome.problem = fmt::format("it took more than {:.0f} s and was stopped", limits.total_s);
    } else {
      outcome.problem = fmt::format("the driver hangs (no answer for {:.0f} s)", silent);
    }
    if (!ended) outcome.problem += "; the process cannot be ended";
    outcome.complete = false;
    return outcome;
  }
  ::kill(-child, SIGKILL);  // what it has started
  if (*status != 0 || !outcome.complete) {
    outcome.problem = problem_of(*status);
    if (outcome.complete && WIFSIGNALED(*status)) outcome.problem += " when it was closed";
    outcome.complete = false;
  }
  if (outcome.problem.empty()) outcome.said.clear();
  return outcome;
}

}  // namespace het::self_test
