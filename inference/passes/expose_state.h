#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// A variable of a model as ports: what a ReadValue gave is an input, what an Assign took is an
/// output.
struct StatePorts {
  std::string id;
  TensorDesc desc;  ///< unknown dimensions where the file leaves them open
  size_t value_input = 0;
  /// bool[]: false makes ReadValue's own first input count. Absent when it has none.
  std::optional<size_t> is_set_input;
  std::optional<size_t> output;  ///< absent when nothing assigns the variable
};

/// True when the model keeps state between executions (ReadValue or Assign of the domain het).
HET_API bool has_state(const Model& model);

/// Replaces ReadValue and Assign by inputs and outputs that are appended to the model's own, so
/// that devices need not know state. A variable that is read several times has one input. Fails
/// when a variable is assigned twice or its type is unknown.
HET_API Result<std::vector<StatePorts>> expose_state(Model& model);

}  // namespace het
