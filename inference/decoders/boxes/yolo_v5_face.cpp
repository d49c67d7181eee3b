#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/boxes/pointed_objects.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kPointedYoloThreshold = 0.5f;
constexpr float kPointedYoloIouThreshold = 0.4f;
constexpr int64_t kPointedYoloBox = 5;

/// Where the parts of a row behind box and objectness begin.
struct PointedRow {
  int64_t values = 0;
  int64_t classes = 1;
  int64_t first_class = 0;
  int64_t first_point = 0;
  PointRow points;
};

/// Rows of YOLO v5 and v7 with points, decoded in the graph: [batch, N, values] of centre, size and
/// objectness, in pixels of the input picture. yolo_v5_face (YOLO5Face, Qi et al., arXiv
/// 2105.12931, and readers of plates made from it): then x and y of each point, then classes.
/// yolo_v7_pose (YOLO-Pose, Maji et al., arXiv 2204.06806; yolov7-pose and yolov7-face): then
/// classes, then x, y and confidence of each point. score = objectness * best class.
class PointedYoloDecoder final : public Decoder {
 public:
  PointedYoloDecoder(DecoderConfig config, size_t output, PointedRow row, PointScheme scheme)
      : config_(std::move(config)), output_(output), row_(row), scheme_(std::move(scheme)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(config_.converter, tensor, {kUnknownDim, kUnknownDim, row_.values}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kPointedYoloThreshold);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < tensor.shape()[1]; ++n) {
      const float* row = values.data() + n * row_.values;
      if (!(row[4] >= threshold)) continue;  // also drops NaN
      const BestClass best = best_class(row + row_.first_class, static_cast<size_t>(row_.classes));
      const float score = row[4] * best.score;
      if (best.id < 0 || !(score >= threshold)) continue;
      candidates.push_back(centred_candidate(row[0], row[1], row[2], row[3], score, best.id, n));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kPointedYoloIouThreshold));
    Results results = to_results(candidates, config_.labels, context.transform);
    for (size_t i = 0; i < candidates.size(); ++i) {
      const float* row = values.data() + candidates[i].row * row_.values;
      results.detections[i].landmarks = read_points(row + row_.first_point, 1, row_.points, scheme_,
                                                    candidates[i], context.transform);
    }
    return results;
  }

 private:
  DecoderConfig config_;
  size_t output_;
  PointedRow row_;
  PointScheme scheme_;
};

/// Divides the values of a row by what is known: the classes, else the names of the points; else
/// there is one class, or two where one leaves no whole points.
Result<PointedRow> divide_pointed_row(const DecoderConfig& config, int64_t values, int64_t each) {
  const auto named = static_cast<int64_t>(config.point_names.size());
  int64_t classes = config.classes.value_or(static_cast<int>(config.labels.size()));
  const int64_t behind = values - kPointedYoloBox;
  if (classes == 0 && named > 0) classes = behind - named * each;
  if (classes == 0) classes = each == 2 && behind % 2 == 0 ? 2 : 1;
  const int64_t points = behind - classes;
  if (classes < 1 || points < each || points % each != 0)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads rows of 5 values, {} for each point and one for each class; "
                 "rows of {} values with {} classes have no whole points",
                 config.converter, each, values, classes);
  PointedRow row{values,
                 classes,
                 kPointedYoloBox,
                 kPointedYoloBox,
                 {static_cast<size_t>(points / each), static_cast<size_t>(each)}};
  if (each == 2)
    row.first_class += points;
  else
    row.first_point += classes;
  return row;
}

/// Three objects for each cell of the input picture, of strides up to 32 or 64.
Status expect_pointed_rows(const DecoderConfig& config, const std::vector<Port>& inputs,
                           const Port& port) {
  const InputSize size = picture_input_size(inputs);
  const int64_t cells = cell_count(size);
  const int64_t rows = dimension(port, 1);
  if (cells == kUnknownDim || rows == kUnknownDim) return {};
  const int64_t more = cells + make_grid(64, size.width, size.height).cells();
  if (rows == 3 * cells || rows == 3 * more) return {};
  return error(StatusCode::ShapeMismatch,
               "converter '{}' reads three rows for each of the {} cells of the input picture (or "
               "{} with stride 64), '{}' is {}",
               config.converter, cells, more, port.name, to_string(port.desc));
}

Result<std::unique_ptr<Decoder>> create_pointed_yolo(const DecoderConfig& config,
                                                     const std::vector<Port>& inputs,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  // Exports in training mode add feature maps of rank 5.
  std::vector<size_t> rows;
  std::ranges::copy_if(selected, std::back_inserter(rows), [&](size_t index) {
    return outputs[index].desc.shape.size() == 3 && dimension(outputs[index], 2) > 0;
  });
  if (rows.size() != 1)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads one output [batch,N,values], the model has {}",
                 config.converter, describe(outputs, selected));
  const Port& port = outputs[rows.front()];
  const int64_t each = config.converter == "yolo_v5_face" ? 2 : 3;
  HET_ASSIGN(const PointedRow row, divide_pointed_row(config, dimension(port, 2), each));
  HET_TRY(expect_pointed_rows(config, inputs, port));
  HET_TRY(expect_labels(config, row.classes));
  PointScheme standard = face_points();
  if (row.points.points == 4) standard = plate_corners();
  if (row.points.points == 17) standard = coco_body();
  HET_ASSIGN(PointScheme scheme,
             point_scheme(config, static_cast<int64_t>(row.points.points), standard));
  return std::make_unique<PointedYoloDecoder>(config, rows.front(), row, std::move(scheme));
}

}  // namespace

HET_REGISTRATION void register_yolo_v5_face_decoder(DecoderRegistry& registry) {
  for (const char* name : {"yolo_v5_face", "yolo_v7_pose"})
    registry.add(
        {name,
         {"labels", "threshold", "iou_threshold", "classes", "point_names", "point_connections"},
         create_pointed_yolo});
}

}  // namespace het
