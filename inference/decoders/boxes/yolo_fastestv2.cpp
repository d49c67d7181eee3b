#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kFastestV2Name = "yolo_fastestv2";
constexpr float kFastestV2Threshold = 0.3f;
constexpr float kFastestV2IouThreshold = 0.4f;
constexpr size_t kFastestV2Anchors = 3;  // of each map
constexpr size_t kFastestV2Box = 4;
/// Of the published weights, for COCO at 352x352; the finer map's first.
constexpr float kFastestV2Sizes[] = {12.64f,  19.39f, 37.88f,  51.48f,  55.71f,  138.31f,
                                     126.91f, 78.23f, 131.57f, 214.55f, 279.92f, 258.87f};

/// Yolo-FastestV2 (dog-qiuqiu, its ONNX export and ncnn sample): maps [batch, rows, columns, 3 * 4
/// + 3 + classes], also without the batch, behind sigmoid and softmax: boxes of three anchors,
/// their objectness, and the classes, which the anchors share. Centre = (2 t - 0.5 + cell) *
/// stride, size = (2 t)^2 * anchor, score = objectness * best class.
class YoloFastestV2Decoder final : public Decoder {
 public:
  YoloFastestV2Decoder(DecoderConfig config, std::vector<size_t> maps)
      : config_(std::move(config)), maps_(std::move(maps)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const float threshold = effective_threshold(context, config_.threshold, kFastestV2Threshold);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < maps_.size(); ++i) {
      HET_TRY(add_map(outputs[maps_[i]], config_.anchors.data() + 2 * kFastestV2Anchors * i,
                      threshold, context, candidates));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kFastestV2IouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  static Status add_map(const Tensor& tensor, const float* anchors, float threshold,
                        const DecodeContext& context, std::vector<Candidate>& candidates) {
    const Shape& shape = tensor.shape();
    const bool batched = shape.size() == 4;
    if (!batched && (shape.size() != 3 || context.batch_index != 0))
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no picture {} in {}",
                   kFastestV2Name, context.batch_index, to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values,
               batched ? OutputValues::batch_item(tensor, context.batch_index)
                       : OutputValues::whole(tensor));
    const auto columns = static_cast<size_t>(shape[shape.size() - 2]);
    const auto rows = static_cast<size_t>(shape[shape.size() - 3]);
    const auto channels = static_cast<size_t>(shape.back());
    const size_t first_class = kFastestV2Anchors * (kFastestV2Box + 1);
    if (channels <= first_class)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in {}",
                   kFastestV2Name, to_string(tensor.desc()));
    const float stride_x = static_cast<float>(context.input_width) / static_cast<float>(columns);
    const float stride_y = static_cast<float>(context.input_height) / static_cast<float>(rows);
    for (size_t cell = 0; cell < rows * columns; ++cell) {
      const float* place = values.data() + cell * channels;
      const float* best = std::max_element(place + first_class, place + channels);
      for (size_t a = 0; a < kFastestV2Anchors; ++a) {
        const float score = place[kFastestV2Anchors * kFastestV2Box + a] * *best;
        if (!(score >= threshold)) continue;
        const float* t = place + kFastestV2Box * a;
        const auto x = static_cast<float>(cell % columns);
        const auto y = static_cast<float>(cell / columns);
        candidates.push_back(centred_candidate(
            (2.0f * t[0] - 0.5f + x) * stride_x, (2.0f * t[1] - 0.5f + y) * stride_y,
            4.0f * t[2] * t[2] * anchors[2 * a], 4.0f * t[3] * t[3] * anchors[2 * a + 1], score,
            static_cast<int>(best - place - static_cast<std::ptrdiff_t>(first_class))));
      }
    }
    return {};
  }

  DecoderConfig config_;
  std::vector<size_t> maps_;  ///< the finest first
};

Result<std::unique_ptr<Decoder>> create_yolo_fastestv2(const DecoderConfig& config,
                                                       const std::vector<Port>&,
                                                       const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  const auto fits = [&](size_t index) {
    const Shape& shape = outputs[index].desc.shape;
    return is_static(shape) && (shape.size() == 3 || shape.size() == 4) &&
           shape.back() == outputs[selected.front()].desc.shape.back() &&
           shape.back() > static_cast<int64_t>(kFastestV2Anchors * (kFastestV2Box + 1));
  };
  DecoderConfig complete = config;
  if (complete.anchors.empty())
    complete.anchors.assign(std::begin(kFastestV2Sizes), std::end(kFastestV2Sizes));
  if (!std::ranges::all_of(selected, fits) ||
      complete.anchors.size() != 2 * kFastestV2Anchors * selected.size())
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads maps [batch,rows,columns,15 + classes] with three anchors "
                 "each (there are {} numbers of anchors), the model has {}",
                 kFastestV2Name, complete.anchors.size(), describe(outputs, selected));
  std::ranges::stable_sort(selected, std::greater{},
                           [&](size_t index) { return element_count(outputs[index].desc.shape); });
  HET_TRY(expect_labels(config, outputs[selected.front()].desc.shape.back() -
                                    static_cast<int64_t>(kFastestV2Anchors * (kFastestV2Box + 1))));
  return std::make_unique<YoloFastestV2Decoder>(std::move(complete), std::move(selected));
}

}  // namespace

HET_REGISTRATION void register_yolo_fastestv2_decoder(DecoderRegistry& registry) {
  registry.add({kFastestV2Name,
                {"labels", "threshold", "iou_threshold", "classes", "anchors"},
                create_yolo_fastestv2});
}

}  // namespace het
