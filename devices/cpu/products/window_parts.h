#pragma once

#include <vector>

#include "devices/cpu/loops/int8_shape.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// A rectangle of a convolution's results and the taps that meet the picture there.
struct WindowPart {
  Int8Shape shape;  ///< of the part: its results, its taps, and where both lie
  int64_t first_row_of_taps = 0;
  int64_t first_tap_of_row = 0;
};

/// The parts of a window of which far more taps meet padding than the picture, as large dilations
/// have them over small pictures: each part has only taps that meet the picture somewhere. One part
/// with all results where they would save little.
std::vector<WindowPart> window_parts(const Int8Shape& shape);

/// The weights of a part's taps, [output channel][input channel][tap].
Result<Tensor> weights_of_part(const WindowPart& part, const Int8Shape& whole,
                               const Tensor& weights);

}  // namespace het::cpu
