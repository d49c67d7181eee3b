#include <algorithm>

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/key_selection.h"
#include "devices/gpu/products/rows.h"
#include "inference/base/registration.h"
#include "inference/ops/detection/het_detection_output.h"

namespace het::gpu {
namespace {

constexpr size_t kObjectnessInput = 3;
constexpr size_t kRefinementInput = 4;

Result<DetectionOutputAttributes> detection_attributes(const Node& node) {
  std::vector<Shape> shapes;
  for (const Value* value : node.inputs()) {
    if (value != nullptr) shapes.push_back(value->desc().shape);
  }
  return detection_output_attributes(node.attributes(), shapes);
}

/// Best first, so many of a row compete.
int64_t candidates_of(const DetectionOutputAttributes& attributes) {
  return attributes.top_k < 0 ? attributes.priors : std::min(attributes.top_k, attributes.priors);
}

std::string refuse_detection_output(const Node& node) {
  if (node.input(0)->desc().type != ElementType::Float32) {
    return fmt::format("DetectionOutput of {} has no GPU kernel, only that of float32",
                       to_string(node.input(0)->desc().type));
  }
  const Result<DetectionOutputAttributes> attributes = detection_attributes(node);
  if (!attributes) return attributes.error().message();
  if (candidates_of(*attributes) < 1) return "top_k is 0: nothing competes";
  constexpr int64_t kMostKeys = int64_t{1} << 28;
  if (attributes->images * attributes->classes > kMostKeys / attributes->priors) {
    return fmt::format("{} images, {} classes and {} priors are more than 2^28 candidates",
                       attributes->images, attributes->classes, attributes->priors);
  }
  return {};
}

/// Everything that the steps share; inputs are read as float32, whatever the plan stores.
struct Detection {
  DetectionOutputAttributes attributes;
  ProgramText text;
  int64_t rows = 0;  ///< classes of all images, or images
  int64_t rows_of_image = 0;
  int64_t k = 0;  ///< candidates of a row
  TensorId logits = kNoTensor;
  TensorId scores = kNoTensor;
  TensorId priors = kNoTensor;
  TensorId objectness = kNoTensor;
  TensorId refinement = kNoTensor;
  TensorId boxes = kNoTensor;
  TensorId labels = kNoTensor;
  TensorId keys = kNoTensor;
  TensorId kept = kNoTensor;
  TensorId kept_count = kNoTensor;
};

TensorId temporary(PlanBuilder& builder, ElementType type, int64_t elements) {
  return builder.temporary({type, {elements}, Format::Plain});
}

Result<Detection> read_inputs(PlanBuilder& builder, const Node& node) {
  Detection detection;
  HET_ASSIGN(detection.attributes, detection_attributes(node));
  const DetectionOutputAttributes& attributes = detection.attributes;
  detection.rows_of_image = attributes.best_class_only ? 1 : attributes.classes;
  detection.rows = attributes.images * detection.rows_of_image;
  detection.k = candidates_of(attributes);
  detection.text.file = "detection_output";
  detection.text.options =
      lane_options(builder) + (attributes.best_class_only ? " -DBEST_CLASS" : "");
  const auto read = [&](size_t index) -> Result<TensorId> {
    if (node.input(index) == nullptr) return kNoTensor;
    return builder.read(*node.input(index), Format::Plain, ElementType::Float32);
  };
  HET_ASSIGN(detection.logits, read(0));
  HET_ASSIGN(detection.scores, read(1));
  HET_ASSIGN(detection.priors, read(2));
  HET_ASSIGN(detection.objectness, read(kObjectnessInput));
  HET_ASSIGN(detection.refinement, read(kRefinementInput));
  return detection;
}

Status decode(PlanBuilder& builder, const Node& node, Detection& detection) {
  const DetectionOutputAttributes& attributes = detection.attributes;
  const Shape& priors = node.input(2)->desc().shape;
  const int64_t boxes = attributes.priors * attributes.location_classes;
  detection.boxes = temporary(builder, ElementType::Float32, attributes.images * boxes * 4);
  Launch launch;
  launch.text = detection.text;
  launch.kernel = "decode_boxes";
  launch.args = {Read{detection.logits},
                 Read{detection.priors},
                 Read{detection.refinement},
                 Write{detection.boxes},
                 as_int(attributes.images),
                 as_int(attributes.priors),
                 as_int(attributes.location_classes),
                 as_int(attributes.prior_sets == 1 ? 0 : priors[1] * priors[2]),
                 as_int(attributes.variance_in_target ? 0 : priors[2]),
                 as_int(attributes.prior_size()),
                 static_cast<cl_float>(attributes.input_width),
                 static_cast<cl_float>(attributes.input_height),
                 static_cast<cl_int>(attributes.code),
                 cl_int{attributes.clip_before_nms}};
  set_place_range(builder, launch, boxes, attributes.images);
  return builder.add_step(node, std::move(launch));
}

Status sort_candidates(PlanBuilder& builder, const Node& node, Detection& detection) {
  const DetectionOutputAttributes& attributes = detection.attributes;
  const TensorId keys = temporary(builder, ElementType::UInt64, detection.rows * attributes.priors);
  if (attributes.best_class_only) {
    detection.labels =
        temporary(builder, ElementType::Int32, attributes.images * attributes.priors);
  }
  Launch launch;
  launch.text = detection.text;
  launch.kernel = "make_keys";
  launch.args = {Read{detection.scores},
                 Read{detection.objectness},
                 Write{keys},
                 Write{detection.labels},
                 as_int(attributes.images),
                 as_int(attributes.priors),
                 as_int(attributes.classes),
                 as_int(std::max<int64_t>(attributes.background, -1)),
                 cl_float{attributes.confidence_threshold},
                 cl_float{attributes.objectness_score}};
  set_place_range(builder, launch, attributes.priors, detection.rows);
  HET_TRY(builder.add_step(node, std::move(launch)));
  HET_ASSIGN(detection.keys,
             select_keys(builder, node, keys, detection.rows, attributes.priors, detection.k));
  return {};
}

Status suppress(PlanBuilder& builder, const Node& node, Detection& detection) {
  const DetectionOutputAttributes& attributes = detection.attributes;
  detection.kept = temporary(builder, ElementType::Int32, detection.rows * detection.k);
  detection.kept_count = temporary(builder, ElementType::Int32, detection.rows);
  Launch launch;
  launch.text = detection.text;
  launch.kernel = "suppress";
  launch.args = {Read{detection.keys},
                 Read{detection.boxes},
                 Read{detection.labels},
                 Write{detection.kept},
                 Write{detection.kept_count},
                 as_int(detection.rows),
                 as_int(attributes.priors),
                 as_int(attributes.classes),
                 as_int(attributes.location_classes),
                 as_int(detection.k),
                 as_int(std::min<int64_t>(attributes.keep_top_k, detection.k)),
                 cl_float{attributes.nms_threshold}};
  set_row_range(builder, launch, detection.rows);
  return builder.add_step(node, std::move(launch));
}

Status write_rows(PlanBuilder& builder, const Node& node, const Detection& detection) {
  const DetectionOutputAttributes& attributes = detection.attributes;
  const Value& output = *node.output();
  const int64_t most = detection.rows_of_image * detection.k;
  const int64_t limit = attributes.keep_top_k < 0 || attributes.keep_top_k >= most
                            ? int64_t{-1}
                            : attributes.keep_top_k;
  const int64_t capacity = output.desc().shape[2];
  // Boxes would lose pixels in float16.
  const TensorId dst =
      builder.write(output, {ElementType::Float32, output.desc().shape, Format::Plain});
  const TensorId survives = temporary(builder, ElementType::Int32, detection.rows * detection.k);
  Launch clear;
  clear.text = detection.text;
  clear.kernel = "clear_detections";
  clear.args = {Write{dst}, as_int(capacity * 7)};
  clear.global = {static_cast<size_t>(capacity * 7), 1, 1};
  clear.local = builder.row_local();
  HET_TRY(builder.add_step(node, std::move(clear)));
  Launch rank;
  rank.text = detection.text;
  rank.kernel = "rank_detections";
  rank.args = {Read{detection.keys},
               Read{detection.labels},
               Read{detection.kept},
               Read{detection.kept_count},
               Write{survives},
               as_int(detection.rows),
               as_int(detection.rows_of_image),
               as_int(attributes.priors),
               as_int(attributes.classes),
               as_int(detection.k),
               as_int(limit)};
  set_place_range(builder, rank, detection.k, detection.rows);
  HET_TRY(builder.add_step(node, std::move(rank)));
  Launch last;
  last.text = detection.text;
  last.kernel = "write_detections";
  last.args = {Read{detection.keys},
               Read{detection.boxes},
               Read{detection.labels},
               Read{detection.scores},
               Read{detection.objectness},
               Read{detection.kept},
               Read{detection.kept_count},
               Read{survives},
               Write{dst},
               as_int(detection.rows),
               as_int(detection.rows_of_image),
               as_int(attributes.priors),
               as_int(attributes.classes),
               as_int(attributes.location_classes),
               as_int(detection.k),
               as_int(limit),
               as_int(capacity),
               as_int(std::max<int64_t>(attributes.background, -1)),
               cl_float{attributes.objectness_score},
               cl_int{attributes.clip_after_nms}};
  set_place_range(builder, last, detection.k, detection.rows);
  return builder.add_step(node, std::move(last));
}

Status plan_detection_output(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(Detection detection, read_inputs(builder, node));
  HET_TRY(decode(builder, node, detection));
  HET_TRY(sort_candidates(builder, node, detection));
  HET_TRY(suppress(builder, node, detection));
  return write_rows(builder, node, detection);
}

}  // namespace

HET_REGISTRATION void register_detection_output(KernelRegistry& registry) {
  registry.add("het", "DetectionOutput", {refuse_detection_output, plan_detection_output});
}

}  // namespace het::gpu
