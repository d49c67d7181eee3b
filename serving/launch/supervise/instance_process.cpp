#include "serving/launch/supervise/instance_process.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "serving/launch/supervise/pipe_lines.h"

namespace het::serving {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace

Result<std::unique_ptr<InstanceProcess>> InstanceProcess::start(const Job& job,
                                                                const ChildPlace& place,
                                                                std::string prefix,
                                                                TakeReport take_report,
                                                                TakeLine take_line) {
  HET_ASSIGN(ChildProcess child, ChildProcess::start(kThisProgram, job.to_json(), place));
  return std::unique_ptr<InstanceProcess>(new InstanceProcess(
      std::move(child), std::move(prefix), std::move(take_report), std::move(take_line)));
}

InstanceProcess::InstanceProcess(ChildProcess child, std::string prefix, TakeReport take_report,
                                 TakeLine take_line)
    : child_(std::move(child)),
      prefix_(std::move(prefix)),
      take_report_(std::move(take_report)),
      take_line_(std::move(take_line)) {}

InstanceProcess::~InstanceProcess() {
  if (!is_running()) return;
  signal(SIGKILL);
  ::waitpid(child_.pid, nullptr, 0);
}

void InstanceProcess::signal(int number) const {
  if (is_running()) ::kill(child_.pid, number);
}

void InstanceProcess::add_to(std::vector<pollfd>& polled) const {
  for (const OwnedFd* fd : {&child_.output, &child_.errors, &child_.reports}) {
    if (fd->is_open()) polled.push_back({fd->get(), POLLIN, 0});
  }
}

void InstanceProcess::read() {
  const auto print_to = [this](std::FILE* stream) {
    return [this, stream](std::string_view line) {
      if (take_line_) return take_line_(line);
      // One write a line, so that lines of several instances do not mix.
      const std::string text = fmt::format("{}{}\n", prefix_, line);
      std::fwrite(text.data(), 1, text.size(), stream);
      std::fflush(stream);
    };
  };
  take_lines(child_.output, output_, print_to(stdout));
  take_lines(child_.errors, errors_, print_to(stderr));
  take_lines(child_.reports, reports_, [this](std::string_view line) {
    const Result<Report> report = Report::parse(line);
    if (report) {
      take_report_(*report);
    } else {
      std::fprintf(stderr, "%sits report is not understood: %s\n", prefix_.c_str(),
                   report.error().message().c_str());
    }
  });
}

bool InstanceProcess::has_ended() {
  if (status_) return true;
  int status = 0;
  const pid_t pid = ::waitpid(child_.pid, &status, WNOHANG);
  if (pid != child_.pid) return false;
  read();  // what it wrote before
  status_ = status;
  return true;
}

std::optional<int> InstanceProcess::exit_status() const {
  if (!status_ || !WIFEXITED(*status_)) return std::nullopt;
  return WEXITSTATUS(*status_);
}

std::string InstanceProcess::end_text() const {
  if (!status_) return "running";
  return serving::end_text(*status_);
}

bool wait_for_processes(const std::vector<InstanceProcess*>& processes, int most_ms, int also) {
  std::vector<pollfd> polled;
  if (also >= 0) polled.push_back({also, POLLIN, 0});
  for (const InstanceProcess* process : processes) process->add_to(polled);
  ::poll(polled.data(), polled.size(), most_ms);
  for (InstanceProcess* process : processes) process->read();
  return also >= 0 && (polled.front().revents & POLLIN) != 0;
}

}  // namespace het::serving
