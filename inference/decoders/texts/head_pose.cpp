#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kHeadPoseName = "head_pose";
constexpr std::array<std::string_view, 3> kAngleNames{"yaw", "pitch", "roll"};

/// Classes of an angle: class i means `lowest` + i * `width` degrees.
struct AngleBins {
  int64_t count;
  float width;
  float lowest;
};

/// Hopenet (arXiv 1710.00925) and WHENet's pitch and roll; L2CS-Net (arXiv 2203.03339) as trained
/// for Gaze360 and for MPIIGaze; WHENet's yaw (arXiv 2005.10353).
constexpr AngleBins kAngleBins[] = {
    {66, 3.0f, -99.0f}, {90, 4.0f, -180.0f}, {28, 3.0f, -42.0f}, {120, 3.0f, -180.0f}};

const AngleBins* bins_of(int64_t count) {
  for (const AngleBins& bins : kAngleBins) {
    if (bins.count == count) return &bins;
  }
  return nullptr;
}

constexpr float degrees(float radians) {
  return radians * 180.0f / std::numbers::pi_v<float>;
}

/// Yaw, pitch and roll in degrees of a rotation matrix by rows, R = Rz(roll) Ry(yaw) Rx(pitch): the
/// convention of 6DRepNet (arXiv 2202.12555, the function that its repository converts with). Roll
/// is 0 where yaw is a right angle.
std::array<float, 3> angles_of(std::span<const float> m) {
  const float length = std::hypot(m[0], m[3]);
  const float yaw = std::atan2(-m[6], length);
  if (length < 1e-6f) return {degrees(yaw), degrees(std::atan2(-m[5], m[4])), 0.0f};
  return {degrees(yaw), degrees(std::atan2(m[7], m[8])), degrees(std::atan2(m[3], m[0]))};
}

/// What the classes of an angle are expected to mean.
float expected_angle(std::span<const float> logits, const AngleBins& bins) {
  std::vector<float> shares(logits.begin(), logits.end());
  softmax(shares);
  float mean = 0.0f;
  for (size_t i = 0; i < shares.size(); ++i) mean += shares[i] * static_cast<float>(i);
  return mean * bins.width + bins.lowest;
}

/// Where a head or an eye is turned, as texts yaw, pitch and roll in degrees (attribute_name before
/// them, where it is given): of a rotation matrix [batch, 3, 3] (6DRepNet), or of class scores
/// [batch, classes] for each angle, the softmax of which weights the classes' angles: yaw, pitch
/// and roll (Hopenet, WHENet) or yaw and pitch (L2CS-Net's gaze). The order is that of layer_names
/// or of the outputs, whatever they are called: exporters of L2CS-Net differ in what they call its
/// angles, but the first is the one to the sides.
class HeadPoseDecoder final : public Decoder {
 public:
  HeadPoseDecoder(DecoderConfig config, std::vector<size_t> outputs)
      : config_(std::move(config)), outputs_(std::move(outputs)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    std::array<float, 3> angles{};
    size_t count = outputs_.size();
    if (count == 1) {
      HET_TRY(expect_shape(kHeadPoseName, outputs[outputs_[0]], {kUnknownDim, 3, 3}));
      HET_ASSIGN(const OutputValues matrix,
                 OutputValues::batch_item(outputs[outputs_[0]], context.batch_index));
      angles = angles_of(matrix.values());
      count = angles.size();
    } else {
      for (size_t i = 0; i < count; ++i) {
        HET_ASSIGN(angles[i], read(outputs[outputs_[i]], context));
      }
    }
    Results results;
    for (size_t i = 0; i < count; ++i) {
      if (!std::isfinite(angles[i])) continue;
      Classification found;
      found.attribute = config_.attribute_name.empty()
                            ? std::string(kAngleNames[i])
                            : fmt::format("{}_{}", config_.attribute_name, kAngleNames[i]);
      found.label = fmt::format("{:.{}f}", angles[i] * config_.text_scale, config_.text_precision);
      found.label_id = kNoLabelId;
      found.confidence = 1.0f;  // the model gives none
      results.classifications.push_back(std::move(found));
    }
    return results;
  }

 private:
  static Result<float> read(const Tensor& tensor, const DecodeContext& context) {
    HET_ASSIGN(const OutputValues logits, OutputValues::batch_item(tensor, context.batch_index));
    const AngleBins* const bins = bins_of(static_cast<int64_t>(logits.size()));
    if (bins == nullptr)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' knows angles of 28, 66, 90 and 120 classes, {} has {} values "
                   "per picture",
                   kHeadPoseName, to_string(tensor.desc()), logits.size());
    return expected_angle(logits.values(), *bins);
  }

  DecoderConfig config_;
  std::vector<size_t> outputs_;
};

bool is_binned(const Port& port) {
  return port.desc.shape.size() == 2 && bins_of(port.desc.shape[1]) != nullptr;
}

/// Without layer_names outputs that are no angles are left out: Hopenet also has them computed.
Result<std::unique_ptr<Decoder>> create_head_pose(const DecoderConfig& config,
                                                  const std::vector<Port>&,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  const auto is_open = [&](size_t index) { return is_sized_at_run_time(outputs[index]); };
  if (selected.size() == 1 &&
      (is_open(selected[0]) || matches(outputs[selected[0]].desc.shape, {kUnknownDim, 3, 3})))
    return std::make_unique<HeadPoseDecoder>(config, std::move(selected));
  const std::string all = describe(outputs, selected);
  if (config.layer_names.empty())
    std::erase_if(selected, [&](size_t i) { return !is_binned(outputs[i]) && !is_open(i); });
  const bool fits =
      (selected.size() == 2 || selected.size() == 3) &&
      std::ranges::all_of(selected, [&](size_t i) { return is_binned(outputs[i]) || is_open(i); });
  if (!fits)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads a rotation [batch,3,3], or yaw, pitch and perhaps roll by "
                 "28, 66, 90 or 120 classes [batch,classes] each, the model has {}",
                 kHeadPoseName, all);
  return std::make_unique<HeadPoseDecoder>(config, std::move(selected));
}

}  // namespace

HET_REGISTRATION void register_head_pose_decoder(DecoderRegistry& registry) {
  registry.add({kHeadPoseName, {"text_scale", "text_precision"}, create_head_pose});
}

}  // namespace het
