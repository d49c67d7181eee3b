#include <algorithm>
#include <array>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/distance_bins.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kNanodetPlusName = "nanodet_plus";
constexpr float kNanodetPlusThreshold = 0.4f;
constexpr float kNanodetPlusIouThreshold = 0.6f;
constexpr int64_t kNanodetPlusBins = 8;  // reg_max + 1 of all published models
constexpr std::array<int, 4> kNanodetPlusStrides{8, 16, 32, 64};

std::vector<int> strides_of(const DecoderConfig& config) {
  if (!config.strides.empty()) return config.strides;
  return {kNanodetPlusStrides.begin(), kNanodetPlusStrides.end()};
}

int64_t all_cells(const std::vector<int>& strides, int64_t width, int64_t height) {
  int64_t cells = 0;
  for (const int stride : strides) cells += make_grid(stride, width, height).cells();
  return cells;
}

/// NanoDet-Plus (nanodet/model/head/nanodet_plus_head.py): one output [batch, cells, classes + 4 *
/// 8], the cells of all strides one behind the other: class scores after the sigmoid, then logits
/// of the distance distribution of each side. Distance = sum(i * softmax_i) * stride, measured
/// from the cell's corner (x, y) * stride, as its priors have it.
class NanoDetPlusDecoder final : public Decoder {
 public:
  NanoDetPlusDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const std::vector<int> strides = strides_of(config_);
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(
        kNanodetPlusName, tensor,
        {kUnknownDim, all_cells(strides, context.input_width, context.input_height), kUnknownDim}));
    const int64_t columns = tensor.shape()[2];
    const int64_t classes = columns - kBoxSides * kNanodetPlusBins;
    if (classes < 1)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in {}",
                   kNanodetPlusName, to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kNanodetPlusThreshold);
    std::vector<Candidate> candidates;
    const float* row = values.data();
    for (const int stride : strides) {
      const Grid grid = make_grid(stride, context.input_width, context.input_height);
      for (int64_t cell = 0; cell < grid.cells(); ++cell, row += columns) {
        const float* best = std::max_element(row, row + classes);
        if (!(*best >= threshold)) continue;
        const auto side =
            expected_distances(row + classes, kNanodetPlusBins, static_cast<float>(stride));
        const auto x = static_cast<float>(cell % grid.width * stride);
        const auto y = static_cast<float>(cell / grid.width * stride);
        candidates.push_back({x - side[0], y - side[1], x + side[2], y + side[3], *best,
                              static_cast<int>(best - row)});
      }
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kNanodetPlusIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_nanodet_plus(const DecoderConfig& config,
                                                     const std::vector<Port>& inputs,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  const InputSize size = picture_input_size(inputs);
  const bool sized = size.width != kUnknownDim && size.height != kUnknownDim;
  HET_TRY(expect_shape(
      kNanodetPlusName, port,
      {kUnknownDim, sized ? all_cells(strides_of(config), size.width, size.height) : kUnknownDim,
       kUnknownDim}));
  const int64_t columns = dimension(port, 2);
  if (columns != kUnknownDim) {
    const int64_t classes = columns - kBoxSides * kNanodetPlusBins;
    if (classes < 1)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads classes and 32 columns of distances, '{}' is {}",
                   kNanodetPlusName, port.name, to_string(port.desc));
    HET_TRY(expect_labels(config, classes));
  }
  return std::make_unique<NanoDetPlusDecoder>(config, output);
}

}  // namespace

HET_REGISTRATION void register_nanodet_plus_decoder(DecoderRegistry& registry) {
  registry.add({kNanodetPlusName,
                {"labels", "threshold", "iou_threshold", "classes", "strides"},
                create_nanodet_plus});
}

}  // namespace het
