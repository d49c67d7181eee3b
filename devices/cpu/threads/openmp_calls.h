#pragma once

namespace het::cpu {

/// Makes the OpenMP regions of the library that `inside` lies in run on the calling thread's team
/// where it has one (team.h); threads without one go on to libgomp, whose teams wait for each of
/// their threads whatever else runs. False where the library was built without GNU OpenMP: its
/// threads are its own then, and results are the same.
bool run_regions_on_teams(const void* inside);

}  // namespace het::cpu
