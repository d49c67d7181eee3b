#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Lets a picture input have another size, in pixels: a Resize behind it makes the model's of it,
/// with pixel centres at halves (half_pixel). `mode` is ONNX's: "linear", "nearest" or "cubic".
/// Fails with NotSupported when the input is no picture with a known size, with InvalidArgument for
/// sizes that are not positive and unknown modes.
HET_API Status resize_input(Model& model, size_t input_index, int64_t height, int64_t width,
                            std::string_view mode);

}  // namespace het
