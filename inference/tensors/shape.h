#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// A dimension that is only known at run time or after Model::reshape().
inline constexpr int64_t kUnknownDim = -1;

/// Dimensions, outermost first. Every dimension is >= 0, or kUnknownDim.
using Shape = std::vector<int64_t>;

/// True when no dimension is kUnknownDim.
HET_API bool is_static(const Shape& shape);

/// Product of the dimensions of a shape that is known to be small enough (a tensor exists).
HET_API int64_t element_count(std::span<const int64_t> dims);

/// Product of the dimensions; fails on negative dimensions and on overflow. Use it on anything
/// that comes from a file.
HET_API Result<int64_t> checked_element_count(const Shape& shape);

/// "[1,3,?,416]"; "[]" is a scalar.
HET_API std::string to_string(const Shape& shape);

/// Accepts "[1,3,224,224]" and "1,3,224,224"; "?" and "-1" give kUnknownDim.
HET_API Result<Shape> parse_shape(std::string_view text);

/// Multidirectional (NumPy) broadcasting of two static shapes.
HET_API Result<Shape> broadcast(const Shape& a, const Shape& b);

/// Turns an axis in [-rank, rank) into [0, rank); `what` names it in the error.
HET_API Result<int64_t> normalize_axis(int64_t axis, int64_t rank, std::string_view what = "axis");

/// Row-major strides in elements.
HET_API std::vector<int64_t> row_major_strides(const Shape& shape);

}  // namespace het
