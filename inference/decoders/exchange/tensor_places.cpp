#include "inference/decoders/exchange/tensor_places.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

/// value -> scale * value + offset
struct Line {
  float scale = 1.0f;
  float offset = 0.0f;

  bool is_identity() const { return scale == 1.0f && offset == 0.0f; }
  void apply(float& value) const { value = scale * value + offset; }
};

/// Places of the model's input -> places of the source picture.
struct PlaceLines {
  Line x;
  Line y;
};

PlaceLines pixel_lines(const DecodeContext& context) {
  const PictureTransform& transform = context.transform;
  return {{transform.scale_x, transform.offset_x}, {transform.scale_y, transform.offset_y}};
}

/// The same in shares of both.
PlaceLines relative_lines(const DecodeContext& context) {
  const PictureTransform& transform = context.transform;
  const auto width = static_cast<float>(context.source_width);
  const auto height = static_cast<float>(context.source_height);
  // In integers where nothing is cut off or added, so that rounding changes no value.
  const auto line = [](float scale, float offset, int input, float source) {
    const float share = scale * static_cast<float>(input) / source;
    constexpr float kRounding = 1e-6f;
    const bool whole = offset == 0.0f && share > 1.0f - kRounding && share < 1.0f + kRounding;
    return whole ? Line{} : Line{share, offset / source};
  };
  return {line(transform.scale_x, transform.offset_x, context.input_width, width),
          line(transform.scale_y, transform.offset_y, context.input_height, height)};
}

PlaceLines lines_of(TensorPlaces places, const DecodeContext& context) {
  switch (places) {
    case TensorPlaces::None:
      return {};
    case TensorPlaces::Corners:
    case TensorPlaces::CornersRowFirst:
      return relative_lines(context);
    default:
      return pixel_lines(context);
  }
}

/// Values of [1, values, N].
void place_planes(std::span<float> values, size_t planes, size_t first_point,
                  const PlaceLines& lines) {
  const size_t count = planes == 0 ? 0 : values.size() / planes;
  const auto change = [&](size_t plane, const Line& line) {
    for (float& value : values.subspan(plane * count, count)) line.apply(value);
  };
  change(0, lines.x);
  change(1, lines.y);
  change(2, {lines.x.scale, 0.0f});
  change(3, {lines.y.scale, 0.0f});
  if (first_point == 0) return;
  for (size_t plane = first_point; plane + 1 < planes; plane += 3) {
    change(plane, lines.x);
    change(plane + 1, lines.y);
  }
}

/// Values of [1, N, columns] whose first four are corners.
void place_corners(std::span<float> values, size_t columns, const Line& first, const Line& second) {
  for (size_t row = 0; row + columns <= values.size(); row += columns) {
    first.apply(values[row]);
    second.apply(values[row + 1]);
    first.apply(values[row + 2]);
    second.apply(values[row + 3]);
  }
}

Status place(const GroupTensor& tensor, const PlaceLines& lines, Tensor& values) {
  constexpr int64_t kBox = 4;
  const std::span<float> all = values.values<float>();
  const Shape& shape = values.shape();
  switch (tensor.places) {
    case TensorPlaces::None:
      return {};
    case TensorPlaces::PixelPlanes:
    case TensorPlaces::PixelPointPlanes:
      HET_TRY(expect_shape(tensor.id, values, {1, kUnknownDim, kUnknownDim}));
      if (shape[1] < kBox) break;
      place_planes(all, static_cast<size_t>(shape[1]), static_cast<size_t>(tensor.first_point),
                   lines);
      return {};
    case TensorPlaces::PixelCorners:
    case TensorPlaces::Corners:
    case TensorPlaces::CornersRowFirst: {
      HET_TRY(expect_shape(tensor.id, values, {1, kUnknownDim, kUnknownDim}));
      if (shape[2] < kBox) break;
      const bool row_first = tensor.places == TensorPlaces::CornersRowFirst;
      place_corners(all, static_cast<size_t>(shape[2]), row_first ? lines.y : lines.x,
                    row_first ? lines.x : lines.y);
      return {};
    }
  }
  return error(StatusCode::ShapeMismatch, "tensor '{}' {} is too small for boxes", tensor.id,
               to_string(values.desc()));
}

}  // namespace

Result<Tensor> exchanged_values(const GroupTensor& tensor, const Tensor& given,
                                const DecodeContext& context) {
  if (!tensor.is_known) return given;
  Tensor values = given;
  const bool same_values =
      is_static(tensor.shape) && element_count(tensor.shape) == given.element_count();
  if (!tensor.is_transposed && same_values && tensor.shape != given.shape()) {
    HET_ASSIGN(values, given.reshaped(tensor.shape));
  }
  const PlaceLines lines = lines_of(tensor.places, context);
  const bool stays = values.type() == ElementType::Float32 && !tensor.is_transposed &&
                     lines.x.is_identity() && lines.y.is_identity();
  if (stays) return values;
  Shape shape = values.shape();
  if (tensor.is_transposed) {
    HET_TRY(expect_shape(tensor.id, values, {1, kUnknownDim, kUnknownDim}));
    std::swap(shape[1], shape[2]);
  }
  HET_ASSIGN(Tensor result, Tensor::allocate({ElementType::Float32, shape}));
  if (result.element_count() == 0) return result;
  HET_ASSIGN(const OutputValues source, OutputValues::whole(values));
  const std::span<float> to = result.values<float>();
  if (tensor.is_transposed) {
    const auto planes = static_cast<size_t>(shape[1]);
    const auto count = static_cast<size_t>(shape[2]);
    for (size_t n = 0; n < count; ++n)
      for (size_t v = 0; v < planes; ++v) to[v * count + n] = source[n * planes + v];
  } else {
    std::ranges::copy(source.values(), to.begin());
  }
  HET_TRY(place(tensor, lines, result));
  return result;
}

}  // namespace het
