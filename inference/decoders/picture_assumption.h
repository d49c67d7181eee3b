#pragma once

#include <string>

#include "inference/decoders/decoder.h"
#include "inference/decoders/model_proc.h"
#include "inference/model/model.h"

namespace het {

/// How pictures get into a model of which nobody says it.
struct PictureAssumption {
  InputPreproc input;
  std::string reason;     ///< "as is usual with YOLOX"
  bool is_guess = false;  ///< true: neither the family of the model nor its graph fixes it
};

/// What all known exporters of the family mean that `config` reads, corrected by what the graph
/// does with the picture `input` itself. Grey pictures have no colour order.
HET_API PictureAssumption assume_pictures(const DecoderConfig& config, const Model& model,
                                          const Value& input);

}  // namespace het
