#pragma once

#include "inference/decoders/decoder.h"
#include "inference/decoders/exchange/tensor_groups.h"

namespace het {

/// An output's values of one picture (dense, batch dimension 1) as decoders of others expect them:
/// of a known id in float32, [1, values, N] where the model gives [1, N, values], and with places
/// of the whole source picture instead of the model's input, whatever the resize was. Others, and
/// what needs no change, come back as they are, without a copy. Fails with ShapeMismatch where the
/// values do not have the shape that the id means.
HET_API Result<Tensor> exchanged_values(const GroupTensor& tensor, const Tensor& values,
                                        const DecodeContext& context);

}  // namespace het
