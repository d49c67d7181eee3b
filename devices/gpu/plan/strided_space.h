#pragma once

#include <vector>

#include "devices/gpu/opencl/tensor_spec.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/model/model.h"

namespace het::gpu {

/// Memory as nested loops that several operands walk with a stride each, in elements: outermost
/// dimension first, never empty.
struct StridedSpace {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;  ///< per operand, one per dimension
};

/// Strides of a tensor's dimensions, in the order of its shape, in elements.
std::vector<int64_t> logical_strides(const TensorSpec& spec);

/// Strides of an operand along the physical dimensions of an output of `shape` in `format`; 0 where
/// it is broadcast (right-aligned as in NumPy).
std::vector<int64_t> broadcast_strides(const TensorSpec& operand, const Shape& shape,
                                       Format format);

/// The space over `dims`, neighbouring dimensions merged where all operands walk alike.
StridedSpace merged_space(const Shape& dims, const std::vector<std::vector<int64_t>>& strides);

/// The format in which element-wise work on an output of `shape` moves least: that of an operand of
/// the same shape, ChannelsLast before Plain.
Format walked_format(PlanBuilder& builder, const std::vector<Value*>& operands, const Shape& shape);

/// Local size for work-items along rows (0) and over rows (1).
Range row_groups(const Hardware& hardware, const Range& global);

}  // namespace het::gpu
