#include <fmt/format.h>

#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/slice.h"

namespace het {
namespace {

constexpr std::string_view kTextName = "text";
constexpr size_t kMaxValues = 1024;

/// Writes the numbers of each output as text (DL Streamer's converter `text`): value * text_scale
/// with text_precision digits after the point, joined by ", ". Ages, angles and the like.
class TextDecoder final : public Decoder {
 public:
  TextDecoder(DecoderConfig config, std::vector<size_t> outputs,
              std::vector<std::string> attributes)
      : config_(std::move(config)),
        outputs_(std::move(outputs)),
        attributes_(std::move(attributes)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      HET_ASSIGN(const OutputValues values,
                 vector_values(config_, outputs[outputs_[i]], context.batch_index));
      if (values.size() > kMaxValues)
        return error(StatusCode::ShapeMismatch,
                     "converter '{}' writes at most {} values, {} has {}; use raw_data_copy for it",
                     kTextName, kMaxValues, to_string(outputs[outputs_[i]].desc()), values.size());
      Classification found;
      found.attribute = attributes_[i];
      found.label_id = kNoLabelId;
      found.confidence = 1.0f;  // the tensor has none
      for (float value : values.values())
        found.label += fmt::format("{}{:.{}f}", found.label.empty() ? "" : ", ",
                                   value * config_.text_scale, config_.text_precision);
      if (!found.label.empty()) results.classifications.push_back(std::move(found));
    }
    return results;
  }

 private:
  DecoderConfig config_;
  std::vector<size_t> outputs_;
  std::vector<std::string> attributes_;
};

Result<std::unique_ptr<Decoder>> create_text(const DecoderConfig& config,
                                             const std::vector<Port>& inputs,
                                             const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  for (size_t index : selected) {
    HET_TRY(sliced_count(config, inputs, outputs[index]));
  }
  return std::make_unique<TextDecoder>(config, selected,
                                       attribute_names(config, outputs, selected));
}

}  // namespace

HET_REGISTRATION void register_text_decoder(DecoderRegistry& registry) {
  registry.add({kTextName, {"text_scale", "text_precision", "slice", "layout"}, create_text});
}

}  // namespace het
