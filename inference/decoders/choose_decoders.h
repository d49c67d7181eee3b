#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/decoders/model_proc.h"
#include "inference/model/model.h"

namespace het {

/// How the results of a model will be read, and why so.
struct DecoderChoice {
  std::vector<DecoderConfig> configs;
  std::string reason;
  bool plain_pictures = false;  ///< a published model that takes BGR 0..255, stretched
  std::optional<InputPreproc> pictures = {};  ///< how else a published model takes them
};

/// Decides in this order: the descriptor's output_postproc; the model's metadata; the graph and its
/// output shapes. With several possible readings or none it fails and lists the converters.
/// `inputs` and `outputs` are the ports of the compiled `model`; `labels`, when not empty, replace
/// the labels of the one converter.
Result<DecoderChoice> choose_decoders(const ModelProc& model_proc, const ModelMetadata& metadata,
                                      const Model& model, const std::vector<Port>& inputs,
                                      const std::vector<Port>& outputs,
                                      const std::vector<std::string>& labels);

}  // namespace het
