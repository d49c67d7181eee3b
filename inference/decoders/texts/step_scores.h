#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"

namespace het {

/// Scores of classes for each step of a line of text: [batch, steps, classes] (NTC), [steps, batch,
/// classes] (TNC), as recurrent networks leave them, or [steps, classes] (TC).
class StepScores {
 public:
  /// Which of the three an output is: `layout` where it is given, else by the batch of the picture
  /// input. Fails where the shape is none of them.
  static Result<std::string> layout_of(const DecoderConfig& config, const std::vector<Port>& inputs,
                                       const Port& port);

  static Result<StepScores> read(const Tensor& tensor, std::string_view layout,
                                 int64_t batch_index);

  size_t steps() const { return steps_; }
  size_t classes() const { return classes_; }
  std::span<const float> step(size_t index) const {
    return values_.values().subspan(first_ + index * stride_, classes_);
  }

 private:
  explicit StepScores(OutputValues values) : values_(std::move(values)) {}

  OutputValues values_;
  size_t steps_ = 0;
  size_t classes_ = 0;
  size_t first_ = 0;
  size_t stride_ = 0;
};

}  // namespace het
