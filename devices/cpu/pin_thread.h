#pragma once

#include <vector>

namespace het::cpu {

/// Lets the calling thread run on these processors only; nothing happens for none of them, or
/// when the system refuses (a container may have lost a processor meanwhile).
void pin_thread(const std::vector<int>& processors);

}  // namespace het::cpu
