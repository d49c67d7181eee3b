#include "devices/cpu/threads/team_cores.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "devices/cpu/threads/spin.h"
#include "inference/base/log.h"

namespace het::cpu {
namespace {

/// How long processor time must stand still; it is counted in nanoseconds.
constexpr std::chrono::microseconds kLook{5};
/// A thread that has just been moved has not run yet.
constexpr std::chrono::microseconds kBetweenMoves{200};
/// Nanoseconds that a thread has run; -1 where the system does not say. The clock's number follows
/// from the thread's as the kernel's include/linux/posix-timers.h has it.
int64_t processor_time(int thread) {
  constexpr clockid_t kPerThreadRunTime = 6;
  timespec time;
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) |
                                            static_cast<unsigned>(kPerThreadRunTime));
  if (clock_gettime(clock, &time) != 0) return -1;
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

TeamCores::TeamCores(const TeamPlaces& places)
    : threads_(std::max<size_t>(places.size(), 1)),
      everywhere_(ProcessorSet::of_thread(0).value_or(ProcessorSet())) {
  for (size_t k = 0; k < places.size(); ++k) {
    threads_[k].place = ProcessorSet(places[k]);
  }
  threads_[0].id = ::gettid();
  threads_[0].bound = everywhere_;
}

void TeamCores::enter(size_t thread) {
  const std::lock_guard lock(mutex_);
  Member& member = threads_[thread];
  member.id = ::gettid();
  // That of the thread which has started it.
  member.bound = ProcessorSet::of_thread(0).value_or(ProcessorSet());
  bring_home(member);
}

void TeamCores::take_places() {
  if (takes_places_.load(std::memory_order_relaxed) || takes_places_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  for (Member& member : threads_) {
    if (host_ == 0 || &member != &threads_[0]) bring_home(member);
  }
}

const ProcessorSet& TeamCores::home_of(const Member& member) const {
  return takes_places_ && !member.place.empty() ? member.place : everywhere_;
}

void TeamCores::bring_home(Member& member) {
  const ProcessorSet& home = home_of(member);
  if (member.id != 0 && member.bound != home && is_where_put(member)) bind(member, home);
}

bool TeamCores::is_where_put(const Member& member) {
  if (!stays_ && ProcessorSet::of_thread(member.id) != member.bound) {
    log(LogLevel::Info,
        "the processors of a thread of device CPU were changed from outside; the "
        "team's threads stay where they are put");
    stays_ = true;
  }
  return !stays_;
}

void TeamCores::guest_comes() {
  thread_local const int id = ::gettid();
  const ProcessorSet here = ProcessorSet::of(sched_getcpu());
  const std::lock_guard lock(mutex_);
  Member& caller = threads_[0];
  host_ = caller.id.exchange(id);
  for (size_t k = 1; takes_places_ && k < threads_.size(); ++k) {
    if (threads_[k].place != here) continue;
    std::swap(threads_[k].place, caller.place);
    bring_home(threads_[k]);
  }
}

void TeamCores::guest_leaves() {
  send_home(0);
  const std::lock_guard lock(mutex_);
  threads_[0].id = std::exchange(host_, 0);
  bring_home(threads_[0]);
}

bool TeamCores::bind(Member& member, const ProcessorSet& processors) {
  if (!processors.bind_thread(member.id)) {
    if (!stays_.exchange(true)) {
      log(LogLevel::Warning, "a thread of device CPU could not be bound to its processors: {}",
          std::strerror(errno));
    }
    return false;
  }
  member.bound = processors;
  return true;
}

bool TeamCores::stands_still(size_t thread) const {
  const int id = threads_[thread].id.load(std::memory_order_relaxed);
  if (id == 0 || stays_.load(std::memory_order_relaxed)) return false;
  const int64_t before = processor_time(id);
  if (before < 0) return false;
  spin_for(kLook, [] { return false; });
  return processor_time(id) == before;
}

bool TeamCores::are_where_put() {
  // Of one whose new processors are those that it has on loan nothing can be seen.
  return std::ranges::all_of(threads_, [this](const Member& member) {
    const bool is_guest = host_ != 0 && &member == &threads_[0];
    return is_guest || member.id == 0 || is_where_put(member);
  });
}

bool TeamCores::may_move_now() {
  const auto now = std::chrono::steady_clock::now();
  if (stays_.load() || now - moved_ < kBetweenMoves) return false;
  moved_ = now;
  return are_where_put();
}

bool TeamCores::move(Member& member, int processor) {
  if (member.id == 0 || !may_move_now()) return false;
  return bind(member, ProcessorSet::of(processor));
}

bool TeamCores::move_guest(int processor) {
  const int guest = threads_[0].id;
  if (!may_move_now()) return false;
  // Moved twice, it has one processor already.
  if (!threads_[0].away) guest_bound_ = ProcessorSet::of_thread(guest).value_or(ProcessorSet());
  if (!guest_bound_.has(processor)) return false;
  guest_put_ = ProcessorSet::of(processor);
  return guest_put_.bind_thread(guest);
}

bool TeamCores::lend(size_t thread) {
  const std::lock_guard lock(mutex_);
  Member& member = threads_[thread];
  const bool moved =
      host_ != 0 && thread == 0 ? move_guest(sched_getcpu()) : move(member, sched_getcpu());
  if (!moved) return false;
  member.away = true;
  some_away_ = true;
  return true;
}

bool TeamCores::swap_with_caller(size_t helper) {
  const std::lock_guard lock(mutex_);
  Member& caller = threads_[0];
  Member& own = threads_[helper];
  const bool moved = host_ != 0 ? move_guest(sched_getcpu()) : move(caller, sched_getcpu());
  if (!moved) return false;
  if (takes_places_) std::swap(caller.place, own.place);
  caller.away = true;
  own.away = true;
  some_away_ = true;
  return true;
}

void TeamCores::send_home(size_t thread) {
  const std::lock_guard lock(mutex_);
  Member& member = threads_[thread];
  if (!member.away.exchange(false)) return;
  if (host_ != 0 && thread == 0) {
    // Whatever has become of the team's own threads.
    if (ProcessorSet::of_thread(member.id) == guest_put_) guest_bound_.bind_thread(member.id);
  } else if (are_where_put()) {
    bring_home(member);
  }
}

void TeamCores::send_all_home() {
  if (!some_away_.load(std::memory_order_relaxed)) return;
  some_away_ = false;
  for (size_t k = 0; k < threads_.size(); ++k) send_home(k);
}

}  // namespace het::cpu
