#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "inference/base/parallel_loop.h"
#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace het {

/// How a picture (its ROI) is brought to the model's size.
enum class ResizeMode : uint8_t {
  Stretch,           ///< both axes to the full size, aspect ratio not kept
  LetterboxCentre,   ///< aspect ratio kept, picture centred, rest filled with pad_value
  LetterboxTopLeft,  ///< aspect ratio kept, picture at the top left, rest filled with pad_value
  CentralCrop,       ///< aspect ratio kept so that the target is covered, middle part taken
};

/// Order of the channels in the tensor.
enum class ColorOrder : uint8_t { BGR, RGB, Gray };

/// What happens to a picture on its way into a model input. Per channel c of the tensor (in the
/// tensor's order): dst = (range_low + pixel / 255 * (range_high - range_low) - mean[c]) / std[c],
/// pixel a level 0..255; padding is a pixel value, so it is normalised too.
struct PreprocessDesc {
  ResizeMode resize = ResizeMode::Stretch;
  ColorOrder color_order = ColorOrder::BGR;
  Layout tensor_layout = Layout::NCHW;  ///< NCHW or NHWC
  float range_low = 0.0f;
  float range_high = 255.0f;
  std::array<float, 3> mean{0.0f, 0.0f, 0.0f};
  std::array<float, 3> std{1.0f, 1.0f, 1.0f};
  std::array<float, 3> pad_value{0.0f, 0.0f, 0.0f};  ///< 0..255, in the tensor's channel order
  int border_x = 0;  ///< columns on the left and on the right that stay padding
  int border_y = 0;  ///< rows above and below that do
  bool operator==(const PreprocessDesc&) const = default;
};

/// Maps positions in the model's input picture to positions in the source picture:
/// x_source = x_tensor * scale_x + offset_x, and the same for y. Positions are pixel edges, so the
/// left edge of the first tensor pixel is 0.
struct PictureTransform {
  float scale_x = 1.0f;
  float scale_y = 1.0f;
  float offset_x = 0.0f;
  float offset_y = 0.0f;
};

/// Where the resized picture lies in the tensor and what part of the source it shows, in whole
/// pixels: LetterboxTopLeft rounds the picture's size down (as YOLOX), LetterboxCentre to nearest,
/// the odd pixel of padding below and on the right (as Ultralytics); CentralCrop cuts whole source
/// pixels, then resizes. A border makes the tensor's picture smaller on both sides;
/// LetterboxTopLeft leaves it at the corner, as DL Streamer does. The transform follows from the
/// rounded sizes.
struct PictureGeometry {
  Rect source;       ///< part of the source picture that is shown
  Rect destination;  ///< where it lies in the tensor; outside is padding
  PictureTransform transform;
};

/// Pure geometry of `desc` for a ROI of a source picture and a tensor of this size. Fails when the
/// ROI is empty.
HET_API Result<PictureGeometry> picture_geometry(const PreprocessDesc& desc, const Rect& roi,
                                                 int tensor_width, int tensor_height);

/// Checks that a tensor of this description can be filled: rank 4 (or 3 without batch), channels 1
/// or 3 as color_order says, type UInt8 or a float type.
HET_API Status validate(const PreprocessDesc& desc, const TensorDesc& tensor);

/// Converts, crops, resizes and normalises the ROI of an image into batch item `batch_index` of the
/// host tensor `dst` in one pass over the target: the levels of
/// preprocess_reference(), normalised in float. The ROI is clipped to the picture; an empty one is
/// an error. Image memory without a host address is mapped for the call. Thread-safe; uses the
/// calling thread and those of `loop`, if there is one, and, from a thread's second call with the
/// same sizes on, allocates nothing. The result does not depend on the loop.
///
/// The definition: each source pixel becomes a colour of whole levels 0..255, then colours are
/// interpolated and rounded to levels again: what users of OpenCV's cvtColor and resize get.
/// - YUV: BT.601, BT.709 or BT.2020 with the image's range in 16-bit arithmetic, within 0.55 levels
///   of the exact value, clamped to 0..255; chroma belongs to 2x2 pixels (YUY2, UYVY: 2x1). P010 is
///   rounded to 8 bits before. Gray is the luma, stretched to 0..255.
/// - RGB and GRAY8 are taken as they are, whatever the image's matrix and range; gray of RGB is
///   0.299 R + 0.587 G + 0.114 B of the interpolated colours, colour of GRAY8 three times the same.
/// - Bilinear without antialiasing, pixel centres aligned, in OpenCV's arithmetic (INTER_LINEAR of
///   bytes): pictures of RGB formats come out equal to cv::resize, bit for bit. Samples never leave
///   the shown part of the ROI, whose borders are repeated: crop first, then resize.
/// - Normalised as PreprocessDesc says; UInt8 is rounded (half to even) and clamped.
HET_API Status preprocess(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                          Tensor& dst, int64_t batch_index = 0, const ParallelLoop* loop = nullptr);

/// The same by plain loops over the definition: what preprocess() is compared with.
HET_API Status preprocess_reference(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                                    Tensor& dst, int64_t batch_index = 0);

}  // namespace het
