#pragma once

#include <cstdint>

#include "inference/decoders/decoder.h"
#include "inference/decoders/output_values.h"

namespace het {

/// Leaves those values of a picture that the entry's `slice` names; all where it has none. Fails
/// when the slice ends behind them; `tensor` is what they came from, for the message.
Status apply_slice(const DecoderConfig& config, const Tensor& tensor, OutputValues& values);

/// How many values of each picture the entry reads of an output, or unknown. Fails when its `slice`
/// ends behind them.
Result<int64_t> sliced_count(const DecoderConfig& config, const Port& port);

}  // namespace het
