#include "devices/gpu/plan/strided_space.h"

#include <algorithm>

namespace het::gpu {

std::vector<int64_t> logical_strides(const TensorSpec& spec) {
  std::vector<int64_t> strides = row_major_strides(spec.shape);
  if (spec.format != Format::ChannelsLast || spec.shape.size() < 3) return strides;
  int64_t stride = spec.shape[1];
  strides[1] = 1;
  for (size_t d = spec.shape.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= spec.shape[d];
  }
  strides[0] = stride;
  return strides;
}

std::vector<int64_t> broadcast_strides(const TensorSpec& operand, const Shape& shape,
                                       Format format) {
  const size_t own_rank = operand.shape.size();
  const std::vector<int64_t> own = logical_strides(operand);
  std::vector<int64_t> logical(shape.size(), 0);
  for (size_t d = 0; d < own_rank; ++d) {
    if (operand.shape[d] != 1) logical[shape.size() - own_rank + d] = own[d];
  }
  if (format == Format::ChannelsLast && shape.size() >= 3) {
    const int64_t channel = logical[1];
    logical.erase(logical.begin() + 1);
    logical.push_back(channel);
  }
  return logical;
}

StridedSpace merged_space(const Shape& dims, const std::vector<std::vector<int64_t>>& strides) {
  StridedSpace space;
  space.strides.resize(strides.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    bool merge = !space.dims.empty();
    for (size_t i = 0; merge && i < strides.size(); ++i) {
      merge = space.strides[i].back() == strides[i][d] * dims[d];
    }
    if (merge) {
      space.dims.back() *= dims[d];
      for (size_t i = 0; i < strides.size(); ++i) space.strides[i].back() = strides[i][d];
    } else {
      space.dims.push_back(dims[d]);
      for (size_t i = 0; i < strides.size(); ++i) space.strides[i].push_back(strides[i][d]);
    }
  }
  if (space.dims.empty()) {
    space.dims.push_back(1);
    for (std::vector<int64_t>& steps : space.strides) steps.push_back(0);
  }
  return space;
}

Format walked_format(PlanBuilder& builder, const std::vector<Value*>& operands,
                     const Shape& shape) {
  for (const Value* operand : operands) {
    if (operand->is_constant() || operand->desc().shape != shape) continue;
    if (builder.home(*operand).format == Format::ChannelsLast) return Format::ChannelsLast;
  }
  return Format::Plain;
}

Range row_groups(const Hardware& hardware, const Range& global) {
  const size_t group = hardware.group_size();
  if (global[0] >= group) return {group, 1, 1};
  size_t along = 1;
  while (along * 2 <= global[0]) along *= 2;
  const size_t rows = std::min(group / along, std::max<size_t>(global[1], 1));
  size_t over = 1;
  while (over * 2 <= rows) over *= 2;
  return {along, over, 1};
}

}  // namespace het::gpu
