#pragma once

#include <functional>
#include <map>
#include <string>

#include "inference/base/status.h"
#include "inference/decoders/results.h"
#include "inference/vision_model.h"

namespace het::gst {

/// Minimum confidences of single classes, over that of all others. Immutable; thread-safe.
class ClassThresholds {
 public:
  /// `text` is "person=0.6,car=0.3"; a class of a model without labels is its number. Fails with
  /// InvalidArgument for values outside of 0..1 and for classes that the model does not have.
  static Result<ClassThresholds> parse(const std::string& text, const VisionModel& model);

  /// Reads results, with a threshold (0: the decoder's own), and keeps what reaches its class'.
  using Read = std::function<Result<Results>(float threshold)>;
  Result<Results> apply(const Read& read, float threshold) const;

 private:
  const float* of(const Detection& detection) const;
  std::map<std::string, float> by_label_;
};

}  // namespace het::gst
