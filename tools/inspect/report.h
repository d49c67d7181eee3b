#pragma once

#include <string>
#include <vector>

#include "inference/decoders/alternatives.h"
#include "inference/decoders/exchange/tensor_groups.h"
#include "inference/decoders/results.h"
#include "inference/model_reading.h"

namespace het {

/// What `hetero inspect` tells.
struct Inspection {
  std::string path;
  ModelReading reading;
  bool size_is_a_guess = false;  ///< of pictures
  TensorGroup tensors;           ///< what others call the outputs
  std::vector<Alternative> alternatives;
  std::vector<std::string> warnings;  ///< what somebody has to look at, with the remedy
  Results found;                      ///< on --image
  std::string picture;                ///< where the annotated picture lies; empty: none

  /// Null where nothing fits.
  const Alternative* likeliest() const {
    return !alternatives.empty() && alternatives.front().fits ? &alternatives.front() : nullptr;
  }
  /// Whether a person has to say something before the model can be used.
  bool needs_a_decision() const {
    return !reading.choice || size_is_a_guess || (reading.assumed && reading.assumed->is_guess);
  }
};

/// The descriptor that says what was decided; with nothing decided the likeliest.
ModelProc described(const Inspection& inspection);

std::string to_text(const Inspection& inspection);
std::string to_json(const Inspection& inspection);

}  // namespace het
