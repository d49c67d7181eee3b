#include <algorithm>
#include <numeric>

#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Channels in another order, and sampling at computed places.
namespace het::ir {
namespace {

/// Channels in another order: entry i of the result is channel order[i].
void finish_channels(LayerContext& context, Value* value, const std::vector<int64_t>& order,
                     int64_t axis) {
  context.finish("Gather", {value, context.integers_constant("order", order)}, with("axis", axis));
}

/// [group, size / group] transposed along the axis: Reshape, Transpose, Reshape where the sizes are
/// known, which devices have kernels for; otherwise the channels in another order.
void shuffle_channels(LayerContext& context) {
  const Shape& x = context.input_shape(0);
  const auto rank = static_cast<int64_t>(x.size());
  if (rank == 0) return context.refuse("ShuffleChannels of unknown rank is not supported");
  const int64_t axis = context.normalized(context.integer("axis", 1), rank);
  const int64_t group = context.integer("group", 1);
  const int64_t size = x[static_cast<size_t>(axis)];
  constexpr int64_t kMost = 1 << 20;
  if (size < 1 || size > kMost || group < 1 || size % group != 0) {
    return context.refuse(
        fmt::format("ShuffleChannels of {} channels in {} groups is not supported", size, group));
  }
  const int64_t part = size / group;
  const bool is_known = std::all_of(x.begin() + 1, x.end(), [](int64_t d) { return d > 0; });
  if (!is_known || axis == 0) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < part; ++i) {
      for (int64_t g = 0; g < group; ++g) order.push_back(g * part + i);
    }
    return finish_channels(context, context.input(0), order, axis);
  }
  // A 0 takes over the first dimension, whatever it is.
  std::vector<int64_t> whole(x.begin(), x.end());
  whole[0] = 0;
  std::vector<int64_t> split = whole;
  split[static_cast<size_t>(axis)] = part;
  split.insert(split.begin() + axis, group);
  std::vector<int64_t> order(static_cast<size_t>(rank) + 1);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[static_cast<size_t>(axis)], order[static_cast<size_t>(axis) + 1]);
  Value* const swapped = context.transposed(context.reshaped(context.input(0), split), order);
  context.finish("Reshape", {swapped, context.integers_constant("whole", whole)});
}

void grid_sample(LayerContext& context) {
  const std::string mode = context.text("mode", "bilinear");
  Attributes attributes = with("align_corners", int64_t{context.flag("align_corners", false)});
  attributes.set("mode", mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
  attributes.set("padding_mode", context.text("padding_mode", "zeros"));
  context.finish("GridSample", {context.input(0), context.input(1)}, std::move(attributes));
}

/// ONNX' maximum is taken of weighted neighbours, and its half_pixel is what OpenVINO calls
/// half_pixel_for_nn; OpenVINO's half_pixel shifts the regions before they are scaled, too.
void roi_align(LayerContext& context) {
  const std::string mode = context.text("mode", "avg");
  const std::string aligned = context.text("aligned_mode", "asymmetric");
  if (mode != "avg" || aligned == "half_pixel") {
    constexpr OwnAttribute kAttributes[] = {
        {"pooled_h", OwnAttributeKind::Int},       {"pooled_w", OwnAttributeKind::Int},
        {"sampling_ratio", OwnAttributeKind::Int}, {"spatial_scale", OwnAttributeKind::Real},
        {"mode", OwnAttributeKind::Text},          {"aligned_mode", OwnAttributeKind::Text}};
    return finish_own_operator(context, kAttributes);
  }
  Attributes attributes = with("output_height", context.integer("pooled_h", 1));
  attributes.set("output_width", context.integer("pooled_w", 1));
  attributes.set("sampling_ratio", context.integer("sampling_ratio", 0));
  attributes.set("spatial_scale", context.real("spatial_scale", 1.0f));
  attributes.set("mode", mode);
  attributes.set("coordinate_transformation_mode",
                 std::string(aligned == "half_pixel_for_nn" ? "half_pixel" : "output_half_pixel"));
  context.finish("RoiAlign",
                 {context.input(0), context.input(1), context.integer_list(context.input(2))},
                 std::move(attributes));
}

constexpr Translation kSpaceTable[] = {
    {"ShuffleChannels", shuffle_channels},
    {"GridSample", grid_sample},
    {"ROIAlign", roi_align},
};

}  // namespace

std::span<const Translation> space_translations() {
  return kSpaceTable;
}

}  // namespace het::ir
