#pragma once

#include <string>
#include <vector>

namespace het::self_test {

/// What a child of the self-test does, by its words: "opencl"; "features N"; "devices [DEVICE]";
/// "correctness DEVICE FIRST"; "speed DEVICE"; "pictures NODE DEVICE...". Tells its events to
/// kEventsFile and returns the exit status of the child.
int run_part(const std::vector<std::string>& words);

}  // namespace het::self_test
