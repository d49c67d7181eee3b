#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "inference/tensors/element_type.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het::gpu {

/// How the elements of an activation lie in memory: as its shape says, or with dimension 1
/// (channels) last, [N,C,H,W] as [N,H,W,C]. Both dense.
enum class Format : uint8_t { Plain, ChannelsLast };

std::string_view to_string(Format format);

/// Type, shape and format of an activation inside a plan; dense.
struct TensorSpec {
  ElementType type = ElementType::Undefined;
  Shape shape;
  Format format = Format::Plain;
  bool operator==(const TensorSpec&) const = default;
};

std::string to_string(const TensorSpec& spec);

/// Elements of a spec.
int64_t count(const TensorSpec& spec);
size_t size_bytes(const TensorSpec& spec);

/// Dimensions in the order of the memory.
Shape physical_dims(const TensorSpec& spec);

/// True when both describe the same bytes in the same order, e.g. Plain and ChannelsLast of
/// [1,8,1,1].
bool same_bytes(const TensorSpec& a, const TensorSpec& b);

/// An activation of rank 3 and more as [n, c, s]: s is the product of the spatial dimensions.
struct Picture {
  int64_t n = 1;
  int64_t c = 1;
  int64_t s = 1;
};
Picture picture_of(const Shape& shape);

/// The values of a dense tensor in another format and type (float types are converted), for
/// constants at compile time. Slow and simple.
Result<Tensor> convert_constant(const Tensor& plain, const TensorSpec& spec);

/// True for the types that kernels compute in: Float32 and, stored, Float16.
inline bool is_real(ElementType type) {
  return type == ElementType::Float32 || type == ElementType::Float16;
}

}  // namespace het::gpu
