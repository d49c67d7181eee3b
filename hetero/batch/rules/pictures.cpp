#include "hetero/batch/rules/rule.h"

namespace het::hetero {
namespace {

/// [batch, channels, ...]: weights, scales and sizes are the same for all items.
Status of_pictures(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0}));
  return follow_dimension_0(context);
}

/// Input 2 and 4 say for every item where it is sampled.
Status deform_conv(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_others_shared({0, 2, 4}));
  return follow_dimension_0(context);
}

/// The second output counts elements of the whole input.
Status max_pool(RuleContext& context) {
  HET_TRY(of_pictures(context));
  context.set(1, {.kind = ItemsKind::Places,
                  .axis = context.input(0).axis,
                  .places = element_count(context.shape(0)) / context.batch()});
  return {};
}

/// What its second output counts, nobody may read.
Status adaptive_max_pool(RuleContext& context) {
  HET_TRY(of_pictures(context));
  context.set(1, {.kind = ItemsKind::Places});
  return {};
}

/// Places are right where an item of the output has as many elements as they count.
Status max_unpool(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  const BatchAxis axis = context.input(0).axis;
  const Items& places = context.input(1);
  if (axis != BatchAxis() || places.kind != ItemsKind::Places || places.axis != axis ||
      places.places * context.batch() != element_count(context.output_shape())) {
    return context.refuse("its indices count elements of all items together");
  }
  context.set(0, context.input(0));
  return {};
}

Status grid_sample(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_batched(1));
  return follow_dimension_0(context);
}

/// theta [batch, ...] and the size of the output, which has the batch too.
Status affine_grid(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  return follow_dimension_0(context);
}

/// The dimension of the items has to stay as it is.
Status resize(RuleContext& context) {
  enum : size_t { kX, kRoi, kScales };
  HET_TRY(context.need_batched(kX));
  const size_t dim = context.input(kX).axis.dim;
  if (context.output_shape()[dim] != context.shape(kX)[dim]) HET_TRY(context.need_apart(kX, dim));
  if (context.has_input(kRoi) && element_count(context.shape(kRoi)) > 0 &&
      context.node().attributes().get_string("coordinate_transformation_mode", "") ==
          "tf_crop_and_resize") {
    return context.refuse("it crops, maybe among the items");
  }
  const Tensor* const scales = context.constant(kScales);
  if (context.has_input(kScales) && scales == nullptr) {
    return context.refuse("its scales are not known before run time");
  }
  if (scales != nullptr && scales->element_count() > 0) {
    HET_ASSIGN(const std::vector<float> values, to_float_vector(*scales));
    std::vector<int64_t> axes = context.node().attributes().get_ints("axes");
    for (size_t d = axes.size(); d < values.size(); ++d) axes.push_back(static_cast<int64_t>(d));
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t axis = axes[i] < 0 ? axes[i] + static_cast<int64_t>(context.rank(kX)) : axes[i];
      if (values[i] != 1.0f) HET_TRY(context.need_apart(kX, static_cast<size_t>(axis)));
    }
  }
  context.set(0, context.input(kX));
  return {};
}

Status regions(RuleContext& context) {
  return context.refuse("it takes regions whose picture is said by their numbers");
}

Status region_yolo(RuleContext& context) {
  if (context.axis("axis", 1, context.rank(0)) == 0) {
    return context.refuse("it joins dimension 0, which holds the items, with others");
  }
  return of_pictures(context);
}

}  // namespace

std::vector<RuleRow> picture_rules() {
  std::vector<RuleRow> rows{
      {"DeformConv", "", deform_conv},
      {"DeformConv", "het", deform_conv},
      {"MaxPool", "", max_pool},
      {"MaxUnpool", "", max_unpool, 1u << 2, 1u << 1},
      {"GridSample", "", grid_sample},
      {"AffineGrid", "", affine_grid, 1u << 1},
      {"Resize", "", resize, 1u << 3},
      {"RegionYolo", "het", region_yolo},
      {"AdaptiveAvgPool", "het", of_pictures},
      {"AdaptiveMaxPool", "het", adaptive_max_pool},
      {"ReorgYolo", "het", of_pictures},
      {"QLinearAveragePool", "com.microsoft", of_pictures},
      {"QLinearGlobalAveragePool", "com.microsoft", of_pictures},
      {"CropAndResize", "com.microsoft", regions},
  };
  for (const std::string_view type :
       {"Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "AveragePool", "LpPool",
        "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool", "Col2Im"}) {
    rows.push_back({type, "", of_pictures});
  }
  for (const std::string_view type : {"RoiAlign", "MaxRoiPool"})
    rows.push_back({type, "", regions});
  for (const std::string_view type :
       {"ROIAlign", "ROIAlignRotated", "ROIPooling", "PSROIPooling", "DeformablePSROIPooling"}) {
    rows.push_back({type, "het", regions});
  }
  return rows;
}

}  // namespace het::hetero
