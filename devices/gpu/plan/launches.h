#pragma once

#include <initializer_list>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/status.h"

namespace het::gpu {

/// "-DSTORED_HALF" where float values are stored as float16; to be part of a program's options.
std::string storage_option(ElementType stored);

/// Options that a kernel over rows needs: the storage and WIDTH, the elements of a work-item.
std::string row_options(const PlanBuilder& builder);

/// The type of OpenCL C that holds an element: "float", "half", "int", "long", "uchar" ...; empty
/// for types that no kernel reads.
std::string_view c_type(ElementType type);

/// Copies a tensor into another format and, between Float32 and Float16, another type.
Result<Launch> reorder_launch(PlanBuilder& builder, TensorId from, TensorId to);

/// ceil(a / b)
inline size_t groups_of(int64_t a, int64_t b) {
  return static_cast<size_t>((a + b - 1) / b);
}

/// For arguments of kernels; values were checked to fit.
inline cl_int as_int(int64_t value) {
  return static_cast<cl_int>(value);
}

/// as_int() of each, as the next arguments.
void add_ints(Launch& launch, std::initializer_list<int64_t> values);

/// A work-item for each of `along` places of each of `rows` rows.
void set_place_range(const PlanBuilder& builder, Launch& launch, int64_t along, int64_t rows);

/// Null for no value and for one that is computed.
const Tensor* constant_or_null(const Value* value);

}  // namespace het::gpu
