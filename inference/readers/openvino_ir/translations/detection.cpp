#include <algorithm>

#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Operations that ONNX lacks and that keep their names, attributes and inputs in the domain het,
/// and NonMaxSuppression, which ONNX has.
namespace het::ir {
namespace {

using Kind = OwnAttributeKind;

struct Row {
  std::string_view type;
  std::vector<OwnAttribute> attributes;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows = {
      {"DetectionOutput",
       {{"num_classes", Kind::Int},
        {"background_label_id", Kind::Int},
        {"top_k", Kind::Int},
        {"variance_encoded_in_target", Kind::Flag},
        {"keep_top_k", Kind::Ints},
        {"code_type", Kind::Text},
        {"share_location", Kind::Flag},
        {"nms_threshold", Kind::Real},
        {"confidence_threshold", Kind::Real},
        {"clip_after_nms", Kind::Flag},
        {"clip_before_nms", Kind::Flag},
        {"decrease_label_id", Kind::Flag},
        {"normalized", Kind::Flag},
        {"input_height", Kind::Int},
        {"input_width", Kind::Int},
        {"objectness_score", Kind::Real}}},
      {"PriorBox",
       {{"min_size", Kind::Reals},
        {"max_size", Kind::Reals},
        {"aspect_ratio", Kind::Reals},
        {"density", Kind::Reals},
        {"fixed_ratio", Kind::Reals},
        {"fixed_size", Kind::Reals},
        {"clip", Kind::Flag},
        {"flip", Kind::Flag},
        {"step", Kind::Real},
        {"offset", Kind::Real},
        {"variance", Kind::Reals},
        {"scale_all_sizes", Kind::Flag},
        {"min_max_aspect_ratios_order", Kind::Flag}}},
      {"PriorBoxClustered",
       {{"width", Kind::Reals},
        {"height", Kind::Reals},
        {"clip", Kind::Flag},
        {"step", Kind::Real},
        {"step_w", Kind::Real},
        {"step_h", Kind::Real},
        {"offset", Kind::Real},
        {"variance", Kind::Reals}}},
      {"Proposal",
       {{"base_size", Kind::Int},
        {"pre_nms_topn", Kind::Int},
        {"post_nms_topn", Kind::Int},
        {"nms_thresh", Kind::Real},
        {"feat_stride", Kind::Int},
        {"min_size", Kind::Int},
        {"ratio", Kind::Reals},
        {"scale", Kind::Reals},
        {"clip_before_nms", Kind::Flag},
        {"clip_after_nms", Kind::Flag},
        {"normalize", Kind::Flag},
        {"box_size_scale", Kind::Real},
        {"box_coordinate_scale", Kind::Real},
        {"framework", Kind::Text}}},
      {"RegionYolo",
       {{"anchors", Kind::Reals},
        {"axis", Kind::Int},
        {"coords", Kind::Int},
        {"classes", Kind::Int},
        {"end_axis", Kind::Int},
        {"num", Kind::Int},
        {"do_softmax", Kind::Flag},
        {"mask", Kind::Ints}}},
      {"ReorgYolo", {{"stride", Kind::Int}}},
      {"CTCGreedyDecoder", {{"ctc_merge_repeated", Kind::Flag}}},
      {"CTCGreedyDecoderSeqLen",
       {{"merge_repeated", Kind::Flag},
        {"classes_index_type", Kind::Type},
        {"sequence_length_type", Kind::Type}}},
      {"FakeQuantize", {{"levels", Kind::Int}, {"auto_broadcast", Kind::Text}}},
      {"ROIPooling",
       {{"pooled_h", Kind::Int},
        {"pooled_w", Kind::Int},
        {"spatial_scale", Kind::Real},
        {"method", Kind::Text}}},
      {"PSROIPooling",
       {{"output_dim", Kind::Int},
        {"group_size", Kind::Int},
        {"spatial_scale", Kind::Real},
        {"mode", Kind::Text},
        {"spatial_bins_x", Kind::Int},
        {"spatial_bins_y", Kind::Int}}},
      {"DeformablePSROIPooling",
       {{"output_dim", Kind::Int},
        {"group_size", Kind::Int},
        {"spatial_scale", Kind::Real},
        {"mode", Kind::Text},
        {"spatial_bins_x", Kind::Int},
        {"spatial_bins_y", Kind::Int},
        {"trans_std", Kind::Real},
        {"part_size", Kind::Int}}},
      {"MulticlassNms",
       {{"sort_result_type", Kind::Text},
        {"sort_result_across_batch", Kind::Flag},
        {"output_type", Kind::Type},
        {"iou_threshold", Kind::Real},
        {"score_threshold", Kind::Real},
        {"nms_top_k", Kind::Int},
        {"keep_top_k", Kind::Int},
        {"background_class", Kind::Int},
        {"nms_eta", Kind::Real},
        {"normalized", Kind::Flag}}},
      {"MatrixNms",
       {{"sort_result_type", Kind::Text},
        {"sort_result_across_batch", Kind::Flag},
        {"output_type", Kind::Type},
        {"score_threshold", Kind::Real},
        {"nms_top_k", Kind::Int},
        {"keep_top_k", Kind::Int},
        {"background_class", Kind::Int},
        {"decay_function", Kind::Text},
        {"gaussian_sigma", Kind::Real},
        {"post_threshold", Kind::Real},
        {"normalized", Kind::Flag}}},
      {"ExperimentalDetectronDetectionOutput",
       {{"score_threshold", Kind::Real},
        {"nms_threshold", Kind::Real},
        {"max_delta_log_wh", Kind::Real},
        {"num_classes", Kind::Int},
        {"post_nms_count", Kind::Int},
        {"max_detections_per_image", Kind::Int},
        {"class_agnostic_box_regression", Kind::Flag},
        {"deltas_weights", Kind::Reals}}},
      {"ExperimentalDetectronGenerateProposalsSingleImage",
       {{"min_size", Kind::Real},
        {"nms_threshold", Kind::Real},
        {"post_nms_count", Kind::Int},
        {"pre_nms_count", Kind::Int}}},
      {"ExperimentalDetectronPriorGridGenerator",
       {{"flatten", Kind::Flag},
        {"h", Kind::Int},
        {"w", Kind::Int},
        {"stride_x", Kind::Real},
        {"stride_y", Kind::Real}}},
      {"GenerateProposals",
       {{"min_size", Kind::Real},
        {"nms_threshold", Kind::Real},
        {"pre_nms_count", Kind::Int},
        {"post_nms_count", Kind::Int},
        {"normalized", Kind::Flag},
        {"nms_eta", Kind::Real},
        {"roi_num_type", Kind::Type}}},
      {"NonMaxSuppression",
       {{"box_encoding", Kind::Text},
        {"sort_result_descending", Kind::Flag},
        {"output_type", Kind::Type}}},
      {"NMSRotated",
       {{"sort_result_descending", Kind::Flag},
        {"output_type", Kind::Type},
        {"clockwise", Kind::Flag}}},
      {"ROIAlignRotated",
       {{"pooled_h", Kind::Int},
        {"pooled_w", Kind::Int},
        {"sampling_ratio", Kind::Int},
        {"spatial_scale", Kind::Real},
        {"clockwise_mode", Kind::Flag}}},
      {"ReadValue",
       {{"variable_id", Kind::Text},
        {"variable_type", Kind::Type},
        {"variable_shape", Kind::Dims}}},
      {"Assign", {{"variable_id", Kind::Text}}},
  };
  return kRows;
}

void own_operation(LayerContext& context) {
  for (const Row& row : rows()) {
    if (row.type != context.layer().type) continue;
    return finish_own_operator(context, row.attributes);
  }
}

/// The selected boxes in order of descending score.
Value* sorted_by_score(LayerContext& context, Value* selected) {
  Value* const scores = context.add("GatherND", {context.input(1), selected});
  const std::vector<Value*> order =
      context.add_many("TopK", {scores, context.add("Shape", {scores})}, 2);
  return context.add("Gather", {selected, order[1]});
}

/// Versions 1 to 4 give the selected boxes only, 5 and 9 also scores and their number. The tables
/// have as many rows as there are boxes: the rows of -1 behind them, of which OpenVINO's text
/// speaks, are not in its results either.
void non_max_suppression(LayerContext& context) {
  if (const auto sigma = context.constant_reals(5);
      context.has_input(5) && (!sigma || sigma->size() != 1 || (*sigma)[0] != 0.0f)) {
    return own_operation(context);  // scores of neighbours fade
  }
  const std::string encoding = context.text("box_encoding", "corner");
  std::vector<Value*> inputs{context.input(0), context.input(1)};
  if (context.has_input(2)) inputs.push_back(context.integer_list(context.input(2)));
  for (size_t i = 3; i < std::min<size_t>(context.input_count(), 5); ++i) {
    inputs.push_back(context.has_input(i) ? context.reshaped(context.input(i), {1}) : nullptr);
  }
  Value* selected = context.add("NonMaxSuppression", std::move(inputs),
                                with("center_point_box", int64_t{encoding == "center"}));
  if (context.flag("sort_result_descending", true)) selected = sorted_by_score(context, selected);
  Attributes to = with("to", onnx_type_code(context.type("output_type", "i64")));
  if (context.output_count() == 1) {
    return context.finish("Cast", {selected}, std::move(to));
  }
  Value* const scores =
      context.unsqueezed(context.add("GatherND", {context.input(1), selected}), {1});
  const ElementType score_type = context.input_type(1) == ElementType::Undefined
                                     ? ElementType::Float32
                                     : context.input_type(1);
  Value* const first_two = context.add(
      "Slice", {selected, context.integers_constant("from", {0}),
                context.integers_constant("to", {2}), context.integers_constant("axis", {1})});
  context.finish_output(0, "Cast", {selected}, to);
  context.finish_output(1, "Concat", {context.cast(first_two, score_type), scores},
                        with("axis", int64_t{1}));
  Value* const count = context.add(
      "Slice", {context.add("Shape", {selected}), context.integers_constant("from", {0}),
                context.integers_constant("to", {1})});
  context.finish_output(2, "Cast", {count}, std::move(to));
}

void ctc_loss(LayerContext& context) {
  context.refuse("CTCLoss serves training; only inference is supported");
}

/// The regions of the highest scores, followed by zeros where there are fewer than wanted.
void top_k_rois(LayerContext& context) {
  const int64_t wanted = context.integer("max_rois", 0);
  Value* const most = context.integers_constant("max_rois", {wanted});
  Value* const count = context.add("Min", {context.add("Shape", {context.input(1)}), most});
  const std::vector<Value*> best = context.add_many("TopK", {context.input(1), count}, 2);
  Value* const rows = context.add("Gather", {context.input(0), best[1]});
  Value* const pads =
      context.add("Concat",
                  {context.integers_constant("before", {0, 0}), context.add("Sub", {most, count}),
                   context.integers_constant("columns", {0})},
                  with("axis", int64_t{0}));
  context.finish("Pad", {rows, pads});
}

/// RoiAlign on every level of the pyramid; a region takes the level floor(2 + log2(sqrt(area) / 224
/// + 1e-6)), limited to those that there are. A region without an area gives 0.
void roi_feature_extractor(LayerContext& context) {
  const std::vector<int64_t> scales = context.integers("pyramid_scales");
  const size_t levels = scales.size();
  const ElementType type = context.input_type(0);
  if (levels == 0 || levels > 64 || context.input_count() != levels + 1) {
    return context.fail(Status(StatusCode::ParseError, fmt::format("it has {} scales for {} inputs",
                                                                   levels, context.input_count())));
  }
  Value* const rois = context.input(0);
  const auto number = [&](double value) { return context.scalar("number", type, value); };
  const std::vector<Value*> corners = context.add_many(
      "Split", {rois, context.integers_constant("sides", {2, 2})}, 2, with("axis", int64_t{1}));
  Attributes keep = with("keepdims", int64_t{0});
  Value* const area = context.add(
      "ReduceProd",
      {context.add("Sub", {corners[1], corners[0]}), context.integers_constant("columns", {1})},
      keep);
  Value* const parts = context.add("Div", {context.add("Sqrt", {area}), number(224)});
  Value* const logarithm = context.add("Log", {context.add("Add", {parts, number(1e-6)})});
  Value* level = context.add("Div", {logarithm, number(0.69314718055994531)});
  level = context.add("Floor", {context.add("Add", {level, number(2)})});
  level = context.add("Clip", {level, number(0), number(static_cast<double>(levels - 1))});
  Value* const has_area = context.add("Greater", {area, number(0)});
  Value* const images = context.add("ConstantOfShape", {context.add("Shape", {area})},
                                    with("value", Tensor::from<int64_t>({1}, {0})));
  Attributes align = with("output_height", context.integer("output_size", 1));
  align.set("output_width", context.integer("output_size", 1));
  align.set("sampling_ratio", context.integer("sampling_ratio", 0));
  align.set("coordinate_transformation_mode",
            std::string(context.flag("aligned", false) ? "half_pixel" : "output_half_pixel"));
  Value* result = number(0);
  for (size_t i = 0; i < levels; ++i) {
    if (scales[i] < 1) {
      return context.fail(
          Status(StatusCode::ParseError, fmt::format("its pyramid_scales contain {}", scales[i])));
    }
    align.set("spatial_scale", 1.0f / static_cast<float>(scales[i]));
    Value* const pooled = context.add("RoiAlign", {context.input(i + 1), rois, images}, align);
    Value* const here = context.add(
        "And", {has_area, context.add("Equal", {level, number(static_cast<double>(i))})});
    result = context.add("Where", {context.unsqueezed(here, {1, 2, 3}), pooled, result});
  }
  context.finish_output(0, "Identity", {result});
  if (context.output_count() > 1) context.finish_output(1, "Identity", {rois});
}

constexpr Translation kDetectionTable[] = {
    {"DetectionOutput", own_operation},
    {"PriorBox", own_operation},
    {"PriorBoxClustered", own_operation},
    {"Proposal", own_operation},
    {"RegionYolo", own_operation},
    {"ReorgYolo", own_operation},
    {"CTCGreedyDecoder", own_operation},
    {"CTCGreedyDecoderSeqLen", own_operation},
    {"CTCLoss", ctc_loss},
    {"FakeQuantize", own_operation},
    {"ROIPooling", own_operation},
    {"PSROIPooling", own_operation},
    {"DeformablePSROIPooling", own_operation},
    {"MulticlassNms", own_operation},
    {"MatrixNms", own_operation},
    {"ExperimentalDetectronDetectionOutput", own_operation},
    {"ExperimentalDetectronGenerateProposalsSingleImage", own_operation},
    {"ExperimentalDetectronPriorGridGenerator", own_operation},
    {"ExperimentalDetectronROIFeatureExtractor", roi_feature_extractor},
    {"ExperimentalDetectronTopKROIs", top_k_rois},
    {"GenerateProposals", own_operation},
    {"NMSRotated", own_operation},
    {"ROIAlignRotated", own_operation},
    {"ReadValue", own_operation},
    {"Assign", own_operation},
    {"NonMaxSuppression", non_max_suppression},
};

}  // namespace

std::span<const Translation> detection_translations() {
  return kDetectionTable;
}

}  // namespace het::ir
