#pragma once

#include "devices/cpu/threads/stream_placement.h"

namespace het::cpu {

/// Gives the calling thread a team, itself and a helper for each place but the first, until the
/// thread ends. oneDNN's calls from this thread run on it, too. Helpers start with the first work.
void start_team(const TeamPlaces& places);
/// The same for that many threads, which run anywhere.
void start_team(int threads);
/// Ends it before the thread does.
void end_team();
/// Starts the helpers, if work has not, and binds all threads to the places that the team was
/// started with. Nothing from the second time on, and for a guest.
void pin_team();

class Team;
/// The calling thread's; null without one.
Team* own_team();

/// The calling thread, which has none, works with another one's team while this lives; that thread
/// must not work meanwhile. Its affinity and the number of its OpenMP threads are as before then.
class GuestScope {
 public:
  /// `team` must have been pinned by its own thread: helpers are its children.
  explicit GuestScope(Team& team);
  ~GuestScope();
  GuestScope(const GuestScope&) = delete;
  GuestScope& operator=(const GuestScope&) = delete;

 private:
  int openmp_threads_;
};
/// Whether that has happened.
bool is_pinned(const Team& team);

/// Threads that the calling thread's next work is shared by: its team's while nothing limits them,
/// 1 without a team.
int team_size();
/// Which part of a team's work the calling thread is in; 0 outside of one.
int team_part();

/// What a part does. Must not throw.
using PartWork = void (*)(const void* data, int part);

/// Runs work(data, part) for each part of [0, parts) and returns when all are done. Part 0 is the
/// calling thread's, each other one waits for its helper. A thread whose own part is done takes
/// those that nobody has begun, so a thread that has lost its core to another program holds up no
/// more than the part that it is in. Parts may wait for each other where there are no more of them
/// than threads. Within a part, and without a team, parts run one after the other.
void run_parts(int parts, PartWork work, const void* data);

/// Whether the calling thread has a team, or works for one.
bool has_team();
/// Whether the calling thread is in a part of a team's work.
bool is_in_part();
/// Within a part: returns when all parts of the work have called it.
void wait_for_all_parts();

/// The calling thread works alone while this lives: waking the team costs more than a small task is
/// worth, and its threads would then spin for the next one beside whatever else is running.
class AloneScope {
 public:
  AloneScope();
  ~AloneScope();
  AloneScope(const AloneScope&) = delete;
  AloneScope& operator=(const AloneScope&) = delete;

 private:
  int before_;
};

/// Has work for its team again and again while this lives: a helper that sees the calling thread
/// lose its core meanwhile gives it its own.
class AtWorkScope {
 public:
  AtWorkScope();
  ~AtWorkScope();
  AtWorkScope(const AtWorkScope&) = delete;
  AtWorkScope& operator=(const AtWorkScope&) = delete;
};

}  // namespace het::cpu
