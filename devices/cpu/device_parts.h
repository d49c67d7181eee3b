#pragma once

#include <memory>
#include <string>

#include "devices/cpu/threads/core_budget.h"
#include "inference/machine/topology.h"

namespace het::cpu {

/// What the device gives to all its models.
struct DeviceParts {
  Topology topology;
  std::string machine;  ///< what choices and packed weights depend on, beside the settings
  std::shared_ptr<CoreBudgets> budgets;
};

}  // namespace het::cpu
