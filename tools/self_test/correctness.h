#pragma once

#include <string>

#include "tools/self_test/part_events.h"

namespace het::self_test {

/// Runs the small models from number `first` on on a device and beside it on REF, and tells of each
/// {"case", "number", "outcome", "detail"}: "right", "wrong", "refused" (the device says before
/// that it does not run it) or "failed" (it said it would, and then did not).
void try_correctness(const std::string& device, size_t first, PartEvents& events);

/// How many there are.
size_t correctness_cases();

}  // namespace het::self_test
