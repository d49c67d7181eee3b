#include "serving/archive/supervise/worker_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "serving/launch/supervise/pipe_lines.h"

namespace het::archive {
namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(
    const std::vector<std::string>& arguments, const serving::ChildPlace& place,
    TakeAnswer take_answer) {
  std::vector<std::string> words = {"hetero-archive"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  HET_ASSIGN(serving::ChildProcess child,
             serving::ChildProcess::start_with_input(kThisProgram, words, place));
  return std::unique_ptr<WorkerProcess>(
      new WorkerProcess(std::move(child), std::move(take_answer)));
}

WorkerProcess::WorkerProcess(serving::ChildProcess child, TakeAnswer take_answer)
    : child_(std::move(child)), take_answer_(std::move(take_answer)) {}

WorkerProcess::~WorkerProcess() {
  if (!is_running()) return;
  signal(SIGKILL);
  ::waitpid(child_.pid, nullptr, 0);
}

void WorkerProcess::order(const std::string& key) {
  orders_ += order_line(key);
}

void WorkerProcess::end_input() {
  ends_input_ = true;
}

void WorkerProcess::signal(int number) const {
  if (is_running()) ::kill(child_.pid, number);
}

void WorkerProcess::add_to(std::vector<pollfd>& polled) const {
  for (const serving::OwnedFd* fd : {&child_.output, &child_.errors}) {
    if (fd->is_open()) polled.push_back({fd->get(), POLLIN, 0});
  }
  if (child_.input.is_open() && !orders_.empty())
    polled.push_back({child_.input.get(), POLLOUT, 0});
}

void WorkerProcess::serve() {
  while (child_.input.is_open() && !orders_.empty()) {
    const ssize_t count = ::write(child_.input.get(), orders_.data(), orders_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) {
      child_.input.reset();  // it has ended
    } else {
      orders_.erase(0, static_cast<size_t>(count));
    }
  }
  if (ends_input_ && orders_.empty()) child_.input.reset();
  serving::take_lines(child_.output, answers_, [this](std::string_view line) {
    last_heard_ = Clock::now();
    const Result<WorkerAnswer> answer = WorkerAnswer::parse(line);
    if (answer) return take_answer_(*answer);
    std::fprintf(stderr, "hetero archive: what a worker says is not understood: %s\n",
                 answer.error().message().c_str());
  });
  serving::take_lines(child_.errors, errors_, [](std::string_view line) {
    const std::string text = std::string(line) + "\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
  });
}

bool WorkerProcess::has_ended() {
  if (status_) return true;
  int status = 0;
  if (::waitpid(child_.pid, &status, WNOHANG) != child_.pid) return false;
  serve();  // what it wrote before
  status_ = status;
  return true;
}

std::optional<int> WorkerProcess::exit_status() const {
  if (!status_ || !WIFEXITED(*status_)) return std::nullopt;
  return WEXITSTATUS(*status_);
}

std::string WorkerProcess::end_text() const {
  if (!status_) return "it runs";
  return serving::end_text(*status_);
}

}  // namespace het::archive
