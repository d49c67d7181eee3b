#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tensors/element_type.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// How the elements of an activation lie in memory. Blocked formats group dimension 1 (channels)
/// and pad it with zeros to the block: [N,C,H,W] lies as [N,C/16,H,W,16].
enum class Format : uint8_t { Plain, ChannelsLast, Blocked8, Blocked16 };

std::string_view to_string(Format format);
/// 8 or 16; 1 for formats that are not blocked.
int64_t block_of(Format format);
inline bool is_blocked(Format format) {
  return block_of(format) > 1;
}

/// Type, shape and format of an activation inside a plan; dense.
struct TensorSpec {
  ElementType type = ElementType::Undefined;
  Shape shape;
  Format format = Format::Plain;
  bool operator==(const TensorSpec&) const = default;
};

std::string to_string(const TensorSpec& spec);

/// True for what quantised values are stored in.
inline bool is_byte(ElementType type) {
  return type == ElementType::UInt8 || type == ElementType::Int8;
}

/// Dimensions of the memory, outermost first, padding included; dense row-major.
std::vector<int64_t> physical_dims(const TensorSpec& spec);
/// Elements in memory, padding included.
int64_t physical_count(const TensorSpec& spec);
size_t size_bytes(const TensorSpec& spec);
/// True when both describe the same bytes in the same order, e.g. Plain and ChannelsLast of
/// [1,8,1,1].
bool same_bytes(const TensorSpec& a, const TensorSpec& b);

/// Strides, in elements, of `operand` along each physical dimension of `space`; 0 where the operand
/// is broadcast (right-aligned as in NumPy). Empty when the operand's format cannot be walked along
/// that space, so it must be reordered first.
std::vector<int64_t> broadcast_strides(const TensorSpec& operand, const TensorSpec& space);

/// The values of a dense tensor in another format and type (float types are converted), for
/// constants at compile time. Slow and simple.
Result<Tensor> convert_constant(const Tensor& plain, const TensorSpec& spec);

}  // namespace het::cpu
