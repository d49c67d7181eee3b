#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/results.h"

namespace het {

/// The user's wish of `context` if there is one, else the descriptor's value, else the decoder's.
float effective_threshold(const DecodeContext& context, const std::optional<float>& configured,
                          float decoder_default);

/// A position in the model's input picture, in source pixels.
Point to_source(float x, float y, const PictureTransform& transform);

/// The candidate in source pixels, with its label when `labels` has one for its id.
Detection to_detection(const Candidate& candidate, const std::vector<std::string>& labels,
                       const PictureTransform& transform);

/// All of them as Results.
Results to_results(const std::vector<Candidate>& candidates, const std::vector<std::string>& labels,
                   const PictureTransform& transform);

}  // namespace het
