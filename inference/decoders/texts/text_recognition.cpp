#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/texts/step_scores.h"

namespace het {
namespace {

enum class Alignment { Ctc, Attention };

/// The best class of one step and its score.
struct Step {
  int64_t class_id = -1;  ///< -1: no finite score
  float score = 0.0f;
};

Step best_step(std::span<const float> scores) {
  Step best;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isfinite(scores[i]) || (best.class_id >= 0 && scores[i] <= best.score)) continue;
    best = {static_cast<int64_t>(i), scores[i]};
  }
  return best;
}

/// Softmax of the best class alone.
float probability(std::span<const float> logits, float best) {
  float sum = 0.0f;
  for (float logit : logits) sum += std::isfinite(logit) ? std::exp(logit - best) : 0.0f;
  return 1.0f / sum;  // the best one itself adds 1
}

bool are_probabilities(const StepScores& scores) {
  for (size_t t = 0; t < scores.steps(); ++t) {
    if (std::ranges::any_of(scores.step(t),
                            [](float score) { return score < 0.0f || score > 1.001f; }))
      return false;
  }
  return true;
}

/// Text from class scores per step (StepScores), by the best class of each step.
/// Ctc (DL Streamer's paddle_ocr and paddle_ocr_ctc; Graves et al. 2006, best path): repeated
/// classes count once, the blank class separates. Attention (DL Streamer's docTR_ocr; ours
/// attention_text): every step is a character until the end class; classes without a label are
/// left out. The confidence is the mean probability of the characters.
class TextRecognitionDecoder final : public Decoder {
 public:
  TextRecognitionDecoder(DecoderConfig config, Alignment alignment, size_t output,
                         std::string layout, std::string attribute)
      : config_(std::move(config)),
        alignment_(alignment),
        output_(output),
        layout_(std::move(layout)),
        attribute_(std::move(attribute)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_ASSIGN(const StepScores steps, StepScores::read(tensor, layout_, context.batch_index));
    const size_t classes = steps.classes();
    HET_TRY(expect_classes(config_, alignment_, static_cast<int64_t>(classes)));
    const bool probabilities = are_probabilities(steps);
    Classification found;
    found.attribute = attribute_;
    found.label_id = kNoLabelId;
    int characters = 0;
    float sum = 0.0f;
    int64_t previous = config_.blank_class;
    for (size_t t = 0; t < steps.steps(); ++t) {
      const std::span<const float> scores = steps.step(t);
      const Step step = best_step(scores);
      if (alignment_ == Alignment::Attention && step.class_id == config_.end_class) break;
      const bool repeated = step.class_id == std::exchange(previous, step.class_id);
      if (alignment_ == Alignment::Ctc && (repeated || step.class_id == config_.blank_class))
        continue;
      const std::string* character = character_of(step.class_id, classes);
      if (character == nullptr) continue;
      found.label += *character;
      sum += probabilities ? step.score : probability(scores, step.score);
      ++characters;
    }
    Results results;
    if (characters < std::max(1, config_.min_length)) return results;
    found.confidence = sum / static_cast<float>(characters);
    if (found.confidence < wanted_confidence(context)) return results;
    results.classifications.push_back(std::move(found));
    return results;
  }

  /// Labels name all classes; in CTC the blank may be left out, and a class after those with
  /// labels is the blank between words, as PaddleOCR appends it to its dictionaries.
  static Status expect_classes(const DecoderConfig& config, Alignment alignment, int64_t classes) {
    if (classes == kUnknownDim) return {};
    const auto labels = static_cast<int64_t>(config.labels.size());
    if (alignment == Alignment::Attention && labels <= classes) return {};
    if (alignment == Alignment::Ctc && config.blank_class < classes && labels <= classes &&
        labels + 2 >= classes)
      return {};
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' has {} labels for the {} classes of the model; {}",
                 config.converter, labels, classes,
                 alignment == Alignment::Attention
                     ? "give at most one label per class"
                     : "give one label per class, without the blank class, or also without the "
                       "space behind the last one");
  }

 private:
  float wanted_confidence(const DecodeContext& context) const {
    return context.threshold > 0.0f ? context.threshold : config_.threshold.value_or(0.0f);
  }

  const std::string* character_of(int64_t class_id, size_t classes) const {
    static const std::string kSpace = " ";
    if (class_id < 0) return nullptr;
    auto index = static_cast<size_t>(class_id);
    const bool without_blank = alignment_ == Alignment::Ctc && config_.labels.size() < classes;
    if (without_blank && class_id > config_.blank_class) --index;
    if (index < config_.labels.size()) return &config_.labels[index];
    return alignment_ == Alignment::Ctc ? &kSpace : nullptr;
  }

  DecoderConfig config_;
  Alignment alignment_;
  size_t output_;
  std::string layout_;
  std::string attribute_;
};

/// The characters that DL Streamer's docTR_ocr knows: the first of docTR's vocabularies.
std::vector<std::string> letters_and_digits() {
  std::vector<std::string> labels;
  for (const auto& [first, last] : {std::pair{'0', '9'}, {'a', 'z'}, {'A', 'Z'}}) {
    for (char c = first; c <= last; ++c) labels.emplace_back(1, c);
  }
  return labels;
}

template <Alignment alignment>
Result<std::unique_ptr<Decoder>> create_text_recognition(const DecoderConfig& config,
                                                         const std::vector<Port>& inputs,
                                                         const std::vector<Port>& outputs) {
  DecoderConfig complete = config;
  if (complete.labels.empty() && config.converter == "docTR_ocr")
    complete.labels = letters_and_digits();
  if (complete.labels.empty())
    return error(StatusCode::InvalidArgument,
                 "converter '{}' needs labels: the characters of the model's classes",
                 config.converter);
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_ASSIGN(std::string layout, StepScores::layout_of(config, inputs, port));
  const int64_t classes = is_sized_at_run_time(port) ? kUnknownDim : port.desc.shape.back();
  HET_TRY(TextRecognitionDecoder::expect_classes(complete, alignment, classes));
  const std::vector<std::string> attributes = attribute_names(config, outputs, {output});
  return std::make_unique<TextRecognitionDecoder>(std::move(complete), alignment, output,
                                                  std::move(layout), attributes.front());
}

}  // namespace

HET_REGISTRATION void register_text_recognition_decoder(DecoderRegistry& registry) {
  registry.add({"paddle_ocr",
                {"labels", "character_dict", "threshold", "blank_class", "min_length", "layout"},
                create_text_recognition<Alignment::Ctc>});
  registry.add({"paddle_ocr_ctc",
                {"labels", "character_dict", "threshold", "blank_class", "min_length", "layout"},
                create_text_recognition<Alignment::Ctc>});
  registry.add({"docTR_ocr",
                {"labels", "threshold", "end_class", "min_length", "layout"},
                create_text_recognition<Alignment::Attention>});
  registry.add({"attention_text",
                {"labels", "threshold", "end_class", "min_length", "layout"},
                create_text_recognition<Alignment::Attention>});
}

}  // namespace het
