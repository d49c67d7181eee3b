#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kTorchvisionName = "torchvision";
constexpr float kTorchvisionThreshold = 0.5f;
constexpr int64_t kPointValues = 3;

struct TorchvisionOutputs {
  size_t boxes = 0;
  size_t labels = 0;
  size_t scores = 0;
  std::optional<size_t> masks;
  std::optional<size_t> points;
};

/// torchvision's detectors, which suppress in the graph, for one picture: boxes [N, 4] (x_min,
/// y_min, x_max, y_max in pixels of the input picture), labels [N] (0 is the background and does
/// not occur), scores [N], and of Mask R-CNN masks [N, 1, height, width] (probabilities over the
/// whole input picture), of Keypoint R-CNN points [N, K, 3] (x, y and whether it is visible).
/// Source: torchvision's documentation of models.detection.
class TorchvisionDecoder final : public Decoder {
 public:
  TorchvisionDecoder(DecoderConfig config, TorchvisionOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    if (context.batch_index != 0)
      return error(StatusCode::InvalidArgument, "converter '{}' reads one picture at a time",
                   kTorchvisionName);
    const Tensor& boxes = outputs[outputs_.boxes];
    HET_TRY(expect_shape(kTorchvisionName, boxes, {kUnknownDim, 4}));
    const int64_t count = boxes.shape()[0];
    HET_TRY(expect_shape(kTorchvisionName, outputs[outputs_.labels], {count}));
    HET_TRY(expect_shape(kTorchvisionName, outputs[outputs_.scores], {count}));
    HET_ASSIGN(const OutputValues corners, OutputValues::whole(boxes));
    HET_ASSIGN(const OutputValues labels, OutputValues::whole(outputs[outputs_.labels]));
    HET_ASSIGN(const OutputValues scores, OutputValues::whole(outputs[outputs_.scores]));
    const float threshold = effective_threshold(context, config_.threshold, kTorchvisionThreshold);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < count; ++n) {
      const auto place = static_cast<size_t>(n);
      if (!(scores[place] >= threshold) || !is_label_id(labels[place])) continue;
      const float* box = corners.data() + 4 * place;
      candidates.push_back(
          {box[0], box[1], box[2], box[3], scores[place], static_cast<int>(labels[place]), n});
    }
    candidates = sorted_by_score(std::move(candidates));
    Results results = to_results(candidates, config_.labels, context.transform);
    if (outputs_.masks)
      HET_TRY(add_masks(outputs[*outputs_.masks], count, candidates, context, results));
    if (outputs_.points)
      HET_TRY(add_points(outputs[*outputs_.points], count, candidates, context, results));
    return results;
  }

 private:
  /// The part of a mask of the whole picture that lies in the box, a value a pixel of the mask.
  static Mask cut(const float* values, int64_t width, int64_t height, const Candidate& box,
                  const DecodeContext& context) {
    const auto place = [](float position, int64_t cells, int size) {
      const float cell = position * static_cast<float>(cells) / static_cast<float>(size);
      return std::isfinite(cell) ? std::clamp<int64_t>(std::lround(cell), 0, cells) : int64_t{0};
    };
    const int64_t x0 = place(box.x_min, width, context.input_width);
    const int64_t x1 = place(box.x_max, width, context.input_width);
    const int64_t y0 = place(box.y_min, height, context.input_height);
    const int64_t y1 = place(box.y_max, height, context.input_height);
    if (x1 <= x0 || y1 <= y0) return {};
    Mask mask{static_cast<int>(x1 - x0), static_cast<int>(y1 - y0), {}};
    mask.values.reserve(static_cast<size_t>((x1 - x0) * (y1 - y0)));
    for (int64_t y = y0; y < y1; ++y)
      mask.values.insert(mask.values.end(), values + y * width + x0, values + y * width + x1);
    return mask;
  }

  static Status add_masks(const Tensor& tensor, int64_t count,
                          const std::vector<Candidate>& candidates, const DecodeContext& context,
                          Results& results) {
    HET_TRY(expect_shape(kTorchvisionName, tensor, {count, 1, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues masks, OutputValues::whole(tensor));
    const int64_t height = tensor.shape()[2];
    const int64_t width = tensor.shape()[3];
    for (size_t i = 0; i < std::min(candidates.size(), kMaxMasks); ++i)
      results.detections[i].mask = cut(masks.data() + candidates[i].row * width * height, width,
                                       height, candidates[i], context);
    return {};
  }

  Status add_points(const Tensor& tensor, int64_t count, const std::vector<Candidate>& candidates,
                    const DecodeContext& context, Results& results) const {
    HET_TRY(expect_shape(kTorchvisionName, tensor, {count, kUnknownDim, kPointValues}));
    HET_ASSIGN(const OutputValues points, OutputValues::whole(tensor));
    const PointRow row{static_cast<size_t>(tensor.shape()[1]), kPointValues};
    HET_ASSIGN(const PointScheme scheme, point_scheme(config_, tensor.shape()[1], coco_body()));
    for (size_t i = 0; i < candidates.size(); ++i) {
      const float* values =
          points.data() + static_cast<size_t>(candidates[i].row) * row.points * kPointValues;
      results.detections[i].landmarks =
          read_points(values, 1, row, scheme, candidates[i], context.transform);
    }
    return {};
  }

  DecoderConfig config_;
  TorchvisionOutputs outputs_;
};

Result<std::unique_ptr<Decoder>> create_torchvision(const DecoderConfig& config,
                                                    const std::vector<Port>&,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  TorchvisionOutputs found;
  std::optional<size_t> boxes;
  std::optional<size_t> labels;
  std::optional<size_t> scores;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    const Shape& shape = port.desc.shape;
    if (!boxes && shape.size() == 2 && shape[1] == 4) {
      boxes = index;
    } else if (!labels && shape.size() == 1 && is_integer(port.desc.type)) {
      labels = index;
    } else if (!scores && shape.size() == 1 && is_float(port.desc.type)) {
      scores = index;
    } else if (!found.masks && matches(shape, {kUnknownDim, 1, kUnknownDim, kUnknownDim})) {
      found.masks = index;
    } else if (!found.points && matches(shape, {kUnknownDim, kUnknownDim, kPointValues})) {
      found.points = index;
    } else if (!(found.points && shape.size() == 2 && is_float(port.desc.type))) {  // their scores
      boxes.reset();
      break;
    }
  }
  if (!boxes || !labels || !scores)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [N,4], labels [N] (integers) and scores [N], perhaps "
                 "with masks [N,1,height,width] or points [N,K,3]; the model has {}",
                 kTorchvisionName, describe(outputs, selected));
  found.boxes = *boxes;
  found.labels = *labels;
  found.scores = *scores;
  return std::make_unique<TorchvisionDecoder>(config, found);
}

}  // namespace

HET_REGISTRATION void register_torchvision_decoder(DecoderRegistry& registry) {
  registry.add({kTorchvisionName,
                {"labels", "threshold", "point_names", "point_connections"},
                create_torchvision});
}

}  // namespace het
