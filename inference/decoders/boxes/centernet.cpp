#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/heat_maps.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kCenternetThreshold = 0.5f;

struct CentreOutputs {
  size_t heat = 0;
  size_t size = 0;
  size_t offset = 0;
};

/// CenterNet (Zhou et al., arXiv 1904.07850): a heat map [batch, classes, rows, columns], width and
/// height [batch, 2, ..] and offset of the centre [batch, 2, ..], all in cells. A cell whose score
/// is the greatest of its 3x3 neighbourhood is an object; centre = cell + offset. No suppression.
/// `output_sigmoid_activation` says that the heat map holds logits.
class CenterNetDecoder final : public Decoder {
 public:
  CenterNetDecoder(DecoderConfig config, CentreOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& heat_tensor = outputs[outputs_.heat];
    HET_TRY(expect_shape(config_.converter, heat_tensor,
                         {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    const Shape& shape = heat_tensor.shape();
    HET_ASSIGN(const OutputValues heat, OutputValues::batch_item(heat_tensor, context.batch_index));
    HET_ASSIGN(const OutputValues size,
               read_map(config_, outputs[outputs_.size], 2, shape, context));
    HET_ASSIGN(const OutputValues offset,
               read_map(config_, outputs[outputs_.offset], 2, shape, context));
    const int64_t columns = shape[3];
    const int64_t rows = shape[2];
    const auto cells = static_cast<size_t>(rows * columns);
    const float step_x = static_cast<float>(context.input_width) / static_cast<float>(columns);
    const float step_y = static_cast<float>(context.input_height) / static_cast<float>(rows);
    const float threshold = effective_threshold(context, config_.threshold, kCenternetThreshold);
    std::vector<Candidate> candidates;
    for (size_t i = 0; i < heat.size(); ++i) {
      const float score = config_.sigmoid_activation ? sigmoid(heat[i]) : heat[i];
      const size_t cell = i % cells;
      const auto x = static_cast<int64_t>(cell) % columns;
      const auto y = static_cast<int64_t>(cell) / columns;
      if (!(score >= threshold) || !is_peak(heat.data() + (i - cell), x, y, columns, rows))
        continue;
      candidates.push_back(centred_candidate(
          (static_cast<float>(x) + offset[cell]) * step_x,
          (static_cast<float>(y) + offset[cells + cell]) * step_y, size[cell] * step_x,
          size[cells + cell] * step_y, score, static_cast<int>(i / cells)));
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  static bool is_peak(const float* map, int64_t x, int64_t y, int64_t columns, int64_t rows) {
    const float score = map[y * columns + x];
    for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, rows - 1); ++v) {
      for (int64_t u = std::max<int64_t>(x - 1, 0); u <= std::min(x + 1, columns - 1); ++u) {
        if (map[v * columns + u] > score) return false;
      }
    }
    return true;
  }

  DecoderConfig config_;
  CentreOutputs outputs_;
};

Result<std::unique_ptr<Decoder>> create_centernet(const DecoderConfig& config,
                                                  const std::vector<Port>&,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> maps,
             find_maps(config, outputs, {{"heat", kUnknownDim}, {"w", 2}, {"reg", 2}}));
  HET_TRY(expect_labels(config, dimension(outputs[maps[0]], 1)));
  return std::make_unique<CenterNetDecoder>(config, CentreOutputs{maps[0], maps[1], maps[2]});
}

}  // namespace

HET_REGISTRATION void register_centernet_decoder(DecoderRegistry& registry) {
  registry.add({"centernet",
                {"labels", "threshold", "classes", "output_sigmoid_activation"},
                create_centernet});
}

}  // namespace het
