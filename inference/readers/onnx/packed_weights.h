#pragma once

#include <cstdint>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/tensor.h"

/// Constants of com.microsoft that hold several numbers a byte.
namespace het::onnx {

/// The unsigned integer of 2, 4 or 8 bits; Undefined for other counts.
ElementType unsigned_integer(int64_t bits);

/// A uint8 constant as numbers of `bits` bits in `shape`, sharing its memory. The reason where it
/// is none or does not hold as many.
Result<Tensor> packed_numbers(const Value& value, int64_t bits, const Shape& shape);

/// The first `columns` numbers of every row (the last dimension): rows begin with a byte each.
Result<Tensor> first_columns(const Tensor& rows, int64_t columns);

/// Integers of fewer bits as int8 or uint8; others as they are.
Result<Tensor> as_bytes(const Tensor& numbers);

/// The middle of the range of an unsigned integer, everywhere: the zero point where there is none.
Result<Tensor> middle_numbers(int64_t bits, const Shape& shape);

}  // namespace het::onnx
