#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tensors/buffer.h"
#include "inference/tensors/element_type.h"
#include "inference/tensors/shape.h"

namespace het {

/// How the elements of a shape lie in memory. The shape itself always has the order that the model
/// gives it; blocked layouts group the second dimension (channels) and pad it to the block.
enum class Layout : uint8_t {
  Plain,    ///< row-major or strided, meaning of the dimensions unknown
  NCHW,     ///< strided; dimensions are batch, channel, height, width
  NHWC,     ///< strided; dimensions are batch, height, width, channel
  nChw8c,   ///< blocked by 8 channels
  nChw16c,  ///< blocked by 16 channels
};

HET_API std::string_view to_string(Layout layout);
/// Accepts "NCHW" and "NHWC" in either case and "plain".
HET_API Result<Layout> parse_layout(std::string_view name);

/// Type, shape and layout of a tensor.
struct TensorDesc {
  ElementType type = ElementType::Undefined;
  Shape shape;
  Layout layout = Layout::Plain;

  /// True when the type and every dimension are known.
  bool is_static() const { return type != ElementType::Undefined && het::is_static(shape); }
  bool operator==(const TensorDesc&) const = default;
};

/// "float32[1,3,416,416]"
HET_API std::string to_string(const TensorDesc& desc);

/// Bytes of a dense tensor with this description (sub-byte types rounded up); fails on unknown
/// dimensions and on overflow.
HET_API Result<size_t> dense_size_bytes(const TensorDesc& desc);

/// A typed array in some memory: a cheap handle, copies share the memory. Thread-compatible.
class HET_API Tensor {
 public:
  Tensor() = default;  ///< an empty handle; the only thing to ask it is empty()

  /// Dense host memory of its own, uninitialised. Fails with OutOfMemory or on a non-static desc.
  static Result<Tensor> allocate(TensorDesc desc);
  /// A view into `buffer` from `offset` bytes on. Empty `strides_bytes` means dense. Fails with
  /// InvalidArgument when the view would leave the buffer.
  static Result<Tensor> view(TensorDesc desc, BufferPtr buffer, size_t offset = 0,
                             std::vector<int64_t> strides_bytes = {});
  /// The caller's host memory with a release callback; dense unless strides are given.
  static Result<Tensor> wrap(TensorDesc desc, void* address, size_t size_bytes,
                             std::function<void()> release = {},
                             std::vector<int64_t> strides_bytes = {});
  /// A dense copy of the values; T decides the type. Values must fill the shape.
  template <class T>
  static Tensor from(const Shape& shape, std::span<const T> values);
  template <class T>
  static Tensor from(const Shape& shape, std::initializer_list<T> values) {
    return from<T>(shape, std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor scalar(T value) {
    return from<T>({}, std::span<const T>(&value, 1));
  }

  bool empty() const { return buffer_ == nullptr; }
  const TensorDesc& desc() const { return desc_; }
  ElementType type() const { return desc_.type; }
  const Shape& shape() const { return desc_.shape; }
  int64_t rank() const { return static_cast<int64_t>(desc_.shape.size()); }
  Layout layout() const { return desc_.layout; }
  int64_t element_count() const { return het::element_count(desc_.shape); }
  /// Byte distance between neighbours along each dimension.
  const std::vector<int64_t>& strides_bytes() const { return strides_bytes_; }
  /// True when elements follow each other in row-major order without gaps.
  bool is_dense() const;
  /// Bytes of the elements as a dense array.
  size_t size_bytes() const;
  MemoryKind memory_kind() const { return buffer_->kind(); }
  const BufferPtr& buffer() const { return buffer_; }
  size_t offset() const { return offset_; }

  /// Host address of the first element; null when the memory is not host-addressable.
  std::byte* bytes() const {
    return buffer_ && buffer_->host() ? buffer_->host() + offset_ : nullptr;
  }
  /// Host elements of a tensor whose type is T's (asserted).
  template <class T>
  T* data() const;
  template <class T>
  std::span<T> values() const {
    return {data<T>(), static_cast<size_t>(element_count())};
  }

  /// The same memory with other dimensions of equal element count; must be dense.
  Result<Tensor> reshaped(Shape shape) const;
  /// A dense host copy.
  Result<Tensor> clone() const;

 private:
  TensorDesc desc_;
  std::vector<int64_t> strides_bytes_;
  BufferPtr buffer_;
  size_t offset_ = 0;
};

/// Copies host elements between tensors of equal type and shape, whatever their strides.
HET_API Status copy_tensor(const Tensor& src, Tensor& dst);

/// Integer values of an Int32 or Int64 host tensor of any rank, e.g. axes and shapes.
HET_API Result<std::vector<int64_t>> to_int64_vector(const Tensor& tensor);

/// Values of any numeric host tensor as float (for decoders and comparisons).
HET_API Result<std::vector<float>> to_float_vector(const Tensor& tensor);

namespace tensor_internal {
HET_API void* checked_address(const Tensor& tensor, ElementType wanted);
HET_API Tensor copy_of(const TensorDesc& desc, const void* values, size_t size_bytes);
}  // namespace tensor_internal

template <class T>
T* Tensor::data() const {
  return static_cast<T*>(tensor_internal::checked_address(*this, element_type_of<T>()));
}

template <class T>
Tensor Tensor::from(const Shape& shape, std::span<const T> values) {
  return tensor_internal::copy_of({element_type_of<T>(), shape}, values.data(),
                                  values.size_bytes());
}

}  // namespace het
