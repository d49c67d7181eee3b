#pragma once

#include <string>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// A converter that could read outputs of these shapes, or what keeps it from that.
struct Alternative {
  std::string converter;
  std::string line;            ///< its entry of output_postproc
  bool fits = false;           ///< shapes fit; it may still need further keys
  std::string reason;          ///< what is missing or does not fit; empty where nothing is
  std::string method = "max";  ///< of classes, as DecoderConfig has it
};

/// Every converter that reads results of pictures, those that fit first: the `likely` ones in their
/// order, then special ones before those that read almost anything. `entry` has what is known
/// (labels, layers).
HET_API std::vector<Alternative> alternatives_for(const DecoderConfig& entry,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs,
                                                  const std::vector<std::string>& likely = {});

/// For an error: those that fit with their lines, or the nearest three with what does not fit.
std::string describe(const std::vector<Alternative>& alternatives);

}  // namespace het
