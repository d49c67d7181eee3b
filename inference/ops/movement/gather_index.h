#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/ops/op.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Content of an index tensor (int32 or int64) with every index turned into [0, dimension);
/// negative ones count from the end. Fails on an index outside [-dimension, dimension).
Result<std::vector<int64_t>> read_indices(const Tensor& indices, int64_t dimension);

/// For Gather and GatherElements: checks data, indices and attributes; the axis in [0, rank).
Result<int64_t> check_gather(const InferContext& context);

/// For GatherND and ScatterND: element offsets of the tuples along the last dimension of
/// `indices`, each tuple addressing the leading dimensions of `dims` with these element strides.
Result<std::vector<int64_t>> read_index_tuples(const Tensor& indices, std::span<const int64_t> dims,
                                               std::span<const int64_t> strides);

}  // namespace het
