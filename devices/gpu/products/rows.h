#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/gpu/plan/plan_builder.h"

namespace het::gpu {

/// Memory seen as [outer, length, inner]: what is computed along a row of `length` elements,
/// `inner` apart, for every outer and inner index.
struct RowSpace {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};

/// Neighbouring dimensions of a tensor's memory that belong to rows, or do not.
struct RowBlock {
  int64_t size = 1;
  bool in_row = false;
};

/// The blocks of a tensor in which the logical dimensions `axes` make rows; dimensions of 1 belong
/// to any.
std::vector<RowBlock> row_blocks(const Shape& shape, Format format,
                                 const std::vector<int64_t>& axes);

/// The space where the dimensions of rows lie together; nothing where they do not.
std::optional<RowSpace> row_space(const Shape& shape, Format format,
                                  const std::vector<int64_t>& axes);

/// The format in which rows along `axes` lie together: the value's own where it does, else the
/// other one.
struct RowFormat {
  Format format = Format::Plain;
  RowSpace space;
};
std::optional<RowFormat> row_format(const Shape& shape, Format home,
                                    const std::vector<int64_t>& axes);

/// Options of programs that begin with kernels/values/rows.cl: storage, WIDTH, LANES and SUBGROUPS.
std::string lane_options(const PlanBuilder& builder);

/// Sizes of a launch whose kernel begins with ROW_OF.
void set_row_range(const PlanBuilder& builder, Launch& launch, int64_t rows);
/// The same for kernels over WIDTH neighbours (0) of `outer` blocks (1).
void set_column_range(const PlanBuilder& builder, Launch& launch, int64_t inner, int64_t outer);

}  // namespace het::gpu
