#pragma once

#include <string>
#include <vector>

#include "inference/model/model.h"

namespace het {

/// Puts a node behind a value: it reads the value, then `more_inputs`, and everything that read the
/// value (consumers and model outputs) reads the node's only output, which has the node's name.
Value* insert_behind(Model& model, Value* value, const std::string& name,
                     const std::string& op_type, const std::vector<Value*>& more_inputs,
                     Attributes attributes = {});

/// Axis of the channels of a picture input: as its PreprocessDesc or layout says, otherwise where a
/// shape of rank 4 has 1 or 3. Fails when it is no picture or their number is unknown.
Result<size_t> channel_axis(const Model& model, size_t input_index);

}  // namespace het
