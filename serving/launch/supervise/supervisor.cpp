#include "serving/launch/supervise/supervisor.h"

#include <fmt/format.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>

#include "serving/launch/plan/number_list.h"
#include "serving/launch/set_aside.h"

namespace het::serving {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};
constexpr seconds kStatusPeriod{1};
/// An instance ends by itself after its stop timeout; one that does not is killed this much later.
constexpr seconds kKillDelay{5};
constexpr seconds kKillSoon{3};

void say(const std::string& text) {
  std::fprintf(stderr, "hetero launch: %s\n", text.c_str());
}

template <class Duration>
double in_seconds(Duration time) {
  return duration<double>(time).count();
}

/// From now on these come by the descriptor, and only there.
OwnedFd receive_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kStopSignals) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // whoever reads our lines may go
  return OwnedFd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

}  // namespace

struct Supervisor::Instance {
  Instance(InstanceOrder given, const BackOff& back_off)
      : order(std::move(given)), retry(back_off) {}

  InstanceOrder order;
  Retry retry;
  State state = State::Starting;
  std::unique_ptr<InstanceProcess> process;
  size_t runs = 0;
  bool has_begun = false;  ///< this run: a stream plays, or waits for what may come back
  Clock::time_point started;
  Clock::time_point played;  ///< of this run
  Clock::time_point next_start;
  std::string last_end;
  Progress progress;  ///< of this run
  Clock::time_point progress_at;
  double frames_per_s = 0;
  uint64_t earlier_frames = 0;  ///< of runs before

  const std::string& name() const { return order.job.instance; }

  uint64_t run_frames() const {
    uint64_t frames = 0;
    for (const Progress::Stream& stream : progress.streams) frames += stream.frames;
    return frames;
  }
};

Supervisor::Supervisor(const LaunchSettings& settings, std::vector<InstanceOrder> orders,
                       std::unique_ptr<StatusFile> status_file)
    : settings_(settings),
      status_file_(std::move(status_file)),
      signals_(receive_signals()),
      begin_(Clock::now()),
      next_status_(begin_) {
  for (InstanceOrder& order : orders) {
    order.job.number = instances_.size();
    instances_.push_back(std::make_unique<Instance>(std::move(order), settings.back_off));
  }
}

Supervisor::~Supervisor() = default;

const char* Supervisor::state_name(State state) {
  switch (state) {
    case State::Starting:
      return "starting";
    case State::Playing:
      return "playing";
    case State::Waiting:
      return "waiting";
    case State::Ended:
      return "ended";
    case State::Failed:
      return "failed";
  }
  return "";
}

int Supervisor::run() {
  for (const auto& instance : instances_) start(*instance);
  while (!is_done()) {
    std::vector<InstanceProcess*> running;
    for (const auto& instance : instances_) {
      if (instance->process) running.push_back(instance->process.get());
    }
    if (wait_for_processes(running, milliseconds_to_wait(Clock::now()), signals_.get())) {
      take_signals();
    }
    for (const auto& instance : instances_) {
      if (instance->process && instance->process->has_ended()) take_end(*instance);
    }
    tick(Clock::now());
  }
  const bool has_failed = std::ranges::any_of(
      instances_, [](const auto& instance) { return instance->state == State::Failed; });
  return has_failed ? 1 : 0;
}

void Supervisor::start(Instance& instance) {
  // What an earlier run has written stays; the first one writes as gst-launch-1.0 would.
  if (instance.runs > 0) {
    for (const std::string& file : instance.order.written_files) {
      const auto kept = set_aside(file);
      if (!kept) {
        say(kept.error().message());
        continue;
      }
      for (const std::string& name : *kept) {
        say(fmt::format("instance {}: what its run before wrote is kept as '{}'", instance.name(),
                        name));
      }
    }
  }
  instance.order.job.restarts = instance.runs;
  const ChildPlace place{instance.order.plan.processors, instance.order.plan.numa_nodes};
  auto process = InstanceProcess::start(
      instance.order.job, place, fmt::format("[{}] ", instance.name()),
      [this, &instance](const Report& report) { take_report(instance, report); });
  instance.earlier_frames += instance.run_frames();
  instance.progress = {};
  instance.frames_per_s = 0;
  instance.has_begun = false;
  instance.started = Clock::now();
  instance.progress_at = instance.started;
  instance.played = {};
  must_be_told_ = true;
  if (!process) {
    say(process.error().message());
    instance.state = State::Failed;
    return;
  }
  ++instance.runs;
  instance.process = std::move(*process);
  instance.state = State::Starting;
}

void Supervisor::take_report(Instance& instance, const Report& report) {
  if (const auto* progress = std::get_if<Progress>(&report.content)) {
    const auto now = Clock::now();
    const uint64_t before = instance.run_frames();
    instance.progress = *progress;
    const double passed_s = in_seconds(now - instance.progress_at);
    if (passed_s > 0) {
      instance.frames_per_s = static_cast<double>(instance.run_frames() - before) / passed_s;
    }
    instance.progress_at = now;
  } else if (std::holds_alternative<StreamPlays>(report.content) &&
             instance.state == State::Starting) {
    instance.state = State::Playing;
    instance.has_begun = true;
    instance.played = Clock::now();
    must_be_told_ = true;
    say(fmt::format("instance {} plays after {:.1f} s (process {})", instance.name(),
                    in_seconds(instance.played - instance.started), instance.process->pid()));
  } else if (const auto* failed = std::get_if<StreamFailed>(&report.content)) {
    // A camera that is down when the machine starts is no reason to start all over.
    if (failed->retry_in_s >= 0) instance.has_begun = true;
    must_be_told_ = true;
  }
}

void Supervisor::take_end(Instance& instance) {
  const auto now = Clock::now();
  const std::optional<int> exit_status = instance.process->exit_status();
  const bool ended_well = exit_status == kInstanceDone;
  instance.last_end = instance.process->end_text();
  instance.process.reset();
  instance.frames_per_s = 0;
  must_be_told_ = true;
  if (stop_signals_ > 0) {
    instance.state = ended_well ? State::Ended : State::Failed;
    if (!ended_well) {
      say(fmt::format("instance {} did not end well: {}", instance.name(), instance.last_end));
    }
    return;
  }
  // What it decided itself stays: it has tried again as often as it may.
  const bool has_given_up = exit_status == kInstanceFailed || exit_status == kInstanceUnusable ||
                            exit_status == kCannotRunInstance;
  const bool starts_again =
      settings_.restart == RestartPolicy::Always ||
      (settings_.restart == RestartPolicy::OnFailure && !ended_well && !has_given_up);
  if (!starts_again) {
    instance.state = ended_well ? State::Ended : State::Failed;
    say(fmt::format("instance {} has ended: {}", instance.name(), instance.last_end));
    return;
  }
  const bool has_played_now = instance.played != Clock::time_point();
  instance.retry.succeeded_for(has_played_now ? in_seconds(now - instance.played) : 0);
  const std::optional<double> wait_s = instance.retry.next();
  if (!wait_s) {
    instance.state = State::Failed;
    say(fmt::format("instance {} has ended: {}; it is given up after {} failures in a row",
                    instance.name(), instance.last_end, instance.retry.failures()));
    return;
  }
  instance.state = State::Waiting;
  instance.next_start = now + duration_cast<Clock::duration>(duration<double>(*wait_s));
  say(fmt::format("instance {} has ended: {}; it starts again in {:g} s", instance.name(),
                  instance.last_end, *wait_s));
}

void Supervisor::take_signals() {
  signalfd_siginfo received{};
  while (::read(signals_.get(), &received, sizeof(received)) == sizeof(received)) {
    if (received.ssi_signo != SIGCHLD) stop(static_cast<int>(received.ssi_signo));
  }
}

void Supervisor::stop(int signal) {
  ++stop_signals_;
  must_be_told_ = true;
  if (stop_signals_ == 1) {
    say(fmt::format("SIG{}: instances end their streams; a second time ends them at once",
                    ::sigabbrev_np(signal)));
    notice_.stopping();
    kill_at_ = Clock::now() + kKillDelay +
               duration_cast<Clock::duration>(duration<double>(settings_.stop_timeout_s));
  }
  // An instance takes a second signal at once for the first one's; then it is killed soon.
  if (stop_signals_ == 2) kill_at_ = std::min(kill_at_, Clock::now() + kKillSoon);
  // The third time it is not asked.
  const int passed_on = stop_signals_ < 3 ? SIGTERM : SIGKILL;
  for (const auto& instance : instances_) {
    if (instance->process) {
      instance->process->signal(passed_on);
    } else if (instance->state == State::Waiting) {
      instance->state = State::Failed;
      say(fmt::format("instance {} is not started again; its last end: {}", instance->name(),
                      instance->last_end));
    }
  }
}

void Supervisor::tick(Clock::time_point now) {
  for (const auto& instance : instances_) {
    if (instance->state == State::Waiting && stop_signals_ == 0 && now >= instance->next_start) {
      start(*instance);
    }
    if (instance->process && stop_signals_ > 0 && now >= kill_at_) {
      say(fmt::format("instance {} has not ended, it is killed", instance->name()));
      instance->process->signal(SIGKILL);
    }
  }
  if (stop_signals_ > 0 && now >= kill_at_) kill_at_ = now + kStatusPeriod;
  notice_.alive();
  if (must_be_told_ || now >= next_status_) tell_status();
}

int Supervisor::milliseconds_to_wait(Clock::time_point now) const {
  Clock::time_point next = next_status_;
  for (const auto& instance : instances_) {
    if (instance->state == State::Waiting) next = std::min(next, instance->next_start);
  }
  if (stop_signals_ > 0) next = std::min(next, kill_at_);
  const auto wait = duration_cast<milliseconds>(next - now).count() + 1;
  return static_cast<int>(std::clamp<int64_t>(wait, 0, 1000));
}

bool Supervisor::is_done() const {
  return std::ranges::none_of(instances_, [](const auto& instance) {
    return instance->process != nullptr || instance->state == State::Waiting;
  });
}

LaunchStatus Supervisor::status() const {
  LaunchStatus status;
  status.name = settings_.name;
  status.pid = ::getpid();
  status.running_s = in_seconds(Clock::now() - begin_);
  for (const auto& instance : instances_) {
    InstanceStatus row;
    row.name = instance->name();
    row.state = state_name(instance->state);
    row.pid = instance->process ? instance->process->pid() : 0;
    row.numa_nodes = number_list(instance->order.plan.numa_nodes);
    row.processors = number_list(instance->order.plan.processors);
    row.runs = instance->runs;
    row.frames = instance->earlier_frames + instance->run_frames();
    row.frames_per_s = instance->frames_per_s;
    row.cpu_s = instance->progress.cpu_s;
    row.last_end = instance->last_end;
    for (const Progress::Stream& stream : instance->progress.streams) {
      row.streams.push_back({stream.stream, stream.state, stream.frames, stream.runs});
    }
    status.instances.push_back(std::move(row));
  }
  return status;
}

void Supervisor::tell_status() {
  must_be_told_ = false;
  next_status_ = Clock::now() + kStatusPeriod;
  const LaunchStatus now = status();
  size_t playing = 0;
  size_t starting = 0;
  size_t begun = 0;
  for (const auto& instance : instances_) {
    if (instance->state == State::Playing) ++playing;
    if (instance->has_begun) ++begun;
    if (instance->state == State::Starting && !instance->has_begun) ++starting;
  }
  const std::string text = fmt::format("{} of {} instances play", playing, instances_.size());
  if (starting == 0 && begun > 0) {
    notice_.ready(text);
  } else {
    notice_.status(text);
  }
  if (!status_file_) return;
  const Status written = status_file_->write(now);
  if (written.ok()) return;
  say(written.message() + "; --status shows nothing from now on");
  status_file_.reset();
}

}  // namespace het::serving
