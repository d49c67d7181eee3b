#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/detection/het_prior_box.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_prior_box_clustered(InferContext& context) {
  const Attributes& attributes = context.attributes();
  HET_TRY(check_attributes(attributes, {{"width", AttributeType::Floats},
                                        {"height", AttributeType::Floats},
                                        {"clip", AttributeType::Int},
                                        {"step", AttributeType::Float},
                                        {"step_w", AttributeType::Float},
                                        {"step_h", AttributeType::Float},
                                        {"offset", AttributeType::Float, true},
                                        {"variance", AttributeType::Floats},
                                        {"output_type", AttributeType::String}}));
  const size_t widths = attributes.get_floats("width", {1.0f}).size();
  const size_t heights = attributes.get_floats("height", {1.0f}).size();
  if (widths != heights) {
    return error(StatusCode::InvalidArgument,
                 "width has {} values and height {}, but they must have as many", widths, heights);
  }
  return infer_priors(context, static_cast<int64_t>(widths));
}

/// In double, rounded once. Order: row, column, size. An absent variance is 0.1; a step of 0 is
/// `step`, and where that is 0 too in both dimensions the image's size over the grid's.
/// docs.openvino.ai, operation specification PriorBoxClustered-1 (whose x_max and y_max lack the
/// plus sign).
Status evaluate_prior_box_clustered(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  HET_ASSIGN(PriorGrid grid, read_prior_grid(context));
  grid.offset = static_cast<double>(attributes.get_float("offset", 0));
  grid.clip = attributes.get_int("clip", 1) != 0;
  const float step = attributes.get_float("step", 0);
  const float step_w = attributes.get_float("step_w", 0);
  const float step_h = attributes.get_float("step_h", 0);
  grid.step_x = static_cast<double>(step_w == 0 ? step : step_w);
  grid.step_y = static_cast<double>(step_h == 0 ? step : step_h);
  if (grid.step_x == 0 && grid.step_y == 0) {
    grid.step_x = grid.image_width / static_cast<double>(std::max<int64_t>(grid.width, 1));
    grid.step_y = grid.image_height / static_cast<double>(std::max<int64_t>(grid.height, 1));
  }
  const std::vector<float> widths = attributes.get_floats("width", {1.0f});
  const std::vector<float> heights = attributes.get_floats("height", {1.0f});
  std::vector<PriorShape> shapes;
  for (size_t i = 0; i < widths.size(); ++i) {
    shapes.push_back(
        {0, 0, static_cast<double>(widths[i]) / 2, static_cast<double>(heights[i]) / 2, false});
  }
  return write_priors(context, grid, shapes);
}

}  // namespace

HET_REGISTRATION void register_het_prior_box_clustered(OpRegistry& registry) {
  registry.add({"PriorBoxClustered", "het", 1, 2, 2, infer_prior_box_clustered,
                evaluate_prior_box_clustered});
}

}  // namespace het
