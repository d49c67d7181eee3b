#pragma once

#include <vector>

#include "devices/cpu/threads/stream_placement.h"

namespace het::cpu {

/// Lets the calling thread run on these processors only; nothing happens for none of them, or
/// when the system refuses (a container may have lost a processor meanwhile).
void pin_thread(const std::vector<int>& processors);

/// Remembers where the calling thread and its team shall run; `places` must live as long as the
/// thread. Starts no team: planning needs none, and its threads would spin for a while.
void set_team_places(const TeamPlaces& places);
/// Binds the calling thread and its team to the places that it was given, once.
void pin_team();

}  // namespace het::cpu
