#include "devices/cpu/threads/team.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "devices/cpu/threads/spin.h"
#include "devices/cpu/threads/team_cores.h"

namespace het::cpu {
namespace {

/// How long a thread waits awake for others to finish a step before it looks whether they run.
constexpr std::chrono::microseconds kPatience{50};
/// How often a helper without work does so before it sleeps. Waking it takes the caller some
/// microseconds, and steps usually follow each other at once.
constexpr int kLooksOfHelper = 4;
/// How often the calling thread does so, whose parts are done and which goes on alone then.
constexpr int kLooksOfCaller = 20;
/// How long a thread stays away from a core that another program has taken: about what the
/// scheduler would have given that program. Longer costs speed, shorter takes from the other one
/// (docs/decisions/0001).
constexpr std::chrono::milliseconds kRest{2};

}  // namespace

class Team {
 public:
  explicit Team(const TeamPlaces& places);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void run(int parts, PartWork work, const void* data);
  /// Returns when all parts of the work that is under way have called it.
  void wait_for_all_parts();

  /// Called by the thread that has made the team, or a guest.
  void take_places();
  TeamCores& cores() { return cores_; }
  const TeamCores& cores() const { return cores_; }
  void set_at_work(bool at_work) { at_work_.store(at_work, std::memory_order_relaxed); }

 private:
  /// States of a part; kAsleep is a bit beside the others: its helper sleeps until it is opened.
  static constexpr uint32_t kNone = 0;
  static constexpr uint32_t kOpen = 1;  ///< waits for a thread
  static constexpr uint32_t kTaken = 2;
  static constexpr uint32_t kAsleep = 4;
  /// A bit of unfinished_: the caller sleeps until that is 0.
  static constexpr uint32_t kCallerAsleep = uint32_t{1} << 31;
  static constexpr size_t kCacheLine = 64;

  /// A part other than the first, and the helper that it waits for.
  struct alignas(kCacheLine) Slot {
    std::atomic<uint32_t> state{kNone};
    std::atomic<size_t> taker{0};  ///< the thread that is in it
    std::thread helper;
  };

  void start_helpers(size_t count);
  void help(size_t thread);
  void wait_for_work(size_t thread, Slot& own);
  void rescue_caller(size_t thread);
  void rest(size_t thread);
  void take_over_open_parts(size_t thread);
  bool take(Slot& slot, size_t thread);
  void perform(int part);
  void finish(Slot& slot);
  void join();
  bool lend_own_core();

  TeamCores cores_;
  std::vector<Slot> slots_;  ///< slots_[k] is of part and thread k + 1
  size_t started_ = 0;       ///< helpers; the calling thread's
  std::atomic<bool> ends_{false};
  std::atomic<bool> at_work_{false};  ///< and the calling thread does not wait for others

  // Written before parts are opened, read by those who have taken one.
  alignas(kCacheLine) PartWork work_ = nullptr;
  const void* data_ = nullptr;
  int parts_ = 0;

  alignas(kCacheLine) std::atomic<uint32_t> unfinished_{0};  ///< parts but the first
  alignas(kCacheLine) std::atomic<uint32_t> untaken_{0};     ///< of these
  alignas(kCacheLine) std::atomic<uint32_t> arrived_{0};     ///< at wait_for_all_parts()
  std::atomic<uint32_t> meetings_{0};                        ///< that are over
};

namespace {

/// What a thread knows of the team that it gives work to, and of the one that it is at work for.
struct ThreadState {
  std::unique_ptr<Team> own;
  Team* team = nullptr;  ///< its own or, for a guest, another thread's
  int limit = 1;
  Team* inside = nullptr;
  int part = 0;
};
thread_local ThreadState state;

}  // namespace

Team::Team(const TeamPlaces& places) : cores_(places), slots_(cores_.threads() - 1) {}

Team::~Team() {
  ends_ = true;
  for (Slot& slot : slots_) {
    if (slot.state.exchange(kOpen) & kAsleep) slot.state.notify_one();
  }
  for (size_t k = 0; k < started_; ++k) slots_[k].helper.join();
}

void Team::start_helpers(size_t count) {
  for (; started_ < count; ++started_) {
    slots_[started_].helper = std::thread([this, thread = started_ + 1] { help(thread); });
  }
}

void Team::run(int parts, PartWork work, const void* data) {
  const size_t shared = std::min(static_cast<size_t>(parts) - 1, slots_.size());
  start_helpers(shared);
  cores_.send_all_home();
  work_ = work;
  data_ = data;
  parts_ = parts;
  unfinished_.store(static_cast<uint32_t>(shared), std::memory_order_relaxed);
  untaken_.store(static_cast<uint32_t>(shared), std::memory_order_relaxed);
  for (size_t k = 0; k < shared; ++k) {
    if (slots_[k].state.exchange(kOpen) & kAsleep) slots_[k].state.notify_one();
  }
  perform(0);
  for (int part = static_cast<int>(shared) + 1; part < parts; ++part) perform(part);
  take_over_open_parts(0);
  join();
}

void Team::take_places() {
  if (cores_.takes_places()) return;
  start_helpers(slots_.size());
  cores_.take_places();
}

bool Team::take(Slot& slot, size_t thread) {
  uint32_t open = kOpen;
  if (slot.state.load(std::memory_order_relaxed) != kOpen) return false;
  if (!slot.state.compare_exchange_strong(open, kTaken, std::memory_order_acquire)) return false;
  slot.taker.store(thread, std::memory_order_relaxed);
  untaken_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void Team::perform(int part) {
  Team* const inside = std::exchange(state.inside, this);
  const int before = std::exchange(state.part, part);
  work_(data_, part);
  state.inside = inside;
  state.part = before;
}

void Team::finish(Slot& slot) {
  slot.state.fetch_and(kAsleep, std::memory_order_relaxed);
  // The last access to this work: the caller may begin the next one.
  if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == (kCallerAsleep | 1)) {
    unfinished_.notify_one();
  }
}

void Team::take_over_open_parts(size_t thread) {
  if (untaken_.load(std::memory_order_relaxed) == 0) return;
  for (size_t k = 0; k < slots_.size(); ++k) {
    if (!take(slots_[k], thread)) continue;
    perform(static_cast<int>(k) + 1);
    finish(slots_[k]);
  }
}

void Team::join() {
  const auto done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (spin_for(kPatience, done)) return;
  const bool at_work = at_work_.exchange(false, std::memory_order_relaxed);
  for (int k = 1; k < kLooksOfCaller && !lend_own_core(); ++k) {
    if (spin_for(kPatience, done)) break;
  }
  uint32_t seen = unfinished_.fetch_or(kCallerAsleep, std::memory_order_acq_rel) | kCallerAsleep;
  while (seen != kCallerAsleep) {
    unfinished_.wait(seen);
    seen = unfinished_.load(std::memory_order_acquire);
  }
  at_work_.store(at_work, std::memory_order_relaxed);
}

/// To those that are in a part and do not run; false when there are none.
bool Team::lend_own_core() {
  bool lent = false;
  for (const Slot& slot : slots_) {
    if ((slot.state.load(std::memory_order_relaxed) & kTaken) == 0) continue;
    const size_t taker = slot.taker.load(std::memory_order_relaxed);
    if (taker != 0 && cores_.stands_still(taker)) lent |= cores_.lend(taker);
  }
  return lent;
}

void Team::help(size_t thread) {
  cores_.enter(thread);
  Slot& own = slots_[thread - 1];
  for (;;) {
    wait_for_work(thread, own);
    if (ends_) return;
    if (!take(own, thread)) continue;
    perform(static_cast<int>(thread));
    // While the own part counts as unfinished, what is open belongs to this work: a thread that is
    // in a part which waits for others must not leave its own part of the same work behind.
    take_over_open_parts(thread);
    finish(own);
    if (cores_.is_away(thread)) rest(thread);
  }
}

void Team::wait_for_work(size_t thread, Slot& own) {
  const auto opened = [&] { return own.state.load(std::memory_order_relaxed) == kOpen; };
  const int looks = cores_.stays() ? 0 : kLooksOfHelper;
  for (int k = 0; k < looks; ++k) {
    if (spin_for(kPatience, opened)) return;
    rescue_caller(thread);
  }
  uint32_t seen = own.state.load(std::memory_order_relaxed);
  while (seen != kOpen && !own.state.compare_exchange_weak(seen, seen | kAsleep)) {
  }
  if (seen == kOpen) return;
  for (seen |= kAsleep; (seen & kAsleep) != 0; seen = own.state.load()) own.state.wait(seen);
}

void Team::rescue_caller(size_t thread) {
  const auto at_work = [this] { return at_work_.load(std::memory_order_relaxed); };
  if (!at_work() || !cores_.stands_still(0) || !at_work()) return;
  if (cores_.swap_with_caller(thread)) rest(thread);
}

void Team::rest(size_t thread) {
  std::this_thread::sleep_for(kRest);
  cores_.send_home(thread);
}

void Team::wait_for_all_parts() {
  const uint32_t meeting = meetings_.load();
  if (arrived_.fetch_add(1) + 1 == static_cast<uint32_t>(parts_)) {
    arrived_ = 0;
    ++meetings_;
    meetings_.notify_all();
    return;
  }
  const auto over = [&] { return meetings_.load() != meeting; };
  if (spin_for(kPatience, over)) return;
  while (!over()) meetings_.wait(meeting);
}

void start_team(const TeamPlaces& places) {
  state.own.reset();
  state.own = std::make_unique<Team>(places);
  state.team = state.own.get();
  state.limit = static_cast<int>(state.own->cores().threads());
  // oneDNN asks for it when it makes a primitive.
  omp_set_num_threads(state.limit);
}

void start_team(int threads) {
  start_team(TeamPlaces(static_cast<size_t>(std::max(threads, 1))));
}

void end_team() {
  state.team = nullptr;
  state.own.reset();
  state.limit = 1;
}

void pin_team() {
  if (state.team != nullptr) state.team->take_places();
}

Team* own_team() {
  return state.own.get();
}

bool is_pinned(const Team& team) {
  return team.cores().takes_places();
}

GuestScope::GuestScope(Team& team) : openmp_threads_(omp_get_max_threads()) {
  state.team = &team;
  state.limit = static_cast<int>(team.cores().threads());
  omp_set_num_threads(state.limit);
  team.cores().guest_comes();
}

GuestScope::~GuestScope() {
  state.team->cores().guest_leaves();
  state.team = nullptr;
  state.limit = 1;
  omp_set_num_threads(openmp_threads_);
}

int team_size() {
  return state.inside != nullptr ? 1 : state.limit;
}

int team_part() {
  return state.part;
}

bool has_team() {
  return state.team != nullptr || state.inside != nullptr;
}

bool is_in_part() {
  return state.inside != nullptr;
}

void wait_for_all_parts() {
  if (state.inside != nullptr) state.inside->wait_for_all_parts();
}

void run_parts(int parts, PartWork work, const void* data) {
  if (parts > 1 && state.team != nullptr && state.inside == nullptr) {
    state.team->run(parts, work, data);
    return;
  }
  for (int part = 0; part < parts; ++part) work(data, part);
}

AloneScope::AloneScope() : before_(std::exchange(state.limit, 1)) {
  omp_set_num_threads(1);
}

AloneScope::~AloneScope() {
  state.limit = before_;
  omp_set_num_threads(before_);
}

AtWorkScope::AtWorkScope() {
  if (state.team != nullptr) state.team->set_at_work(true);
}

AtWorkScope::~AtWorkScope() {
  if (state.team != nullptr) state.team->set_at_work(false);
}

}  // namespace het::cpu
