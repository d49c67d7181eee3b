#include "inference/readers/openvino_ir/weights.h"

#include <algorithm>
#include <cstring>

#include "inference/readers/openvino_ir/limits.h"

namespace het::ir {
namespace {

/// The values of nf4, by number (Dettmers et al., "QLoRA", appendix E).
constexpr float kNormalFloat4[] = {-1.0f,        -0.69619280f, -0.52507305f,  -0.39491749f,
                                   -0.28444138f, -0.18477343f, -0.091050036f, 0.0f,
                                   0.079580300f, 0.16093020f,  0.24611230f,   0.33791524f,
                                   0.44070983f,  0.56261700f,  0.72295684f,   1.0f};

constexpr std::string_view kLfsPointer = "version https://git-lfs";

/// Two values a byte, the first in the low bits.
Result<Tensor> unpack_nf4(std::span<const std::byte> part, const Shape& shape) {
  const auto count = static_cast<size_t>(element_count(shape));
  HET_ASSIGN(Tensor unpacked, Tensor::allocate({ElementType::Float32, shape}));
  for (size_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(part[i / 2]);
    unpacked.data<float>()[i] = kNormalFloat4[i % 2 == 0 ? byte & 15 : byte >> 4];
  }
  return unpacked;
}

}  // namespace

Status Weights::open() {
  if (in_memory_ || file_ != nullptr) return {};
  auto file = MappedFile::open(path_);
  if (!file) {
    return file.error().with_context(
        "the weights of an IR model lie in a .bin file of the same name beside its .xml");
  }
  file_ = std::move(*file);
  bytes_ = file_->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  if (text.substr(0, kLfsPointer.size()) == kLfsPointer) {
    return error(StatusCode::ParseError,
                 "'{}' is a Git LFS pointer, not the weights themselves: run `git lfs pull`",
                 path_);
  }
  return {};
}

Status Weights::charge(size_t bytes) {
  const size_t allowed = std::min(kMaxCopiedBytes, bytes_.size() * kCopyFactor);
  if (__builtin_add_overflow(copied_bytes_, bytes, &copied_bytes_) || copied_bytes_ > allowed) {
    return error(StatusCode::OutOfMemory,
                 "the model's constants would take {} bytes when copied, far more than '{}' has",
                 copied_bytes_, path_);
  }
  return {};
}

Result<Tensor> Weights::unpack_bits(std::span<const std::byte> part, const Shape& shape) {
  const auto count = static_cast<size_t>(element_count(shape));
  HET_TRY(charge(count));
  HET_ASSIGN(Tensor unpacked, Tensor::allocate({ElementType::UInt8, shape}));
  for (size_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(part[i / 8]);
    unpacked.bytes()[i] = static_cast<std::byte>(byte >> (7 - i % 8) & 1);
  }
  return unpacked;
}

Result<Tensor> Weights::constant(std::string_view element_type, const Shape& shape, size_t offset,
                                 size_t size) {
  const bool bits = element_type == "u1" || element_type == "U1" || element_type == "BIN";
  if (element_type == "string") {
    return error(StatusCode::NotSupported, "constants of strings are not supported");
  }
  TensorDesc desc{ElementType::UInt8, shape, Layout::Plain};
  const bool nf4 = element_type == "nf4";
  if (nf4) desc.type = ElementType::UInt4;  // as wide
  if (!bits && !nf4) {
    const auto type = parse_element_type(element_type);
    if (!type) {
      return error(StatusCode::NotSupported, "its element_type is not supported: {}",
                   type.error().message());
    }
    desc.type = *type;
  }
  const auto dense = dense_size_bytes(desc);
  if (!dense) return error(StatusCode::ParseError, "{}", dense.error().message());
  const size_t wanted = bits ? (*dense + 7) / 8 : *dense;
  // OpenVINO itself writes one byte for a constant without elements; there is nothing to read.
  if (wanted == 0 && size <= 1) {
    return Tensor::allocate({nf4 ? ElementType::Float32 : desc.type, shape});
  }
  if (size != wanted) {
    return error(StatusCode::ParseError, "{} of shape {} needs {} bytes, but its size is {}",
                 element_type, to_string(shape), wanted, size);
  }
  HET_TRY(open());
  if (offset > bytes_.size() || size > bytes_.size() - offset) {
    return error(
        StatusCode::ParseError,
        "it lies at offset {} with size {}, but '{}' has {} bytes: the .bin is truncated or "
        "belongs to another .xml",
        offset, size, path_, bytes_.size());
  }
  const std::span<const std::byte> part = bytes_.subspan(offset, size);
  if (bits) return unpack_bits(part, shape);
  if (nf4) {
    HET_TRY(charge(static_cast<size_t>(element_count(shape)) * sizeof(float)));
    return unpack_nf4(part, shape);
  }
  const size_t alignment = std::max<size_t>(1, byte_width(desc.type));
  const bool aligned = reinterpret_cast<uintptr_t>(part.data()) % alignment == 0;
  // Booleans of a file may have any value; ours are 0 or 1.
  const bool odd =
      desc.type == ElementType::Bool &&
      std::any_of(part.begin(), part.end(), [](std::byte b) { return b > std::byte{1}; });
  if (file_ && aligned && !odd && !part.empty()) {
    return Tensor::view(desc, reference_bytes(part, file_));
  }
  HET_TRY(charge(size));
  HET_ASSIGN(Tensor copy, Tensor::allocate(desc));
  if (!part.empty()) std::memcpy(copy.bytes(), part.data(), part.size());
  if (odd) {
    std::transform(part.begin(), part.end(), copy.bytes(),
                   [](std::byte b) { return b == std::byte{0} ? b : std::byte{1}; });
  }
  return copy;
}

}  // namespace het::ir
