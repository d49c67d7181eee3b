#include "inference/tensors/tensor.h"

#include <cassert>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace het {
namespace {

std::vector<int64_t> dense_strides_bytes(const TensorDesc& desc) {
  std::vector<int64_t> strides = row_major_strides(desc.shape);
  const auto width = static_cast<int64_t>(byte_width(desc.type));
  for (int64_t& s : strides) s *= width;
  return strides;
}

/// Dimensions that hold memory: blocked layouts round channels up to the block.
Shape stored_shape(const TensorDesc& desc) {
  Shape shape = desc.shape;
  const int64_t block = desc.layout == Layout::nChw8c ? 8 : desc.layout == Layout::nChw16c ? 16 : 1;
  if (block > 1 && shape.size() > 1) shape[1] = (shape[1] + block - 1) / block * block;
  return shape;
}

void copy_strided(const Shape& shape, size_t dim, const std::byte* src,
                  const std::vector<int64_t>& src_strides, std::byte* dst,
                  const std::vector<int64_t>& dst_strides, size_t width) {
  if (dim == shape.size()) {
    std::memcpy(dst, src, width);
    return;
  }
  const auto row_bytes = static_cast<int64_t>(width);
  if (dim + 1 == shape.size() && src_strides[dim] == row_bytes && dst_strides[dim] == row_bytes) {
    std::memcpy(dst, src, width * static_cast<size_t>(shape[dim]));
    return;
  }
  for (int64_t i = 0; i < shape[dim]; ++i) {
    copy_strided(shape, dim + 1, src + i * src_strides[dim], src_strides,
                 dst + i * dst_strides[dim], dst_strides, width);
  }
}

template <class T>
void append_as_float(const Tensor& tensor, std::vector<float>& values) {
  for (const T v : tensor.values<T>()) values.push_back(static_cast<float>(v));
}

}  // namespace

std::string_view to_string(Layout layout) {
  switch (layout) {
    case Layout::Plain:
      return "plain";
    case Layout::NCHW:
      return "NCHW";
    case Layout::NHWC:
      return "NHWC";
    case Layout::nChw8c:
      return "nChw8c";
    case Layout::nChw16c:
      return "nChw16c";
  }
  return "unknown";
}

Result<Layout> parse_layout(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (lower == "nchw") return Layout::NCHW;
  if (lower == "nhwc") return Layout::NHWC;
  if (lower == "plain") return Layout::Plain;
  return error(StatusCode::InvalidArgument, "'{}' is no layout; write NCHW or NHWC", name);
}

std::string to_string(const TensorDesc& desc) {
  std::string text(to_string(desc.type));
  return text + to_string(desc.shape);
}

Result<size_t> dense_size_bytes(const TensorDesc& desc) {
  if (desc.type == ElementType::Undefined) {
    return error(StatusCode::ShapeMismatch, "a tensor of undefined type has no size");
  }
  HET_ASSIGN(const int64_t count, checked_element_count(stored_shape(desc)));
  size_t bits = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(count), bit_width(desc.type), &bits) ||
      bits > static_cast<size_t>(-1) - 7) {
    return error(StatusCode::OutOfMemory, "tensor {} is larger than the address space",
                 to_string(desc));
  }
  return (bits + 7) / 8;
}

Result<Tensor> Tensor::allocate(TensorDesc desc) {
  HET_ASSIGN(const size_t size, dense_size_bytes(desc));
  auto buffer = allocate_host_buffer(size);
  if (!buffer) {
    return error(StatusCode::OutOfMemory, "cannot allocate tensor {} ({} bytes)", to_string(desc),
                 size);
  }
  // Elements of half a byte are written one by one into what is there; the last byte may be half
  // used.
  if (bit_width(desc.type) < 8 && size > 0) std::memset((*buffer)->host(), 0, size);
  return view(std::move(desc), std::move(*buffer));
}

Result<Tensor> Tensor::view(TensorDesc desc, BufferPtr buffer, size_t offset,
                            std::vector<int64_t> strides_bytes) {
  HET_ASSIGN(size_t needed, dense_size_bytes(desc));
  if (!strides_bytes.empty()) {
    if (strides_bytes.size() != desc.shape.size()) {
      return error(StatusCode::InvalidArgument, "{} strides for a tensor of rank {}",
                   strides_bytes.size(), desc.shape.size());
    }
    needed = byte_width(desc.type);
    for (size_t i = 0; i < desc.shape.size(); ++i) {
      if (desc.shape[i] == 0) needed = 0;
    }
    for (size_t i = 0; i < desc.shape.size() && needed > 0; ++i) {
      size_t reach = 0;
      if (strides_bytes[i] < 0 ||
          __builtin_mul_overflow(static_cast<size_t>(strides_bytes[i]),
                                 static_cast<size_t>(desc.shape[i] - 1), &reach) ||
          __builtin_add_overflow(needed, reach, &needed)) {
        return error(StatusCode::InvalidArgument, "stride {} of dimension {} is not usable",
                     strides_bytes[i], i);
      }
    }
  }
  if (offset > buffer->size_bytes() || needed > buffer->size_bytes() - offset) {
    return error(StatusCode::InvalidArgument,
                 "tensor {} needs {} bytes from offset {} on, but its memory has {}",
                 to_string(desc), needed, offset, buffer->size_bytes());
  }
  Tensor tensor;
  tensor.strides_bytes_ =
      strides_bytes.empty() ? dense_strides_bytes(desc) : std::move(strides_bytes);
  tensor.desc_ = std::move(desc);
  tensor.buffer_ = std::move(buffer);
  tensor.offset_ = offset;
  return tensor;
}

Result<Tensor> Tensor::wrap(TensorDesc desc, void* address, size_t size_bytes,
                            std::function<void()> release, std::vector<int64_t> strides_bytes) {
  return view(std::move(desc), wrap_host_memory(address, size_bytes, std::move(release)), 0,
              std::move(strides_bytes));
}

bool Tensor::is_dense() const {
  int64_t expected = static_cast<int64_t>(byte_width(desc_.type));
  for (size_t i = desc_.shape.size(); i-- > 0;) {
    if (desc_.shape[i] != 1 && strides_bytes_[i] != expected) return false;
    expected *= desc_.shape[i];
  }
  return true;
}

size_t Tensor::size_bytes() const {
  const auto size = dense_size_bytes(desc_);
  return size ? *size : 0;
}

Result<Tensor> Tensor::reshaped(Shape shape) const {
  HET_ASSIGN(const int64_t count, checked_element_count(shape));
  if (count != element_count() || !is_dense()) {
    return error(StatusCode::ShapeMismatch, "cannot view tensor {} as shape {}", to_string(desc_),
                 to_string(shape));
  }
  return view({desc_.type, std::move(shape), Layout::Plain}, buffer_, offset_);
}

Result<Tensor> Tensor::clone() const {
  HET_ASSIGN(Tensor copy, allocate(desc_));
  if (is_dense() && bytes() != nullptr) {
    if (size_bytes() > 0) std::memcpy(copy.bytes(), bytes(), size_bytes());
    return copy;
  }
  HET_TRY(copy_tensor(*this, copy));
  return copy;
}

Status copy_tensor(const Tensor& src, Tensor& dst) {
  if (src.type() != dst.type() || src.shape() != dst.shape() ||
      stored_shape(src.desc()) != stored_shape(dst.desc())) {
    return error(StatusCode::ShapeMismatch, "cannot copy tensor {} to {}", to_string(src.desc()),
                 to_string(dst.desc()));
  }
  if (src.element_count() == 0) return {};
  if (src.bytes() == nullptr || dst.bytes() == nullptr) {
    return error(StatusCode::NotSupported, "cannot copy from {} to {} memory on the host",
                 to_string(src.memory_kind()), to_string(dst.memory_kind()));
  }
  const size_t width = byte_width(src.type());
  if (width == 0 || (src.is_dense() && dst.is_dense())) {
    std::memcpy(dst.bytes(), src.bytes(), src.size_bytes());
  } else {
    copy_strided(src.shape(), 0, src.bytes(), src.strides_bytes(), dst.bytes(), dst.strides_bytes(),
                 width);
  }
  return {};
}

Result<std::vector<int64_t>> to_int64_vector(const Tensor& tensor) {
  std::vector<int64_t> values;
  if (tensor.type() == ElementType::Int64) {
    const auto all = tensor.values<int64_t>();
    values.assign(all.begin(), all.end());
  } else if (tensor.type() == ElementType::Int32) {
    const auto all = tensor.values<int32_t>();
    values.assign(all.begin(), all.end());
  } else {
    return error(StatusCode::ShapeMismatch, "expected int32 or int64 values, got {}",
                 to_string(tensor.desc()));
  }
  return values;
}

Result<std::vector<float>> to_float_vector(const Tensor& tensor) {
  if (tensor.bytes() == nullptr && tensor.element_count() > 0) {
    return error(StatusCode::NotSupported, "tensor {} is not in host memory",
                 to_string(tensor.desc()));
  }
  if (!tensor.is_dense()) {
    HET_ASSIGN(const Tensor dense, tensor.clone());
    return to_float_vector(dense);
  }
  std::vector<float> values;
  values.reserve(static_cast<size_t>(tensor.element_count()));
  switch (tensor.type()) {
    case ElementType::Bool:
      append_as_float<bool>(tensor, values);
      break;
    case ElementType::Int8:
      append_as_float<int8_t>(tensor, values);
      break;
    case ElementType::UInt8:
      append_as_float<uint8_t>(tensor, values);
      break;
    case ElementType::Int16:
      append_as_float<int16_t>(tensor, values);
      break;
    case ElementType::UInt16:
      append_as_float<uint16_t>(tensor, values);
      break;
    case ElementType::Int32:
      append_as_float<int32_t>(tensor, values);
      break;
    case ElementType::UInt32:
      append_as_float<uint32_t>(tensor, values);
      break;
    case ElementType::Int64:
      append_as_float<int64_t>(tensor, values);
      break;
    case ElementType::UInt64:
      append_as_float<uint64_t>(tensor, values);
      break;
    case ElementType::Float16:
      append_as_float<Float16>(tensor, values);
      break;
    case ElementType::BFloat16:
      append_as_float<BFloat16>(tensor, values);
      break;
    case ElementType::Float32:
      append_as_float<float>(tensor, values);
      break;
    case ElementType::Float64:
      append_as_float<double>(tensor, values);
      break;
    default:
      return error(StatusCode::NotSupported, "cannot read {} values as float",
                   to_string(tensor.type()));
  }
  return values;
}

namespace tensor_internal {

void* checked_address(const Tensor& tensor, ElementType wanted) {
  // Reading a tensor as another type is a bug of ours that must not pass silently.
  if (tensor.type() != wanted) std::abort();
  return tensor.bytes();
}

Tensor copy_of(const TensorDesc& desc, const void* values, size_t size_bytes) {
  auto tensor = Tensor::allocate(desc);
  if (!tensor || tensor->size_bytes() != size_bytes) std::abort();
  if (size_bytes > 0) std::memcpy(tensor->bytes(), values, size_bytes);
  return std::move(*tensor);
}

}  // namespace tensor_internal

}  // namespace het
