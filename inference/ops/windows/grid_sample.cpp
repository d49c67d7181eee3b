#include "inference/ops/windows/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Result<GridSampleAttributes> grid_sample_attributes(const Node& node, const Shape& x,
                                                    const Shape& grid) {
  HET_TRY(check_attributes(node.attributes(), {{"align_corners", AttributeType::Int},
                                               {"mode", AttributeType::String},
                                               {"padding_mode", AttributeType::String}}));
  GridSampleAttributes sample;
  const std::string mode = node.attributes().get_string("mode", "linear");
  if (mode == "nearest") {
    sample.mode = GridInterpolation::Nearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    sample.mode = GridInterpolation::Cubic;
  } else if (mode != "linear" && mode != "bilinear") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be linear, nearest or cubic",
                 mode);
  }
  const std::string padding = node.attributes().get_string("padding_mode", "zeros");
  if (padding == "border") {
    sample.padding = GridPadding::Border;
  } else if (padding == "reflection") {
    sample.padding = GridPadding::Reflection;
  } else if (padding != "zeros") {
    return error(StatusCode::InvalidArgument,
                 "padding_mode is '{}', but must be zeros, border or reflection", padding);
  }
  sample.align_corners = node.attributes().get_int("align_corners", 0) != 0;

  const size_t rank = x.size();
  if (rank < 3 || rank > 5 || grid.size() != rank || grid[0] != x[0] ||
      grid.back() != static_cast<int64_t>(rank) - 2) {
    return error(StatusCode::ShapeMismatch,
                 "X has shape {} and grid {}; X must be [n, c, one to three spatial dimensions] "
                 "and grid [n, spatial dimensions of the output, their number]",
                 to_string(x), to_string(grid));
  }
  sample.output_shape = {x[0], x[1]};
  sample.output_shape.insert(sample.output_shape.end(), grid.begin() + 1, grid.end() - 1);
  HET_ASSIGN(const int64_t count, checked_element_count(sample.output_shape));
  if (count > 0 && std::find(x.begin(), x.end(), 0) != x.end()) {
    return error(StatusCode::ShapeMismatch, "X has shape {}: there is nothing to sample",
                 to_string(x));
  }
  return sample;
}

namespace {

Status infer_grid_sample(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_input(context, 1, "grid", kFloatTypes));
  HET_ASSIGN(GridSampleAttributes sample,
             grid_sample_attributes(context.node(), context.shape(0), context.shape(1)));
  context.set_output(0, context.type(0), std::move(sample.output_shape));
  return {};
}

/// Pixels of one dimension that make a sample: index -1 is a zero.
struct Taps {
  int count = 0;
  std::array<int64_t, 4> index{};
  std::array<double, 4> weight{};
};

/// Positions beyond this are outside of every picture; the bound keeps integers from overflowing.
constexpr double kFarOutside = 1e12;

/// Pixel position of the normalised coordinate: -1 and 1 are the centres of the outer pixels with
/// align_corners, else their outer edges. In Real, so that float grids round as everywhere else.
template <class Real>
double pixel_position(Real coordinate, int64_t size, bool align_corners) {
  const auto length = static_cast<Real>(size);
  const Real position =
      align_corners ? (coordinate + 1) / 2 * (length - 1) : ((coordinate + 1) * length - 1) / 2;
  const auto wide = static_cast<double>(position);
  return std::isnan(wide) ? -kFarOutside : std::clamp(wide, -kFarOutside, kFarOutside);
}

/// Mirrors at the centres of the outer pixels with align_corners, else at their outer edges.
int64_t reflect(int64_t index, int64_t size, bool align_corners) {
  const int64_t period = align_corners ? 2 * (size - 1) : 2 * size;
  if (period == 0) return 0;
  const int64_t at = (index % period + period) % period;
  if (at < size) return at;
  return align_corners ? period - at : period - 1 - at;
}

int64_t inside(const GridSampleAttributes& sample, int64_t index, int64_t size) {
  if (index >= 0 && index < size) return index;
  switch (sample.padding) {
    case GridPadding::Border:
      return std::clamp<int64_t>(index, 0, size - 1);
    case GridPadding::Reflection:
      return reflect(index, size, sample.align_corners);
    default:
      return -1;
  }
}

/// Keys' cubic convolution with a = -0.75 for a sample at distance `t` after the second tap.
std::array<double, 4> cubic_weights(double t) {
  constexpr double kA = -0.75;
  const auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
  const auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

Taps make_taps(const GridSampleAttributes& sample, double position, int64_t size) {
  Taps taps;
  if (sample.mode == GridInterpolation::Nearest) {
    // nearbyint() rounds halves to even.
    taps.count = 1;
    taps.index[0] = inside(sample, static_cast<int64_t>(std::nearbyint(position)), size);
    taps.weight[0] = 1;
    return taps;
  }
  const double floor = std::floor(position);
  const double t = position - floor;
  auto first = static_cast<int64_t>(floor);
  if (sample.mode == GridInterpolation::Linear) {
    taps.count = 2;
    taps.weight = {1 - t, t};
  } else {
    taps.count = 4;
    taps.weight = cubic_weights(t);
    --first;
  }
  for (int i = 0; i < taps.count; ++i) {
    taps.index[static_cast<size_t>(i)] = inside(sample, first + i, size);
  }
  return taps;
}

/// The weighted pixels of one plane under the taps of up to three dimensions, outermost first.
template <class T>
double sample_plane(const T* plane, const std::array<int64_t, 3>& size,
                    const std::array<Taps, 3>& taps) {
  double sum = 0;
  for (size_t z = 0; z < static_cast<size_t>(taps[0].count); ++z) {
    if (taps[0].index[z] < 0) continue;
    for (size_t y = 0; y < static_cast<size_t>(taps[1].count); ++y) {
      if (taps[1].index[y] < 0) continue;
      const T* row = plane + (taps[0].index[z] * size[1] + taps[1].index[y]) * size[2];
      const double weight = taps[0].weight[z] * taps[1].weight[y];
      for (size_t x = 0; x < static_cast<size_t>(taps[2].count); ++x) {
        if (taps[2].index[x] < 0) continue;
        sum += weight * taps[2].weight[x] * static_cast<double>(row[taps[2].index[x]]);
      }
    }
  }
  return sum;
}

/// Positions in float (double for a grid of double), weights and sums in double. Padding applies to
/// whole pixels. Order: batch, output position, channel, taps.
Status evaluate_grid_sample(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& grid = context.input(1);
  HET_ASSIGN(const GridSampleAttributes sample,
             grid_sample_attributes(context.node(), x.shape(), grid.shape()));
  if (element_count(sample.output_shape) == 0) return {};
  const size_t spatial = x.shape().size() - 2;
  std::array<int64_t, 3> size{1, 1, 1};
  std::copy(x.shape().begin() + 2, x.shape().end(), size.end() - static_cast<int64_t>(spatial));
  const int64_t plane = size[0] * size[1] * size[2];
  const int64_t channels = x.shape()[1];
  const int64_t positions = element_count(std::span<const int64_t>(sample.output_shape).subspan(2));
  Taps whole;
  whole.count = 1;
  whole.weight[0] = 1;

  return dispatch_float(grid.type(), [&]<class G>() -> Status {
    using Real = std::conditional_t<std::is_same_v<G, double>, double, float>;
    return dispatch_float(x.type(), [&]<class T>() -> Status {
      for (int64_t n = 0; n < x.shape()[0]; ++n) {
        const T* src = x.data<T>() + n * channels * plane;
        T* dst = context.output(0).data<T>() + n * channels * positions;
        for (int64_t i = 0; i < positions; ++i) {
          const G* at = grid.data<G>() + (n * positions + i) * static_cast<int64_t>(spatial);
          std::array<Taps, 3> taps{whole, whole, whole};
          for (size_t d = 0; d < spatial; ++d) {
            const double position =
                pixel_position(static_cast<Real>(at[d]), size[2 - d], sample.align_corners);
            taps[2 - d] = make_taps(sample, position, size[2 - d]);
          }
          for (int64_t c = 0; c < channels; ++c) {
            dst[c * positions + i] = numeric_cast<T>(sample_plane(src + c * plane, size, taps));
          }
        }
      }
      return {};
    });
  });
}

}  // namespace

HET_REGISTRATION void register_grid_sample(OpRegistry& registry) {
  registry.add({"GridSample", "", 22, 2, 2, infer_grid_sample, evaluate_grid_sample});
}

}  // namespace het
