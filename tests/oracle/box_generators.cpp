#include <algorithm>
#include <cmath>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr double kExtent = 16;  ///< of the pictures that boxes lie in, in pixels

int64_t box_count(Draw& d) {
  return d.pick<int64_t>({1, 4, 9, 16, 0});
}

/// Boxes of every image, or `roisnum` says how many of all boxes each image has.
void selected_boxes(Draw& d) {
  const bool normalized = d.flag();
  const double extent = normalized ? 1 : kExtent;
  const int64_t count = box_count(d);
  const bool counted = d.generator().type == "MulticlassNms" && d.below(3) == 2;
  const int64_t n = counted ? d.between(1, 3) : d.dim();
  const int64_t classes = d.between(1, 3);
  if (counted) {
    d.input(d.boxes(ElementType::Float32, {classes, count, 4}, extent));
    d.input(ElementType::Float32, {classes, count}, 0, 1);
    Ints counts;
    int64_t left = count;
    for (int64_t i = 0; i < n; ++i) {
      counts.push_back(i + 1 < n ? d.below(left + 1) : left);
      left -= counts.back();
    }
    d.input(Draw::list(d.type("i64 i32"), counts));
  } else {
    d.input(d.boxes(ElementType::Float32, {n, count, 4}, extent));
    d.input(ElementType::Float32, {n, classes, count}, 0, 1);
  }
  if (!normalized) d.attribute("normalized", int64_t{0});
  d.attributes(
      "sort_result_type:s=|classid|score sort_result_across_batch:i=|1 output_type:s=|i32 "
      "score_threshold:f=|0.25|0.75 nms_top_k:i=|3|0 keep_top_k:i=|4|1 background_class:i=|0|1");
  d.attributes(d.generator().attributes);
  d.call().outputs = static_cast<size_t>(d.between(1, 3));
}

/// Thresholds are scalars or vectors of one element; each may be left out with all behind it.
void soft_nms(Draw& d) {
  const bool rotated = d.generator().type == "NMSRotated";
  const int64_t n = d.dim();
  const int64_t count = box_count(d);
  const int64_t classes = d.between(1, 3);
  if (rotated) {
    // [center x, center y, width, height, angle]
    Tensor boxes = d.tensor(ElementType::Float32, {n, count, 5}, 0.05, 1);
    const auto values = boxes.values<float>();
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = i % 5 == 4 ? (values[i] * 2 - 1) * 3.5f : values[i] * static_cast<float>(kExtent);
    }
    d.input(boxes);
  } else {
    d.input(d.boxes(ElementType::Float32, {n, count, 4}, kExtent));
  }
  d.input(ElementType::Float32, {n, classes, count}, 0, 1);
  const int64_t given = rotated ? 3 : d.below(5);
  const auto one = [&](ElementType type, double value) {
    const Tensor scalar = Tensor::scalar(value);
    d.input(converted(d.flag() ? *scalar.reshaped({1}) : scalar, type));
  };
  if (given > 0) one(d.type("i64 i32"), static_cast<double>(d.between(0, 5)));
  if (given > 1) one(d.type("f32 f16"), d.pick<double>({0.5, 0, 0.25, 1}));
  if (given > 2) one(d.type("f32 f16"), d.pick<double>({0.25, 0.75, 0}));
  if (given > 3) one(d.type("f32 f16"), d.pick<double>({0.5, 0, 0.125}));
  d.attributes("sort_result_descending:i=|0|1 output_type:s=|i32");
  d.attributes(d.generator().attributes);
  d.call().outputs = static_cast<size_t>(d.between(1, 3));
}

/// One image without a first dimension, or some with one.
void generate_proposals(Draw& d) {
  const bool many = d.generator().type == "GenerateProposals";
  const int64_t height = d.dim();
  const int64_t width = d.pick<int64_t>({1, 2, 3, 5});
  const int64_t anchors = d.between(1, 3);
  const int64_t n = many ? d.dim() : 1;
  const Shape images = many ? Shape{n, d.between(3, 4)} : Shape{3};
  // Height and width, then the scale of either or of both.
  Tensor sizes = d.tensor(ElementType::Float32, images, 1, 2);
  const auto values = sizes.values<float>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (i % static_cast<size_t>(images.back()) < 2) values[i] *= 10;
  }
  d.input(sizes);
  d.input(d.boxes(ElementType::Float32,
                  many ? Shape{height, width, anchors, 4} : Shape{height * width * anchors, 4},
                  kExtent));
  Shape deltas{4 * anchors, height, width};
  Shape scores{anchors, height, width};
  if (many) {
    deltas.insert(deltas.begin(), n);
    scores.insert(scores.begin(), n);
  }
  d.input(ElementType::Float32, deltas, -1, 1);
  d.input(ElementType::Float32, scores, 0, 1);
  d.attributes(
      "min_size:f=0|1|4 nms_threshold:f=0.5|0.75|0 pre_nms_count:i=100|5|0 "
      "post_nms_count:i=10|3|0");
  d.attributes(d.generator().attributes);
  d.call().outputs = static_cast<size_t>(d.between(1, many ? 3 : 2));
}

void detectron_output(Draw& d) {
  const int64_t count = box_count(d);
  const int64_t classes = d.between(1, 4);
  d.input(d.boxes(ElementType::Float32, {count, 4}, kExtent));
  d.input(ElementType::Float32, {count, 4 * classes}, -1, 1);
  d.input(ElementType::Float32, {count, classes}, 0, 1);
  d.input(d.tensor(ElementType::Float32, d.flag() ? Shape{1, 3} : Shape{3}, kExtent, 2 * kExtent));
  d.attribute("num_classes", classes);
  d.attributes(
      "score_threshold:f=0.25|0|0.75 nms_threshold:f=0.5|0|0.75 max_delta_log_wh:f=4.135|0.5 "
      "post_nms_count:i=5|100|0 max_detections_per_image:i=10|3|100 "
      "class_agnostic_box_regression:i=|0|1 deltas_weights:fs=10,10,5,5|1,1,1,1|2,1,4,3");
  d.call().outputs = static_cast<size_t>(d.between(1, 3));
}

void prior_grid(Draw& d) {
  const int64_t n = d.dim();
  const int64_t height = d.dim();
  const int64_t width = d.size();
  d.input(d.boxes(ElementType::Float32, {n, 4}, kExtent));
  d.input(ElementType::Float32, {1, d.size(), height, width});
  d.input(ElementType::Float32, {1, 3, d.between(1, 40), d.between(1, 40)});
  if (d.flag()) d.attribute("h", height);
  if (d.flag()) d.attribute("w", width);
  d.attributes("flatten:i=|0|1 stride_x:f=|0|4 stride_y:f=|0|8");
}

void roi_align_rotated(Draw& d) {
  const ElementType type = d.type();
  const Shape x{d.between(1, 2), d.size(), d.between(1, 9), d.between(1, 9)};
  const double scale = d.pick<double>({1, 0.5});
  const int64_t count = d.dim();
  d.input(type, x);
  // [center x, center y, width, height, angle], some of it around the picture.
  const Tensor regions = d.tensor(ElementType::Float64, {count, 5}, 0, 1);
  const auto values = regions.values<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    double& value = values[i];
    if (i % 5 < 2) value = (value * 1.5 - 0.25) * 9 / scale;
    if (i % 5 == 2 || i % 5 == 3) value *= 9 / scale;
    if (i % 5 == 4) value = (value * 2 - 1) * 3.5;
  }
  d.input(converted(regions, type));
  d.input(d.type("i64 i32"), {count}, 0, static_cast<double>(x[0] - 1));
  d.attribute("pooled_h", d.between(1, 4));
  d.attribute("pooled_w", d.between(1, 4));
  d.attribute("spatial_scale", static_cast<float>(scale));
  d.attributes("sampling_ratio:i=|2|0|1 clockwise_mode:i=|1|0");
}

constexpr Generator kBoxTable[] = {
    {"het", "MulticlassNms", selected_boxes, "f32", 0, 1,
     "iou_threshold:f=0.5|0|0.75 nms_eta:f=|0.75|1"},
    {"het", "MatrixNms", selected_boxes, "f32", 0, 1,
     "decay_function:s=|gaussian|linear gaussian_sigma:f=|0.5 post_threshold:f=|0.25"},
    {"het", "NonMaxSuppression", soft_nms, "f32", 0, 1, "box_encoding:s=|corner|center"},
    {"het", "NMSRotated", soft_nms, "f32", 0, 1, "clockwise:i=|0|1"},
    {"het", "GenerateProposals", generate_proposals, "f32", 0, 1,
     "normalized:i=|1|0 nms_eta:f=|0.75 roi_num_type:s=|i32"},
    {"het", "ExperimentalDetectronGenerateProposalsSingleImage", generate_proposals},
    {"het", "ExperimentalDetectronDetectionOutput", detectron_output},
    {"het", "ExperimentalDetectronPriorGridGenerator", prior_grid},
    {"het", "ROIAlignRotated", roi_align_rotated, "f32 f16 f64 bf16"},
};

}  // namespace

std::span<const Generator> box_generators() {
  return kBoxTable;
}

}  // namespace het::oracle
