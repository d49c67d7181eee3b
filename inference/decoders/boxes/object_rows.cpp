#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kObjectRowsThreshold = 0.5f;

/// Where the values of an object stand in its row.
struct RowForm {
  std::string_view converter;
  int64_t values;
  std::optional<size_t> picture;  ///< which picture of the batch
  size_t box;                     ///< x_min, y_min, x_max, y_max in pixels of the input picture
  size_t label;
  size_t score;
};

/// YOLOv7's export with suppression in the graph (yolov7/models/experimental.py, ONNX_ORT), which
/// MMYOLO and others took over.
constexpr RowForm kEndToEnd{"yolo_v7_end2end", 7, 0, 1, 5, 6};
/// PaddleDetection's models with their suppression (its deployment documents): the objects of all
/// pictures one after the other, a second output has their number for each picture.
constexpr RowForm kPaddleRows{"paddle_detection", 6, std::nullopt, 2, 0, 1};

/// Objects [N, values], one in a row, suppressed in the graph. A row with a label below 0 is none.
class ObjectRowsDecoder final : public Decoder {
 public:
  ObjectRowsDecoder(DecoderConfig config, const RowForm& form, size_t rows,
                    std::optional<size_t> counts)
      : config_(std::move(config)), form_(form), rows_(rows), counts_(counts) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(form_.converter, outputs[rows_], {kUnknownDim, form_.values}));
    HET_ASSIGN(const OutputValues values, OutputValues::whole(outputs[rows_]));
    const auto count = static_cast<size_t>(outputs[rows_].shape()[0]);
    HET_ASSIGN(const auto part, part_of(outputs, context.batch_index, count));
    const float threshold = effective_threshold(context, config_.threshold, kObjectRowsThreshold);
    std::vector<Candidate> candidates;
    for (size_t n = part.first; n < part.second; ++n) {
      const float* row = values.data() + n * static_cast<size_t>(form_.values);
      if (form_.picture && row[*form_.picture] != static_cast<float>(context.batch_index)) continue;
      const float score = row[form_.score];
      const float label = row[form_.label];
      if (!(score >= threshold) || !is_label_id(label)) continue;
      const float* box = row + form_.box;
      candidates.push_back({box[0], box[1], box[2], box[3], score, static_cast<int>(label)});
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  /// First and last row, exclusive, of a picture.
  Result<std::pair<size_t, size_t>> part_of(std::span<const Tensor> outputs, int64_t picture,
                                            size_t count) const {
    if (!counts_) {
      if (!form_.picture && picture > 0)
        return error(StatusCode::ShapeMismatch,
                     "converter '{}' cannot tell which rows belong to picture {}: the model has no "
                     "output with their numbers",
                     form_.converter, picture);
      return std::pair<size_t, size_t>{0, count};
    }
    HET_ASSIGN(const OutputValues numbers, OutputValues::whole(outputs[*counts_]));
    size_t first = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float number = numbers[i] >= 0.0f ? numbers[i] : 0.0f;
      const size_t end =
          std::min(count, first + static_cast<size_t>(std::min(number, static_cast<float>(count))));
      if (static_cast<int64_t>(i) == picture) return std::pair{first, end};
      first = end;
    }
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' finds no number of objects for picture {} in {}", form_.converter,
                 picture, to_string(outputs[*counts_].desc()));
  }

  DecoderConfig config_;
  const RowForm& form_;
  size_t rows_;
  std::optional<size_t> counts_;
};

template <const RowForm& form>
Result<std::unique_ptr<Decoder>> create_object_rows(const DecoderConfig& config,
                                                    const std::vector<Port>&,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> rows;
  std::optional<size_t> counts;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    if (!rows && matches(port.desc.shape, {kUnknownDim, form.values})) {
      rows = index;
    } else if (!counts && !form.picture && matches(port.desc.shape, {kUnknownDim})) {
      counts = index;
    } else {
      rows.reset();
      break;
    }
  }
  if (!rows)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads objects [N,{}]{}, the model has {}", form.converter,
                 form.values, form.picture ? "" : " and perhaps their number [batch]",
                 describe(outputs, selected));
  return std::make_unique<ObjectRowsDecoder>(config, form, *rows, counts);
}

}  // namespace

HET_REGISTRATION void register_object_rows_decoder(DecoderRegistry& registry) {
  registry.add({kEndToEnd.converter, {"labels", "threshold"}, create_object_rows<kEndToEnd>});
  registry.add({kPaddleRows.converter, {"labels", "threshold"}, create_object_rows<kPaddleRows>});
}

}  // namespace het
