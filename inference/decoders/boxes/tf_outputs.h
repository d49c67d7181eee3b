#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// The outputs of TensorFlow's detectors by their places among all outputs.
struct TfDetectionOutputs {
  size_t boxes = 0;   ///< [batch, N, 4]
  size_t first = 0;   ///< classes, [batch, N]; where they are not named classes or scores
  size_t second = 0;  ///< scores, or the others
  bool named = false;
  std::optional<size_t> count;  ///< [batch]
};

/// Finds them by their shapes; classes and scores look alike, names of the outputs or the order of
/// `config.layer_names` tell them. What the API also gives is passed over: boxes before the
/// suppression, their places, scores of all classes. Fails with ShapeMismatch.
Result<TfDetectionOutputs> find_tf_outputs(const DecoderConfig& config,
                                           const std::vector<Port>& outputs);

}  // namespace het
