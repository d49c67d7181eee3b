#include "inference/ops/axis_split.h"

#include <span>

namespace het {

Result<AxisSplit> axis_split(const Shape& shape, int64_t axis) {
  HET_ASSIGN(const int64_t at, normalize_axis(axis, static_cast<int64_t>(shape.size())));
  const auto dims = std::span(shape);
  const auto index = static_cast<size_t>(at);
  return AxisSplit{element_count(dims.first(index)), shape[index],
                   element_count(dims.subspan(index + 1))};
}

Result<AxisSplit> flatten_from(const Shape& shape, int64_t axis) {
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis < -rank || axis > rank) {
    return error(StatusCode::InvalidArgument, "axis is {}, but must be in [{}, {}]", axis, -rank,
                 rank);
  }
  const auto dims = std::span(shape);
  const auto index = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return AxisSplit{element_count(dims.first(index)), element_count(dims.subspan(index)), 1};
}

}  // namespace het
