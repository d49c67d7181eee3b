#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/products/conv.h"

namespace het {
namespace {

enum : size_t { kDeformX, kW, kOffset, kBias, kDeformMask };

struct DeformConvDims {
  ConvAttributes conv;
  int64_t offset_groups = 1;
  int64_t spatial_rank = 2;
};

Result<DeformConvDims> deform_conv_dims(const Node& node, const Shape& x, const Shape& w) {
  HET_TRY(check_attributes(node.attributes(), {{"offset_group", AttributeType::Int}}));
  HET_ASSIGN(ConvAttributes conv, conv_attributes(node, x, w));
  const int64_t groups = node.attributes().get_int("offset_group", 1);
  if (groups < 1 || x[1] % groups != 0) {
    return error(StatusCode::InvalidArgument, "offset_group is {}, which does not divide {}",
                 groups, x[1]);
  }
  return DeformConvDims{std::move(conv), groups, static_cast<int64_t>(x.size()) - 2};
}

Status infer_deform_conv(InferContext& context) {
  HET_TRY(check_input(context, kDeformX, "X", kFloatTypes));
  HET_TRY(check_same_type(context, kDeformX, kW));
  HET_TRY(check_input(context, kOffset, "offset", kFloatTypes));
  HET_TRY(check_optional_input(context, kBias, "B", kFloatTypes));
  HET_TRY(check_optional_input(context, kDeformMask, "mask", kFloatTypes));
  HET_ASSIGN(DeformConvDims dims,
             deform_conv_dims(context.node(), context.shape(kDeformX), context.shape(kW)));
  Shape offset = dims.conv.output_shape;
  const int64_t taps = element_count(std::span(context.shape(kW)).subspan(2)) * dims.offset_groups;
  Shape mask = offset;
  mask[1] = taps;
  offset[1] = taps * dims.spatial_rank;
  if (context.shape(kOffset) != offset ||
      (context.has_input(kDeformMask) && context.shape(kDeformMask) != mask) ||
      (context.has_input(kBias) && context.shape(kBias) != Shape{dims.conv.output_shape[1]})) {
    return error(StatusCode::ShapeMismatch,
                 "offset must have shape {}, mask {} and B [{}] for X of shape {} and W of {}",
                 to_string(offset), to_string(mask), dims.conv.output_shape[1],
                 to_string(context.shape(kDeformX)), to_string(context.shape(kW)));
  }
  context.set_output(0, context.type(kDeformX), std::move(dims.conv.output_shape));
  return {};
}

/// Whether the operator is OpenVINO's without bilinear_interpolation_pad.
bool stops_at_border(const Node& node) {
  return node.domain() == "het";
}

/// Linear interpolation between the 2^3 neighbours of a position; those outside count as 0. With
/// `border` a position outside the elements' centres is 0, but at the far border the last element
/// is its own neighbour.
double sample(const double* plane, const std::array<int64_t, 3>& size,
              const std::array<double, 3>& position, bool border) {
  std::array<int64_t, 3> base{};
  std::array<double, 3> part{};
  for (size_t d = 0; d < 3; ++d) {
    // Also false for NaN: such a position is outside.
    if (!(position[d] > -1 && position[d] < static_cast<double>(size[d]))) return 0;
    if (border && position[d] < 0) return 0;
    const double below = std::floor(position[d]);
    base[d] = static_cast<int64_t>(below);
    part[d] = position[d] - below;
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    int64_t at = 0;
    bool inside = true;
    for (size_t d = 0; d < 3; ++d) {
      const bool upper = (corner >> d & 1) != 0;
      int64_t i = base[d] + (upper ? 1 : 0);
      if (border) i = std::min(i, size[d] - 1);
      weight *= upper ? part[d] : 1 - part[d];
      inside = inside && i >= 0 && i < size[d];
      at = at * size[d] + i;
    }
    if (inside && weight != 0) sum += weight * plane[at];
  }
  return sum;
}

/// What all output elements of one batch share.
struct DeformInput {
  const DeformConvDims& dims;
  Window3 win;
  const double* x;
  const double* offset;
  const double* mask;  ///< null: all ones
  bool border;

  /// The value of channel `c` under kernel element `tap` at window position `o`.
  double operator()(int64_t channel, int64_t channels, int64_t tap, int64_t o) const {
    const int64_t area = win.out_count();
    const int64_t group = channel / (channels / dims.offset_groups);
    const int64_t entry = group * win.kernel_count() + tap;
    const std::array<int64_t, 3> k{tap / (win.kernel[1] * win.kernel[2]),
                                   tap / win.kernel[2] % win.kernel[1], tap % win.kernel[2]};
    const std::array<int64_t, 3> at{o / (win.out[1] * win.out[2]), o / win.out[2] % win.out[1],
                                    o % win.out[2]};
    std::array<double, 3> position{};
    const auto missing = static_cast<size_t>(3 - dims.spatial_rank);
    for (size_t d = 0; d < 3; ++d) {
      position[d] = static_cast<double>(win.input_at(d, at[d], k[d]));
      if (d < missing) continue;
      const int64_t row = entry * dims.spatial_rank + static_cast<int64_t>(d - missing);
      position[d] += offset[row * area + o];
    }
    const double value = sample(x + channel * win.in_count(), win.in, position, border);
    return mask == nullptr ? value : value * mask[entry * area + o];
  }
};

/// Sums in double. Order: n, oc, output position, ic, kernel.
Status evaluate_deform_conv(EvaluateContext& context) {
  const Shape& x_shape = context.input(kDeformX).shape();
  const Shape& w_shape = context.input(kW).shape();
  HET_ASSIGN(const DeformConvDims dims, deform_conv_dims(context.node(), x_shape, w_shape));
  HET_ASSIGN(const std::vector<double> x, to_double_vector(context.input(kDeformX)));
  HET_ASSIGN(const std::vector<double> w, to_double_vector(context.input(kW)));
  HET_ASSIGN(const std::vector<double> offset, to_double_vector(context.input(kOffset)));
  const int64_t oc_count = dims.conv.output_shape[1];
  std::vector<double> bias(static_cast<size_t>(oc_count));
  std::vector<double> mask;
  if (context.has_input(kBias)) {
    HET_ASSIGN(bias, to_double_vector(context.input(kBias)));
  }
  if (context.has_input(kDeformMask)) {
    HET_ASSIGN(mask, to_double_vector(context.input(kDeformMask)));
  }
  const Window3 win = window3(dims.conv, std::span(x_shape).subspan(2));
  const int64_t taps = win.kernel_count();
  const int64_t per_batch = dims.offset_groups * taps * win.out_count();
  std::vector<double> y;
  y.reserve(static_cast<size_t>(context.output(0).element_count()));
  for (int64_t n = 0; n < x_shape[0]; ++n) {
    const DeformInput value{dims,
                            win,
                            x.data() + n * x_shape[1] * win.in_count(),
                            offset.data() + n * per_batch * dims.spatial_rank,
                            mask.empty() ? nullptr : mask.data() + n * per_batch,
                            stops_at_border(context.node())};
    for (int64_t oc = 0; oc < oc_count; ++oc) {
      const int64_t first = oc / (oc_count / dims.conv.group) * w_shape[1];
      for (int64_t o = 0; o < win.out_count(); ++o) {
        double sum = bias[static_cast<size_t>(oc)];
        for (int64_t i = 0; i < w_shape[1] * taps; ++i) {
          const double weight = w[static_cast<size_t>(oc * w_shape[1] * taps + i)];
          sum += weight * value(first + i / taps, x_shape[1], i % taps, o);
        }
        y.push_back(sum);
      }
    }
  }
  return store_doubles(y, context.output(0));
}

}  // namespace

HET_REGISTRATION void register_deform_conv(OpRegistry& registry) {
  registry.add({"DeformConv", "", 22, 3, 5, infer_deform_conv, evaluate_deform_conv});
  // docs.openvino.ai, operation specification DeformableConvolution-8, in ONNX' form.
  registry.add({"DeformConv", "het", 8, 3, 5, infer_deform_conv, evaluate_deform_conv});
}

}  // namespace het
