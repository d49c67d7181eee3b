#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/element_type.h"
#include "inference/status.h"

namespace het::vpu {

/// What a device says it is.
struct Profile {
  std::string name;
  uint32_t credits = 1;  ///< requests that may be unanswered
  uint32_t units = 1;    ///< requests that run at the same time
  uint64_t memory_bytes = 0;
  std::vector<ElementType> types;
  std::vector<std::string> operators;
};

/// "myriad", "hddl" or "fpga". Fails with NotFound and the names that there are.
Result<Profile> find_profile(std::string_view name);

}  // namespace het::vpu
