#pragma once

#include <set>
#include <string_view>

#include "inference/readers/onnx/parsed_model.h"

namespace het::onnx {

/// The names of the files in which a model's external data is, as the model gives them: of tensors
/// everywhere in it. They are views into the model's file.
std::set<std::string_view> external_locations(const ParsedModel& model);

}  // namespace het::onnx
