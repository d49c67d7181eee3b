#pragma once

#include <cstdint>

#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"

namespace het {

/// The values of one picture in an output whose first dimension is the batch; those that the
/// entry's `slice` names, all where it has none. One dimension, or the layout C, is a single
/// picture. Fails when the slice ends behind them, and without a batch for all pictures but the
/// first.
Result<OutputValues> vector_values(const DecoderConfig& config, const Tensor& tensor,
                                   int64_t batch_index);

/// How many values of each picture the entry reads of an output, or unknown. Fails when its `slice`
/// ends behind them, and where the first dimension is not the batch of the picture input.
Result<int64_t> sliced_count(const DecoderConfig& config, const std::vector<Port>& inputs,
                             const Port& port);

}  // namespace het
