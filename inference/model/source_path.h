#pragma once

#include <string>
#include <string_view>

#include "inference/model/model.h"

namespace het {

/// The key in Model::metadata() under which Core::read_model() notes the absolute path of the file.
/// It belongs to this process: no writer writes it, and models that differ in it are equal.
inline constexpr std::string_view kSourcePathKey = "__model_path";

/// Empty where the model was not read from a file.
inline std::string source_path(const Model& model) {
  const auto found = model.metadata().find(std::string(kSourcePathKey));
  return found != model.metadata().end() ? found->second : std::string();
}

}  // namespace het
