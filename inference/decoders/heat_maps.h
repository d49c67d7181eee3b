#pragma once

#include <string>
#include <utility>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"

namespace het {

/// One batch item of a map [batch, channels, rows, columns] whose grid has to be that of the heat
/// map of shape `heat`.
Result<OutputValues> read_map(const DecoderConfig& config, const Tensor& tensor, int64_t channels,
                              const Shape& heat, const DecodeContext& context);

/// A map that a converter looks for: part of its name, and its channels.
using WantedMap = std::pair<std::string, int64_t>;

/// Outputs of rank 4 with these channels (kUnknownDim: any), in the order of `wanted`: those whose
/// names contain the wanted one, else the first that is left. Fails when one is missing or left
/// over.
Result<std::vector<size_t>> find_maps(const DecoderConfig& config, const std::vector<Port>& outputs,
                                      const std::vector<WantedMap>& wanted);

}  // namespace het
