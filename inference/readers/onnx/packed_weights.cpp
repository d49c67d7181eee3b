#include "inference/readers/onnx/packed_weights.h"

#include <algorithm>

#include "inference/ops/packed_integer.h"

namespace het::onnx {
namespace {

Result<Tensor> zeros(ElementType type, const Shape& shape) {
  HET_ASSIGN(Tensor tensor, Tensor::allocate({type, shape, Layout::Plain}));
  std::fill_n(tensor.bytes(), tensor.size_bytes(), std::byte{0});
  return tensor;
}

}  // namespace

ElementType unsigned_integer(int64_t bits) {
  switch (bits) {
    case 2:
      return ElementType::UInt2;
    case 4:
      return ElementType::UInt4;
    case 8:
      return ElementType::UInt8;
    default:
      return ElementType::Undefined;
  }
}

Result<Tensor> packed_numbers(const Value& value, int64_t bits, const Shape& shape) {
  if (!value.is_constant() || value.constant().type() != ElementType::UInt8) {
    return error(StatusCode::NotSupported, "{} has to be a uint8 constant", value.name());
  }
  const Tensor& bytes = value.constant();
  const int64_t count = element_count(shape);
  if (count * bits % 8 != 0 || bytes.element_count() != count * bits / 8) {
    return error(StatusCode::NotSupported, "{} of shape {} does not hold {} numbers of {} bits",
                 value.name(), to_string(bytes.shape()), count, bits);
  }
  return Tensor::view({unsigned_integer(bits), shape, Layout::Plain}, bytes.buffer(),
                      bytes.offset());
}

Result<Tensor> first_columns(const Tensor& rows, int64_t columns) {
  Shape shape = rows.shape();
  const int64_t all = shape.back();
  shape.back() = columns;
  HET_ASSIGN(Tensor cut, zeros(rows.type(), shape));
  const int64_t count = cut.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i / columns * all + i % columns;
    store_integer(cut.bytes(), cut.type(), i, load_integer(rows.bytes(), rows.type(), at));
  }
  return cut;
}

Result<Tensor> as_bytes(const Tensor& numbers) {
  if (bit_width(numbers.type()) >= 8) return numbers;
  const bool is_signed = integer_range(numbers.type()).lowest < 0;
  HET_ASSIGN(Tensor bytes,
             zeros(is_signed ? ElementType::Int8 : ElementType::UInt8, numbers.shape()));
  const int64_t count = bytes.element_count();
  for (int64_t i = 0; i < count; ++i) {
    store_integer(bytes.bytes(), bytes.type(), i, load_integer(numbers.bytes(), numbers.type(), i));
  }
  return bytes;
}

Result<Tensor> middle_numbers(int64_t bits, const Shape& shape) {
  HET_ASSIGN(Tensor tensor, zeros(unsigned_integer(bits), shape));
  const int64_t count = tensor.element_count();
  for (int64_t i = 0; i < count; ++i) {
    store_integer(tensor.bytes(), tensor.type(), i, int64_t{1} << (bits - 1));
  }
  return tensor;
}

}  // namespace het::onnx
