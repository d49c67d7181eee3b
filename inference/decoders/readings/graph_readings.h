#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/model_proc.h"
#include "inference/model/model.h"

namespace het {

/// One way in which outputs can be read, and what speaks for it.
struct Reading {
  DecoderConfig config;
  std::string reason;
  std::vector<DecoderConfig> others;          ///< where further outputs are read by themselves
  bool plain_pictures = false;                ///< what is recognised takes BGR 0..255, stretched
  std::optional<InputPreproc> pictures = {};  ///< or how else, where that is known
};

/// All ways in which the selected outputs can be read, told by the graph that makes them and by
/// their shapes: what remains to be decided where there are several. `entry` has what is known
/// already (labels, thresholds). `inputs` and `outputs` are the ports of the compiled model.
std::vector<Reading> readings_of_graph(const DecoderConfig& entry, const Model& model,
                                       const std::vector<Port>& inputs,
                                       const std::vector<Port>& outputs,
                                       const std::vector<size_t>& selected);

/// Converters that are more likely than others whose shapes fit, the likeliest first.
HET_API std::vector<std::string> likely_converters(const Model& model,
                                                   const std::vector<Port>& inputs,
                                                   const std::vector<Port>& outputs);

/// `entry` with what the graph tells of classes, whoever reads them: a softmax where it has neither
/// one nor a sigmoid at its end.
HET_API DecoderConfig completed_by_graph(const DecoderConfig& entry, const Model& model,
                                         const std::vector<Port>& inputs,
                                         const std::vector<Port>& outputs);

}  // namespace het
