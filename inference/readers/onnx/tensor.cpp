#include "inference/readers/onnx/tensor.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <exception>
#include <new>
#include <optional>

#include "inference/ops/onnx_type.h"
#include "inference/readers/onnx/message.h"

namespace het::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw tensors are little-endian");

/// Which typed field of TensorProto holds the elements of a type.
uint32_t typed_field(ElementType type) {
  switch (type) {
    case ElementType::Float32:
      return tensor_field::kFloatData;
    case ElementType::Float64:
      return tensor_field::kDoubleData;
    case ElementType::Int64:
      return tensor_field::kInt64Data;
    case ElementType::UInt32:
    case ElementType::UInt64:
      return tensor_field::kUint64Data;
    default:
      return tensor_field::kInt32Data;
  }
}

/// Appends values to a tensor's memory, never beyond its end.
class Sink {
 public:
  explicit Sink(Tensor& tensor) : next_(tensor.bytes()), left_(tensor.size_bytes()) {}

  template <class T>
  void put(T value) {
    ++seen_;
    if (left_ < sizeof(T)) return;
    std::memcpy(next_, &value, sizeof(T));
    next_ += sizeof(T);
    left_ -= sizeof(T);
  }
  size_t seen() const { return seen_; }

 private:
  std::byte* next_;
  size_t left_;
  size_t seen_ = 0;
};

/// int32_data holds one element per number; types of less than a byte hold one byte per number.
void put_integer(ElementType type, int64_t value, Sink& sink) {
  const size_t bits = bit_width(type);
  if (type == ElementType::Bool) {
    sink.put(static_cast<uint8_t>(value != 0));
  } else if (bits <= 8) {
    sink.put(static_cast<uint8_t>(value));
  } else if (bits == 16) {
    sink.put(static_cast<uint16_t>(value));
  } else if (bits == 32) {
    sink.put(static_cast<uint32_t>(value));
  } else {
    sink.put(static_cast<uint64_t>(value));
  }
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Booleans of a file may have any value; ours are 0 or 1.
bool has_odd_booleans(const TensorDesc& desc, std::span<const std::byte> bytes) {
  if (desc.type != ElementType::Bool) return false;
  for (const std::byte b : bytes) {
    if (std::to_integer<int>(b) > 1) return true;
  }
  return false;
}

Result<size_t> parse_size(std::string_view text, std::string_view what) {
  size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) {
    return error(StatusCode::ParseError, "{} '{}' of external data is not a number", what, text);
  }
  return value;
}

}  // namespace

Result<Tensor> TensorReader::read(const ParsedTensor& tensor) {
  Result<Tensor> result;
  try {
    result = read_content(tensor);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& failure) {
    result = error(StatusCode::ParseError, "{} (protobuf)", failure.what());
  }
  if (!result) return Failure(result.error().with_context(fmt::format("tensor '{}'", tensor.name)));
  return result;
}

Result<Tensor> TensorReader::read_content(const ParsedTensor& tensor) {
  HET_ASSIGN(const ElementType type, element_type_from_onnx(tensor.data_type));
  const TensorDesc desc{type, Shape(tensor.dims.begin(), tensor.dims.end()), Layout::Plain};
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  if (tensor.sparse != nullptr) return read_sparse(tensor, desc);
  if (tensor.external) return read_external(tensor, desc);
  // Writers give a tensor without elements no byte or one; there is nothing to read.
  if (size_bytes == 0 && tensor.has_raw && tensor.raw.size() <= 1) return Tensor::allocate(desc);
  if (!tensor.has_raw) return unpack(tensor, desc);
  if (tensor.raw.size() != size_bytes) {
    return error(StatusCode::ParseError, "{} needs {} bytes, but raw_data has {}", to_string(desc),
                 size_bytes, tensor.raw.size());
  }
  return reference_or_copy(desc, as_bytes(tensor.raw), owner_);
}

Result<Tensor> TensorReader::read_external(const ParsedTensor& tensor, const TensorDesc& desc) {
  std::string_view location;
  size_t offset = 0;
  std::optional<size_t> length;
  for (const auto& [key, value] : tensor.external_entries) {
    if (key == "location") {
      location = value;
    } else if (key == "offset") {
      HET_ASSIGN(offset, parse_size(value, "offset"));
    } else if (key == "length") {
      HET_ASSIGN(length, parse_size(value, "length"));
    }
  }
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  // The file of nothing need not exist.
  if (size_bytes == 0 && length.value_or(0) <= 1) return Tensor::allocate(desc);
  if (length && *length != size_bytes) {
    return error(StatusCode::ParseError, "{} needs {} bytes, but its external data has length {}",
                 to_string(desc), size_bytes, *length);
  }
  HET_ASSIGN(const std::shared_ptr<const MappedFile> file, files_.open(location));
  const std::span<const std::byte> bytes = file->bytes();
  if (offset > bytes.size() || size_bytes > bytes.size() - offset) {
    return error(StatusCode::ParseError,
                 "{} needs {} bytes at offset {} of '{}', which has {}; fetch the file again",
                 to_string(desc), size_bytes, offset, file->path(), bytes.size());
  }
  return reference_or_copy(desc, bytes.subspan(offset, size_bytes), file);
}

Result<Tensor> TensorReader::read_sparse(const ParsedTensor& tensor, const TensorDesc& desc) {
  if (bit_width(desc.type) % 8 != 0) {
    return error(StatusCode::NotSupported, "a sparse tensor of {} is not supported",
                 to_string(desc.type));
  }
  HET_ASSIGN(const Tensor values, read_content(tensor.sparse->values));
  HET_ASSIGN(const Tensor indices, read_content(tensor.sparse->indices));
  const auto count = static_cast<size_t>(values.element_count());
  const size_t rank = desc.shape.size();
  const bool is_linear = indices.shape().size() == 1;
  if (indices.type() != ElementType::Int64 || values.shape().size() != 1 ||
      indices.shape() != (is_linear ? Shape{values.shape()[0]}
                                    : Shape{values.shape()[0], static_cast<int64_t>(rank)})) {
    return error(StatusCode::ParseError,
                 "a sparse tensor of shape {} with values {} has indices {}, not int64[values] or "
                 "int64[values, rank]",
                 to_string(desc.shape), to_string(values.desc()), to_string(indices.desc()));
  }
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  HET_TRY(charge(size_bytes));
  HET_ASSIGN(Tensor dense, Tensor::allocate(desc));
  std::memset(dense.bytes(), 0, dense.size_bytes());
  const size_t width = bit_width(desc.type) / 8;
  const int64_t* places = indices.data<int64_t>();
  for (size_t i = 0; i < count; ++i) {
    int64_t place = 0;
    bool is_inside = true;
    for (size_t d = is_linear ? rank : 0; d < rank; ++d) {
      const int64_t index = places[i * rank + d];
      is_inside = is_inside && index >= 0 && index < desc.shape[d];
      place = place * desc.shape[d] + (is_inside ? index : 0);
    }
    if (is_linear) place = places[i];
    if (!is_inside || place < 0 || place >= dense.element_count()) {
      return error(StatusCode::ParseError, "index {} of the sparse tensor is outside of {}", i,
                   to_string(desc.shape));
    }
    std::memcpy(dense.bytes() + static_cast<size_t>(place) * width, values.bytes() + i * width,
                width);
  }
  return dense;
}

Result<Tensor> TensorReader::unpack(const ParsedTensor& tensor, const TensorDesc& desc) {
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  const size_t bits = bit_width(desc.type);
  const size_t wanted = bits < 8 ? size_bytes : static_cast<size_t>(element_count(desc.shape));
  // Every number takes a byte of the file at least: a huge shape without content allocates nothing.
  if (wanted > tensor.message.size()) {
    return error(StatusCode::ParseError,
                 "{} needs {} numbers, but neither raw_data nor the typed field has them",
                 to_string(desc), wanted);
  }
  HET_TRY(charge(size_bytes));
  HET_ASSIGN(Tensor result, Tensor::allocate(desc));
  Sink sink(result);
  const uint32_t field = typed_field(desc.type);
  Message message(tensor.message);
  while (message.next()) {
    if (message.field() != field) {
      message.skip();
    } else if (field == tensor_field::kFloatData) {
      message.floats([&](float value) { sink.put(value); });
    } else if (field == tensor_field::kDoubleData) {
      message.doubles([&](double value) { sink.put(value); });
    } else {
      message.integers([&](int64_t value) { put_integer(desc.type, value, sink); });
    }
  }
  if (sink.seen() != wanted) {
    return error(StatusCode::ParseError, "{} needs {} numbers, but its typed field has {}",
                 to_string(desc), wanted, sink.seen());
  }
  return result;
}

Result<Tensor> TensorReader::reference_or_copy(const TensorDesc& desc,
                                               std::span<const std::byte> bytes,
                                               const std::shared_ptr<const void>& owner) {
  const size_t alignment = std::max<size_t>(1, byte_width(desc.type));
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
  if (owner && aligned && !bytes.empty() && !has_odd_booleans(desc, bytes)) {
    return Tensor::view(desc, reference_bytes(bytes, owner));
  }
  HET_TRY(charge(bytes.size()));
  HET_ASSIGN(Tensor copy, Tensor::allocate(desc));
  if (!bytes.empty()) {
    std::memcpy(copy.bytes(), bytes.data(), bytes.size());
    release_file_pages(bytes);
  }
  if (desc.type == ElementType::Bool) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      copy.bytes()[i] = copy.bytes()[i] == std::byte{0} ? std::byte{0} : std::byte{1};
    }
  }
  return copy;
}

Status TensorReader::charge(size_t bytes) {
  if (__builtin_add_overflow(charged_bytes_, bytes, &charged_bytes_) ||
      charged_bytes_ > std::min(kMaxUnpackedBytes, allowed_bytes_ + 2 * files_.total_bytes())) {
    return error(StatusCode::OutOfMemory,
                 "the model's tensors would take {} bytes when unpacked, far more than its files",
                 charged_bytes_);
  }
  return {};
}

}  // namespace het::onnx
