#pragma once

#include <string>

#include "tools/self_test/part_events.h"

namespace het::self_test {

/// What a device does at best and what our inference does on it: {"limits": {...}}, once more at
/// the end, and for a 3x3 convolution, a 1x1 convolution and a matrix product {"work", "kernel_us",
/// "inference_us", "multiply_adds"}, and {"smallest_inference_us"}. What fails is told as
/// {"work", "problem"}.
void measure_speed(const std::string& device, PartEvents& events);

}  // namespace het::self_test
