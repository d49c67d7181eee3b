#include <algorithm>
#include <optional>

#include "hetero/batch/rules/rule.h"
#include "inference/ops/movement/pad.h"
#include "inference/ops/movement/slice.h"

namespace het::hetero {
namespace {

int64_t product(const Shape& shape, size_t first, size_t last) {
  int64_t count = 1;
  for (size_t i = first; i < last; ++i) count *= shape[i];
  return count;
}

/// Row-major order stays: the batch lies where as many elements as before come before and behind.
std::optional<BatchAxis> reshaped_axis(const BatchAxis& from, const Shape& x, const Shape& y,
                                       int64_t batch) {
  const int64_t outer = product(x, 0, from.dim) * from.outer;
  if (outer == 0 || product(y, 0, y.size()) == 0) return std::nullopt;
  int64_t before = 1;
  for (size_t d = 0; d < y.size(); before *= y[d++]) {
    if (outer % before != 0) return std::nullopt;
    const int64_t part = outer / before * batch;
    if (y[d] % part == 0) return BatchAxis{d, outer / before, y[d] / part};
  }
  return std::nullopt;
}

Status reshape(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  const auto axis = reshaped_axis(context.input(0).axis, context.shape(0), context.output_shape(),
                                  context.batch());
  if (!axis) {
    return context.refuse(fmt::format("a part of {} has elements of several items",
                                      to_string(context.output_shape())));
  }
  context.set(0, Items::batched(*axis));
  return {};
}

Status transpose(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  BatchAxis axis = context.input(0).axis;
  const auto rank = static_cast<int64_t>(context.rank(0));
  std::vector<int64_t> perm = context.node().attributes().get_ints("perm");
  if (perm.empty()) {
    for (int64_t d = rank; d-- > 0;) perm.push_back(d);
  }
  axis.dim =
      static_cast<size_t>(std::ranges::find(perm, static_cast<int64_t>(axis.dim)) - perm.begin());
  context.set(0, Items::batched(axis));
  return {};
}

/// Inputs `first`, `first` + `step` ... joined along the attribute `axis`.
Status join(RuleContext& context, size_t first, size_t step) {
  std::optional<BatchAxis> found;
  for (size_t i = 0; i < context.input_count(); ++i) {
    const bool is_part = i >= first && (i - first) % step == 0;
    if (!is_part) {
      HET_TRY(context.need_shared(i));
      continue;
    }
    HET_TRY(context.need_batched(i));
    HET_TRY(context.need_apart(i, context.axis("axis", 0, context.rank(i))));
    if (found && *found != context.input(i).axis) {
      return context.refuse("the items of its inputs lie in different dimensions");
    }
    found = context.input(i).axis;
  }
  if (found) context.set(0, Items::batched(*found));
  return {};
}

Status concat(RuleContext& context) {
  return join(context, 0, 1);
}

Status qlinear_concat(RuleContext& context) {
  return join(context, 2, 3);
}

/// The output along the batch is the input, whose other dimensions may change.
Status keep_items(RuleContext& context) {
  context.set_all(context.input(0));
  return {};
}

Status split(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  HET_TRY(context.need_apart(0, context.axis("axis", 0, context.rank(0))));
  return keep_items(context);
}

Status slice(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  for (size_t i = 1; i < context.input_count(); ++i) {
    // Other ends show in the sizes.
    if (i != 2) HET_TRY(context.need_shared(i));
    if (context.has_input(i) && context.constant(i) == nullptr) {
      return context.refuse(fmt::format("its input {} is not known before run time", i));
    }
  }
  HET_ASSIGN(const SliceRange range,
             slice_range(context.shape(0), *context.constant(1), *context.constant(2),
                         context.constant(3), context.constant(4)));
  const size_t dim = context.input(0).axis.dim;
  if (range.steps[dim] < 0) {
    return context.refuse(fmt::format("it reverses dimension {}, items would be exchanged", dim));
  }
  if (range.shape[dim] != context.shape(0)[dim]) {
    return context.refuse(
        fmt::format("it takes a part of dimension {}, which holds the items", dim));
  }
  return keep_items(context);
}

Status pad(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  const Tensor* const pads = context.constant(1);
  const Tensor* const axes = context.constant(3);
  if (pads == nullptr || (context.has_input(3) && axes == nullptr)) {
    return context.refuse("its widths are not known before run time");
  }
  HET_ASSIGN(const std::vector<int64_t> wanted, to_int64_vector(*pads));
  std::vector<int64_t> wanted_axes;
  if (axes != nullptr) {
    HET_ASSIGN(wanted_axes, to_int64_vector(*axes));
  }
  HET_ASSIGN(const PadWidths widths, pad_widths(context.shape(0), wanted, wanted_axes));
  const size_t dim = context.input(0).axis.dim;
  if (widths.begin[dim] != 0 || widths.end[dim] != 0) HET_TRY(context.need_apart(0, dim));
  return keep_items(context);
}

/// What is the same for all is repeated per item, where there was one of it. Dimensions of
/// `missing` are new.
Status repeat_shared(RuleContext& context, size_t missing) {
  const Shape& y = context.output_shape();
  for (size_t d = 0; d < y.size(); ++d) {
    const bool is_repeated = d < missing || context.shape(0)[d - missing] == 1;
    if (!is_repeated || y[d] == 0 || y[d] % context.batch() != 0) continue;
    context.set(0, Items::batched({d, 1, y[d] / context.batch()}));
    return {};
  }
  return context.refuse("it repeats what does not grow with the batch");
}

Status expand(RuleContext& context) {
  const Shape& y = context.output_shape();
  const size_t missing = y.size() - context.rank(0);
  if (context.input(0).is_shared()) return repeat_shared(context, missing);
  HET_TRY(context.need_batched(0));
  BatchAxis axis = context.input(0).axis;
  axis.dim += missing;
  if (y[axis.dim] != context.shape(0)[axis.dim - missing]) {
    return context.refuse("it repeats the dimension that holds the items");
  }
  context.set(0, Items::batched(axis));
  return {};
}

Status constant_of_shape(RuleContext& context) {
  return repeat_shared(context, context.output_shape().size());
}

Status tile(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  const size_t dim = context.input(0).axis.dim;
  if (context.output_shape()[dim] != context.shape(0)[dim]) {
    return context.refuse("it repeats the dimension that holds the items");
  }
  return keep_items(context);
}

/// Pixels and channels change places within one item.
Status between_depth_and_space(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  for (size_t d = 1; d < context.rank(0); ++d) HET_TRY(context.need_apart(0, d));
  return keep_items(context);
}

Status reverse_sequence(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_apart(0, context.axis("time_axis", 0, context.rank(0))));
  const BatchAxis axis = context.input(0).axis;
  const size_t batch_axis = context.axis("batch_axis", 1, context.rank(0));
  if (axis.dim != batch_axis) {
    HET_TRY(context.need_shared(1));
  } else if (!context.input(1).is_batched() ||
             context.input(1).axis != BatchAxis{0, axis.outer, axis.inner}) {
    return context.refuse("its lengths are not those of the items");
  }
  return keep_items(context);
}

Status center_crop_pad(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  const size_t dim = context.input(0).axis.dim;
  if (context.output_shape()[dim] != context.shape(0)[dim]) HET_TRY(context.need_apart(0, dim));
  return keep_items(context);
}

}  // namespace

std::vector<RuleRow> movement_rules() {
  return {
      {"Reshape", "", reshape, 1u << 1},
      {"Flatten", "", reshape},
      {"Squeeze", "", reshape},
      {"Unsqueeze", "", reshape},
      {"Transpose", "", transpose},
      {"Concat", "", concat},
      {"QLinearConcat", "com.microsoft", qlinear_concat},
      {"Split", "", split},
      {"Slice", "", slice, 1u << 2},
      {"Pad", "", pad},
      {"Expand", "", expand, 1u << 1},
      {"ConstantOfShape", "", constant_of_shape, 1u << 0},
      {"Tile", "", tile, 1u << 1},
      {"DepthToSpace", "", between_depth_and_space},
      {"SpaceToDepth", "", between_depth_and_space},
      {"ReverseSequence", "", reverse_sequence},
      {"CenterCropPad", "", center_crop_pad},
  };
}

}  // namespace het::hetero
