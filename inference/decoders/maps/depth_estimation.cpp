#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

constexpr std::string_view kDepthEstimationName = "depth_estimation";

/// The middle of sorted values, the mean of the two middle ones when their number is even; -1 when
/// there are none.
float median(std::vector<float> values) {
  if (values.empty()) return -1.0f;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2.0f;
}

/// What DL Streamer says of a region's depth, in this order.
struct Metrics {
  float center = -1.0f;  ///< median of the middle half of rows and columns
  float mean = -1.0f;
  float median = -1.0f;
  float min = -1.0f;
  float max = -1.0f;
  float deviation = -1.0f;
  float valid_count = 0.0f;
  float valid_share = 0.0f;
};

Metrics measure(std::span<const float> depths, int64_t rows, int64_t columns) {
  std::vector<float> valid;
  std::vector<float> centre;
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      const float depth = depths[static_cast<size_t>(y * columns + x)];
      if (!std::isfinite(depth) || !(depth > 0.0f)) continue;
      valid.push_back(depth);
      if (4 * y + 2 >= rows && 4 * y + 2 < 3 * rows && 4 * x + 2 >= columns &&
          4 * x + 2 < 3 * columns)
        centre.push_back(depth);
    }
  }
  Metrics metrics;
  metrics.valid_count = static_cast<float>(valid.size());
  metrics.valid_share = metrics.valid_count / static_cast<float>(rows * columns);
  if (valid.empty()) return metrics;
  double sum = 0.0;
  for (float depth : valid) sum += depth;
  const double mean = sum / static_cast<double>(valid.size());
  double squares = 0.0;
  for (float depth : valid) squares += (depth - mean) * (depth - mean);
  metrics.mean = static_cast<float>(mean);
  metrics.deviation = static_cast<float>(std::sqrt(squares / static_cast<double>(valid.size())));
  const auto [low, high] = std::minmax_element(valid.begin(), valid.end());
  metrics.min = *low;
  metrics.max = *high;
  metrics.center = median(std::move(centre));
  metrics.median = median(std::move(valid));
  return metrics;
}

/// A map of depths, [batch,rows,columns] or with one channel (DL Streamer's depth_estimation): the
/// map as a tensor "depth_map" [1,rows,columns], and of what is finite and above 0 the eight values
/// of "depth_metrics" (centre, mean, median, minimum, maximum, deviation, count, share) and the
/// mean with two digits as text. They are about the ROI that was analysed; DL Streamer analyses the
/// whole picture and cuts the map at the objects.
class DepthDecoder final : public PlaceValueDecoder {
 public:
  using PlaceValueDecoder::PlaceValueDecoder;

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_ASSIGN(const PlaceValues read, read_map(outputs, context, kDepthEstimationName, "depth"));
    const auto& [values, map] = read;
    const Metrics metrics = measure(values.values(), map.rows, map.columns);
    Results results;
    results.tensors.push_back({attribute_, layer_, "depth_map",
                               Tensor::from<float>({1, map.rows, map.columns}, values.values())});
    results.tensors.push_back(
        {attribute_, layer_, "depth_metrics",
         Tensor::from<float>(
             {1, 8}, {metrics.center, metrics.mean, metrics.median, metrics.min, metrics.max,
                      metrics.deviation, metrics.valid_count, metrics.valid_share})});
    Classification found;
    found.attribute = attribute_;
    found.label = metrics.valid_count > 0.0f ? fmt::format("{:.2f}", metrics.mean) : "n/a";
    found.label_id = kNoLabelId;
    found.confidence = 1.0f;  // the model gives none
    results.classifications.push_back(std::move(found));
    return results;
  }
};

Result<std::unique_ptr<Decoder>> create_depth_estimation(const DecoderConfig& config,
                                                         const std::vector<Port>& inputs,
                                                         const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_map(config, inputs, outputs[output]));
  const std::vector<std::string> names = attribute_names(config, outputs, {output});
  return std::make_unique<DepthDecoder>(config, output, names.front(), outputs[output].name);
}

}  // namespace

HET_REGISTRATION void register_depth_estimation_decoder(DecoderRegistry& registry) {
  registry.add({kDepthEstimationName, {"layout"}, create_depth_estimation});
}

}  // namespace het
