#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "devices/cpu/threads/processor_set.h"
#include "devices/cpu/threads/stream_placement.h"

namespace het::cpu {

/// Where the threads of a team run. Where another program takes the core of one of them for a turn
/// of the scheduler (some milliseconds), the others would wait for it at the end of the step that
/// it is in; so one that waits gives it its own core and stays away for a while, in which the other
/// program goes on. Threads are moved by their affinity. When somebody else has changed that
/// (taskset, a debugger), nothing is moved any more. Thread-safe.
class TeamCores {
 public:
  /// Thread 0, the caller of the team, is the calling one.
  explicit TeamCores(const TeamPlaces& places);
  TeamCores(const TeamCores&) = delete;
  TeamCores& operator=(const TeamCores&) = delete;

  size_t threads() const { return threads_.size(); }
  /// True when somebody else moves the threads.
  bool stays() const { return stays_.load(std::memory_order_relaxed); }

  /// Called by a helper before anything else.
  void enter(size_t thread);
  /// Binds those that are there, and those that come, to their places.
  void take_places();
  bool takes_places() const { return takes_places_.load(std::memory_order_relaxed); }

  /// The calling thread takes the caller's part until guest_leaves(). It is not bound; a helper
  /// whose core it is on gets another.
  void guest_comes();
  void guest_leaves();

  /// True when `thread` wants to run and does not: its processor time stands still. Takes
  /// microseconds. A thread that waits for anything else stands still as well.
  bool stands_still(size_t thread) const;

  /// `thread` runs on the calling thread's core from now on, which is about to sleep. False when it
  /// may not be moved.
  bool lend(size_t thread);
  /// The calling thread `helper` and thread 0 have each other's place from now on; thread 0 runs on
  /// the calling one's core at once.
  bool swap_with_caller(size_t helper);
  /// Whether `thread` is on a core that was lent to it, or has a new place.
  bool is_away(size_t thread) const {
    return threads_[thread].away.load(std::memory_order_relaxed);
  }
  /// Sends `thread` to its place when it is away.
  void send_home(size_t thread);
  /// Sends all that are away.
  void send_all_home();

 private:
  struct Member {
    std::atomic<int> id{0};  ///< the system's; 0 before it has started
    ProcessorSet place;      ///< its own; empty: wherever the process may run
    ProcessorSet bound;      ///< where it may run now
    std::atomic<bool> away{false};
  };

  /// Where `member` belongs while it is not away.
  const ProcessorSet& home_of(const Member& member) const;
  void bring_home(Member& member);
  bool bind(Member& member, const ProcessorSet& processors);
  /// False when the threads stay where they are put, as they do once somebody else has moved
  /// `member`.
  bool is_where_put(const Member& member);
  /// The same of all but a guest.
  bool are_where_put();
  bool may_move_now();
  /// False when it may not be moved.
  bool move(Member& member, int processor);
  /// The same for a guest, which moves among the processors that it has been given only.
  bool move_guest(int processor);

  std::vector<Member> threads_;
  ProcessorSet everywhere_;  ///< where the calling thread may run when the team starts
  std::mutex mutex_;         ///< protects places and bounds; taken alone
  std::atomic<bool> takes_places_{false};
  int host_ = 0;              ///< the thread that a guest stands for; 0 without one
  ProcessorSet guest_bound_;  ///< where a guest that is away may run otherwise
  ProcessorSet guest_put_;    ///< where it was moved to
  std::atomic<bool> some_away_{false};
  std::atomic<bool> stays_{false};
  std::chrono::steady_clock::time_point moved_;
};

}  // namespace het::cpu
