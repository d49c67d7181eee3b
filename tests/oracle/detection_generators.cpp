#include <algorithm>

#include "tests/oracle/generator.h"

namespace het::oracle {
namespace {

constexpr std::string_view kDetectionFloats = "f32 f16 f64";

void non_max_suppression(Draw& d) {
  const int64_t n = d.dim();
  const int64_t count = d.pick<int64_t>({1, 4, 9, 16});
  const int64_t classes = d.between(1, 3);
  d.input(d.boxes(ElementType::Float32, {n, count, 4}, 10));
  d.input(ElementType::Float32, {n, classes, count}, 0, 1);
  const int64_t given = d.below(4);
  if (given > 0) d.input(Tensor::scalar<int64_t>(d.between(0, 5)));
  if (given > 1) d.input(Tensor::scalar(d.pick<float>({0.5f, 0.0f, 0.25f})));
  if (given > 2) d.input(Tensor::scalar(d.pick<float>({0.25f, 0.75f})));
  d.attributes("center_point_box:i=|1");
}

void ctc_greedy_decoder(Draw& d) {
  const ElementType type = d.type();
  const int64_t steps = d.dim();
  const int64_t n = d.dim();
  d.input(type, {steps, n, d.size()});
  // The mask is 1 at the start of a sequence only.
  const Tensor raw = d.tensor(ElementType::Float64, {steps, n}, 0, 1);
  for (double& value : raw.values<double>()) value = value < 0.8 ? 1 : 0;
  d.input(converted(raw, type));
  d.attributes("ctc_merge_repeated:i=|0");
}

void ctc_greedy_decoder_seq_len(Draw& d) {
  const int64_t n = d.dim();
  const int64_t steps = d.size();
  const int64_t classes = d.size();
  d.input(d.type(), {n, steps, classes});
  d.input(ElementType::Int32, {n}, 0, static_cast<double>(steps));
  if (d.flag()) d.input(ElementType::Int32, {1}, 0, static_cast<double>(classes - 1));
  d.attributes("merge_repeated:i=|0 classes_index_type:s=|i64 sequence_length_type:s=|i64");
  d.call().outputs = 2;
}

void detection_output(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.between(1, 2);
  const int64_t priors = d.pick<int64_t>({1, 4, 12});
  const int64_t classes = d.between(1, 4);
  const bool shared = d.flag();
  const bool in_target = d.flag();
  const bool normalized = d.flag();
  const int64_t size = normalized ? 4 : 5;
  const int64_t locations = shared ? 1 : classes;
  const bool refined = d.below(4) == 3;
  d.input(type, {n, priors * locations * 4}, -1, 1);
  d.input(type, {n, priors * classes}, 0, 1);
  // Corners in order, then variances of a tenth; without normalisation an unused number first.
  const Tensor corners = d.boxes(ElementType::Float64, {priors, 4}, normalized ? 1 : 100);
  Tensor proposals =
      *Tensor::allocate({ElementType::Float64, {1, in_target ? 1 : 2, priors * size}});
  const auto values = proposals.values<double>();
  std::fill(values.begin(), values.end(), 0.1);
  for (int64_t i = 0; i < priors; ++i) {
    std::copy_n(corners.data<double>() + i * 4, 4, values.begin() + i * size + (size - 4));
  }
  d.input(converted(proposals, type));
  if (refined) {
    d.input(type, {n, priors * 2}, 0, 1);
    d.input(type, {n, priors * locations * 4}, -1, 1);
    d.attributes("objectness_score:f=|0.5");
  }
  d.attribute("num_classes", classes);
  d.attribute("share_location", int64_t{shared});
  d.attribute("variance_encoded_in_target", int64_t{in_target});
  d.attribute("normalized", int64_t{normalized});
  if (!normalized) {
    d.attribute("input_height", int64_t{100});
    d.attribute("input_width", int64_t{100});
  }
  d.attributes(
      "keep_top_k:is=5|1|-1|200 top_k:i=|3|0 background_label_id:i=|-1|1 nms_threshold:f=0.5|0.25 "
      "confidence_threshold:f=|0.25 clip_before_nms:i=|1 clip_after_nms:i=|1 "
      "decrease_label_id:i=|1 "
      "code_type:s=caffe.PriorBoxParameter.CENTER_SIZE|caffe.PriorBoxParameter.CORNER");
}

void prior_box(Draw& d) {
  d.ints({d.between(0, 4), d.between(0, 4)});
  d.ints({d.between(10, 60), d.between(10, 60)});
  d.attributes(
      "offset:f=0.5|0 variance:fs=|0.1|0.1,0.1,0.2,0.2 clip:i=|1 output_type:s=|f16|f64 step:f=|8");
  d.attributes(d.generator().attributes);
}

void proposal(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.between(1, 2);
  const int64_t height = d.between(1, 4);
  const int64_t width = d.between(1, 4);
  const int64_t ratios = d.between(1, 2);
  const int64_t scales = d.between(1, 2);
  const int64_t anchors = ratios * scales;
  d.input(type, {n, 2 * anchors, height, width}, 0, 1);
  d.input(type, {n, 4 * anchors, height, width}, -0.5, 0.5);
  const Tensor size = Tensor::from<double>({3}, {64, 48, 1});
  d.input(converted(size, type));
  d.attribute("ratio", ratios == 1 ? std::vector<float>{1} : std::vector<float>{0.5, 2});
  d.attribute("scale", scales == 1 ? std::vector<float>{2} : std::vector<float>{1, 3});
  d.attributes(
      "base_size:i=8|16 pre_nms_topn:i=20|3 post_nms_topn:i=4|10 nms_thresh:f=0.5|0.75 "
      "feat_stride:i=8|16 "
      "min_size:i=4|1 clip_before_nms:i=|0 clip_after_nms:i=|1 normalize:i=|1 "
      "framework:s=|tensorflow "
      "box_coordinate_scale:f=|2 box_size_scale:f=|2");
  d.call().outputs = static_cast<size_t>(d.between(1, 2));
}

void psroi_pooling(Draw& d) {
  const bool deformable = d.generator().type != "PSROIPooling";
  const ElementType type = d.type();
  const int64_t channels = d.between(1, 3);
  const int64_t group = d.between(1, 3);
  const bool bilinear = !deformable && d.flag();
  const int64_t bins_x = d.between(1, 2);
  const int64_t bins_y = d.between(1, 2);
  const int64_t maps = bilinear ? bins_x * bins_y : group * group;
  const int64_t n = d.between(1, 2);
  const int64_t regions = d.dim();
  const int64_t part = d.between(1, 3);
  d.input(type, {n, channels * maps, d.between(2, 8), d.between(2, 8)});
  d.input(d.boxes(type, {regions, 5}, bilinear ? 1 : 8, n));
  if (deformable && d.flag()) d.input(type, {regions, 2, part, part}, -1, 1);
  d.attribute("output_dim", channels);
  d.attribute("group_size", group);
  d.attribute("spatial_scale", bilinear ? 1.0f : d.pick<float>({1, 0.5}));
  d.attribute("spatial_bins_x", bins_x);
  d.attribute("spatial_bins_y", bins_y);
  if (bilinear) d.attribute("mode", std::string("bilinear"));
  if (deformable) {
    d.attribute("part_size", part);
    d.attributes("trans_std:f=|0.1");
  }
}

void roi_pooling(Draw& d) {
  const ElementType type = d.type();
  const int64_t n = d.between(1, 2);
  const bool bilinear = d.flag();
  d.input(type, {n, d.size(), d.between(1, 9), d.between(1, 9)});
  d.input(d.boxes(type, {d.dim(), 5}, bilinear ? 1 : 8, n));
  d.attribute("pooled_h", d.between(1, 3));
  d.attribute("pooled_w", d.between(1, 3));
  d.attribute("spatial_scale", bilinear ? 1.0f : d.pick<float>({1, 0.5}));
  if (bilinear) d.attribute("method", std::string("bilinear"));
}

void region_yolo(Draw& d) {
  const int64_t classes = d.between(0, 3);
  const int64_t regions = d.between(1, 3);
  const bool softmax = d.flag();
  d.input(d.type(), {d.dim(), regions * (classes + 5), d.between(1, 4), d.between(1, 4)});
  d.attribute("classes", classes);
  d.attribute("coords", int64_t{4});
  d.attribute("num", softmax ? regions : int64_t{9});
  d.attribute("do_softmax", int64_t{softmax});
  if (!softmax) {
    Ints mask;
    for (int64_t i = 0; i < regions; ++i) mask.push_back(i);
    d.attribute("mask", mask);
  }
  d.attributes("axis:i=|1|2|0 end_axis:i=|3");
}

void reorg_yolo(Draw& d) {
  const int64_t stride = d.between(1, 3);
  d.input(d.type(), {d.dim(), d.size() * stride * stride, d.dim() * stride, d.dim() * stride});
  d.attribute("stride", stride);
}

constexpr Generator kDetectionTable[] = {
    {"", "NonMaxSuppression", non_max_suppression},
    {"het", "CTCGreedyDecoder", ctc_greedy_decoder, kDetectionFloats},
    {"het", "CTCGreedyDecoderSeqLen", ctc_greedy_decoder_seq_len, kDetectionFloats},
    {"het", "DetectionOutput", detection_output, kDetectionFloats},
    {"het", "PriorBox", prior_box, "f32", 0, 0,
     "min_size:fs=16|8,16|4 max_size:fs=|32 aspect_ratio:fs=|2|2,3 flip:i=|1 "
     "scale_all_sizes:i=|1|0 "
     "min_max_aspect_ratios_order:i=|0"},
    {"het", "PriorBoxClustered", prior_box, "f32", 0, 0,
     "width:fs=8,16,30 height:fs=16,8,20 step_w:f=|4 step_h:f=|4"},
    {"het", "Proposal", proposal, "f32 f64"},
    {"het", "PSROIPooling", psroi_pooling, kDetectionFloats},
    {"het", "DeformablePSROIPooling", psroi_pooling, kDetectionFloats},
    {"het", "RegionYolo", region_yolo, kDetectionFloats},
    {"het", "ReorgYolo", reorg_yolo, "f32 u8 f16"},
    {"het", "ROIPooling", roi_pooling, kDetectionFloats},
};

}  // namespace

std::span<const Generator> detection_generators() {
  return kDetectionTable;
}

}  // namespace het::oracle
