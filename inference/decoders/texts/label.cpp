#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/slice.h"

namespace het {
namespace {

constexpr std::string_view kLabelName = "label";
constexpr float kLabelThreshold = 0.5f;  // of compound and multi

enum class Method { Max, Softmax, Index, Compound, Multi, SoftmaxMulti };

std::vector<float> probabilities_of(std::span<const float> logits) {
  std::vector<float> probabilities(logits.begin(), logits.end());
  softmax(probabilities);
  return probabilities;
}

/// Words joined as DL Streamer joins them: by a blank unless there is one already.
void append_word(std::string& text, const std::string& word) {
  if (word.empty()) return;
  if (!text.empty() && text.back() != ' ') text += ' ';
  text += word;
}

/// Class scores of any shape with the batch first (DL Streamer's converter `label`). Methods: max
/// and softmax give the best class; multi and softmax_multi all classes from the threshold on, as
/// one text; compound has two labels per value, the first from the threshold on, the second for
/// smaller positive values; index reads values as label ids up to the first that has no label.
class LabelDecoder final : public Decoder {
 public:
  LabelDecoder(DecoderConfig config, Method method, std::vector<size_t> outputs,
               std::vector<std::string> attributes)
      : config_(std::move(config)),
        method_(method),
        outputs_(std::move(outputs)),
        attributes_(std::move(attributes)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Tensor& tensor = outputs[outputs_[i]];
      HET_ASSIGN(const OutputValues values, vector_values(config_, tensor, context.batch_index));
      if (values.size() == 0)
        return error(StatusCode::ShapeMismatch, "converter '{}' finds no values in {}", kLabelName,
                     to_string(tensor.desc()));
      Classification found;
      found.attribute = attributes_[i];
      if (read(values.values(), context, found)) results.classifications.push_back(found);
    }
    return results;
  }

 private:
  /// False when nothing was recognised.
  bool read(std::span<const float> values, const DecodeContext& context,
            Classification& found) const {
    switch (method_) {
      case Method::Max:
        return read_best(values, context, found);
      case Method::Softmax:
        return read_best(probabilities_of(values), context, found);
      case Method::Multi:
      case Method::Compound:
        return read_several(values, context, found);
      case Method::SoftmaxMulti:
        return read_several(probabilities_of(values), context, found);
      case Method::Index:
        return read_indices(values, found);
    }
    return false;
  }

  bool read_best(std::span<const float> scores, const DecodeContext& context,
                 Classification& found) const {
    bool any = false;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (!std::isfinite(scores[i]) || (any && scores[i] <= found.confidence)) continue;
      found.confidence = scores[i];
      found.label_id = static_cast<int>(i);
      any = true;
    }
    if (!any) return false;
    const bool limited = context.threshold > 0.0f || config_.threshold.has_value();
    if (limited && found.confidence < effective_threshold(context, config_.threshold, 0.0f))
      return false;
    const auto id = static_cast<size_t>(found.label_id);
    if (id < config_.labels.size()) found.label = config_.labels[id];
    return true;
  }

  bool read_several(std::span<const float> scores, const DecodeContext& context,
                    Classification& found) const {
    const float threshold = effective_threshold(context, config_.threshold, kLabelThreshold);
    const bool compound = method_ == Method::Compound;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (!std::isfinite(scores[i])) continue;
      if (scores[i] >= threshold) {
        append_word(found.label, label_at(compound ? 2 * i : i));
      } else if (compound && scores[i] > 0.0f) {
        append_word(found.label, label_at(2 * i + 1));
      }
      if (scores[i] > found.confidence) {
        found.confidence = scores[i];
        found.label_id = static_cast<int>(i);
      }
    }
    return !found.label.empty();
  }

  bool read_indices(std::span<const float> values, Classification& found) const {
    const auto count = static_cast<float>(config_.labels.size());
    for (float value : values) {
      if (!(value >= 0.0f && value < count)) break;
      found.label += config_.labels[static_cast<size_t>(value)];
    }
    found.confidence = 1.0f;  // the tensor has none
    return !found.label.empty();
  }

  const std::string& label_at(size_t index) const {
    static const std::string kNone;
    return index < config_.labels.size() ? config_.labels[index] : kNone;
  }

  DecoderConfig config_;
  Method method_;
  std::vector<size_t> outputs_;
  std::vector<std::string> attributes_;
};

Result<Method> parse_method(const std::string& text) {
  if (text.empty() || text == "max") return Method::Max;
  if (text == "softmax") return Method::Softmax;
  if (text == "index") return Method::Index;
  if (text == "compound") return Method::Compound;
  if (text == "multi") return Method::Multi;
  if (text == "softmax_multi") return Method::SoftmaxMulti;
  return error(StatusCode::InvalidArgument,
               "method '{}' is none of max, softmax, index, compound, multi, softmax_multi", text);
}

Result<std::unique_ptr<Decoder>> create_label(const DecoderConfig& config,
                                              const std::vector<Port>& inputs,
                                              const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  HET_ASSIGN(const Method method, parse_method(config.method));
  const bool needs_labels = method != Method::Max && method != Method::Softmax;
  if (needs_labels && config.labels.empty())
    return error(StatusCode::InvalidArgument,
                 "converter '{}' with method '{}' needs labels: its result is made of them",
                 kLabelName, config.method);
  std::vector<std::string> attributes = attribute_names(config, outputs, selected);
  for (size_t index : selected) {
    const Port& port = outputs[index];
    HET_ASSIGN(const int64_t values, sliced_count(config, inputs, port));
    if (method == Method::Index || values == kUnknownDim) continue;
    if (method != Method::Compound) {
      HET_TRY(expect_labels(config, values));
    } else if (static_cast<int64_t>(config.labels.size()) != 2 * values) {
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' with method 'compound' needs two labels for each of the {} "
                   "values of '{}', there are {}",
                   kLabelName, values, port.name, config.labels.size());
    }
  }
  return std::make_unique<LabelDecoder>(config, method, std::move(selected), std::move(attributes));
}

}  // namespace

HET_REGISTRATION void register_label_decoder(DecoderRegistry& registry) {
  registry.add(
      {kLabelName, {"labels", "threshold", "classes", "method", "slice", "layout"}, create_label});
}

}  // namespace het
