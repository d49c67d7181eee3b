#pragma once

#include <chrono>
#include <vector>

#include "devices/vpu/link_messages.h"
#include "devices/vpu/vpu_compiled_model.h"
#include "inference/devices/profiling.h"

namespace het::vpu {

/// Rows of one execution, with the names that guides of OpenVINO's HETERO have for such devices.
/// The times that a request waited for a unit are in none. Where nodes were asked for and counted,
/// they are in place of the row of the whole execution.
std::vector<ProfileRow> profile_rows(const VpuCompiledModel& model, const Completed& completed,
                                     std::chrono::nanoseconds prepared,
                                     std::chrono::nanoseconds way_back,
                                     std::chrono::nanoseconds delivered);

}  // namespace het::vpu
