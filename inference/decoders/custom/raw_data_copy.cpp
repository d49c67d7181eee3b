#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kRawDataCopy = "raw_data_copy";
constexpr std::string_view kEmbedding = "embedding";
constexpr std::string_view kClipToken = "clip_token";

enum class Part { Whole, Vector, FirstToken };

/// Copies outputs for who reads them himself. raw_data_copy (DL Streamer's name): as they are.
/// embedding: one vector per picture, [1,N], which is compared by its cosine with others.
/// clip_token (DL Streamer's name): a pooled vector [batch,N], or of [batch,tokens,N] the first
/// token as [1,1,N].
class TensorDecoder final : public Decoder {
 public:
  TensorDecoder(DecoderConfig config, Part part, std::vector<size_t> outputs,
                std::vector<std::string> layers)
      : config_(std::move(config)),
        part_(part),
        outputs_(std::move(outputs)),
        layers_(std::move(layers)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      TensorResult result;
      result.attribute = config_.attribute_name;
      result.layer = layers_[i];
      result.format = config_.format;
      HET_ASSIGN(const Tensor item, copy_batch_item(outputs[outputs_[i]], context.batch_index));
      HET_ASSIGN(result.values, wanted_part(item));
      results.tensors.push_back(std::move(result));
    }
    return results;
  }

 private:
  Result<Tensor> wanted_part(const Tensor& item) const {
    if (part_ == Part::Whole) return item;
    if (part_ == Part::Vector) return item.reshaped({1, item.element_count()});
    if (item.rank() == 2) return item;
    HET_TRY(expect_shape(kClipToken, item, {1, kUnknownDim, kUnknownDim}));
    if (item.shape()[1] < 1)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no token in {}", kClipToken,
                   to_string(item.desc()));
    HET_ASSIGN(const Tensor token,
               Tensor::view({item.type(), {1, 1, item.shape()[2]}}, item.buffer(), item.offset()));
    return token.clone();
  }

  DecoderConfig config_;
  Part part_;
  std::vector<size_t> outputs_;
  std::vector<std::string> layers_;
};

template <Part part>
Result<std::unique_ptr<Decoder>> create_raw_data_copy(const DecoderConfig& config,
                                                      const std::vector<Port>& inputs,
                                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  DecoderConfig complete = config;
  if (part == Part::Vector && complete.format.empty()) complete.format = "cosine_distance";
  std::vector<std::string> layers;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    layers.push_back(port.name);
    const size_t rank = port.desc.shape.size();
    if (part != Part::Whole) HET_TRY(expect_batch(config.converter, inputs, port));
    if (part == Part::FirstToken && !is_sized_at_run_time(port) && rank != 2 && rank != 3)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads [batch,N] or [batch,tokens,N], '{}' is {}", kClipToken,
                   port.name, to_string(port.desc));
  }
  return std::make_unique<TensorDecoder>(std::move(complete), part, std::move(selected),
                                         std::move(layers));
}

}  // namespace

HET_REGISTRATION void register_raw_data_copy_decoder(DecoderRegistry& registry) {
  registry.add({kRawDataCopy, {"format"}, create_raw_data_copy<Part::Whole>});
  registry.add({kEmbedding, {"format"}, create_raw_data_copy<Part::Vector>});
  registry.add({kClipToken, {"format"}, create_raw_data_copy<Part::FirstToken>});
}

}  // namespace het
