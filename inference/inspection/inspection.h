#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/decoders/alternatives.h"
#include "inference/decoders/exchange/tensor_groups.h"
#include "inference/decoders/results.h"
#include "inference/model_reading.h"

namespace het {

/// How a model would be used on pictures, and why so: what `hetero inspect` tells.
struct Inspection {
  std::string path;
  ModelReading reading;
  int guessed_side = 0;  ///< of pictures, in pixels, where neither model nor user says it; else 0
  TensorGroup tensors;   ///< what others call the outputs
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
    return !reading.choice || guessed_side > 0 || (reading.assumed && reading.assumed->is_guess);
  }
};

/// Reads the model of the settings and tells what was decided; where the model leaves the size of
/// pictures open, and the settings too, 640 is taken. Errors name the file or property at fault.
HET_API Result<Inspection> inspect_model(Core& core, const VisionModelSettings& settings);

/// The descriptor that says what was decided; with nothing decided the likeliest.
HET_API ModelProc described(const Inspection& inspection);

/// For people to read, a line an item.
HET_API std::string to_text(const Inspection& inspection);
/// One JSON object.
HET_API std::string to_json(const Inspection& inspection);

}  // namespace het
