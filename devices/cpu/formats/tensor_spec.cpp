#include "devices/cpu/formats/tensor_spec.h"

#include <cstring>

namespace het::cpu {

std::string_view to_string(Format format) {
  switch (format) {
    case Format::Plain:
      return "plain";
    case Format::ChannelsLast:
      return "channels_last";
    case Format::Blocked8:
      return "nChw8c";
    case Format::Blocked16:
      return "nChw16c";
  }
  return "plain";
}

int64_t block_of(Format format) {
  switch (format) {
    case Format::Blocked8:
      return 8;
    case Format::Blocked16:
      return 16;
    default:
      return 1;
  }
}

std::string to_string(const TensorSpec& spec) {
  return fmt::format("{}{} {}", het::to_string(spec.type), het::to_string(spec.shape),
                     to_string(spec.format));
}

std::vector<int64_t> physical_dims(const TensorSpec& spec) {
  std::vector<int64_t> dims = spec.shape;
  if (dims.size() < 2) return dims;
  if (spec.format == Format::ChannelsLast) {
    dims.push_back(dims[1]);
    dims.erase(dims.begin() + 1);
  } else if (const int64_t block = block_of(spec.format); block > 1) {
    dims[1] = (dims[1] + block - 1) / block;
    dims.push_back(block);
  }
  return dims;
}

int64_t physical_count(const TensorSpec& spec) {
  return element_count(physical_dims(spec));
}

size_t size_bytes(const TensorSpec& spec) {
  const auto count = static_cast<size_t>(physical_count(spec));
  return (count * bit_width(spec.type) + 7) / 8;
}

namespace {

/// The physical dimensions that matter for the order of elements.
std::vector<int64_t> significant_order(const TensorSpec& spec) {
  // Each physical dimension is tagged with its logical one; dimensions of one do not move anything.
  std::vector<int64_t> order;
  const std::vector<int64_t> dims = physical_dims(spec);
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t logical = static_cast<int64_t>(i);
    if (spec.format == Format::ChannelsLast && spec.shape.size() >= 2) {
      if (i + 1 == dims.size()) {
        logical = 1;
      } else if (i >= 1) {
        logical = static_cast<int64_t>(i) + 1;
      }
    } else if (is_blocked(spec.format) && i + 1 == dims.size()) {
      logical = 1;
    }
    if (dims[i] == 1) continue;
    // Neighbouring parts of one logical dimension are one run: [C/16][16] with nothing between.
    if (!order.empty() && order[order.size() - 2] == logical) {
      order.back() *= dims[i];
    } else {
      order.push_back(logical);
      order.push_back(dims[i]);
    }
  }
  return order;
}

}  // namespace

bool same_bytes(const TensorSpec& a, const TensorSpec& b) {
  return a.type == b.type && a.shape == b.shape && significant_order(a) == significant_order(b);
}

std::vector<int64_t> broadcast_strides(const TensorSpec& operand, const TensorSpec& space) {
  const size_t rank = space.shape.size();
  const std::vector<int64_t> space_dims = physical_dims(space);
  if (operand.shape.size() > rank) return {};
  TensorSpec padded = operand;
  padded.shape.insert(padded.shape.begin(), rank - operand.shape.size(), 1);
  if (operand.shape.size() != rank && operand.format != Format::Plain) return {};
  const bool channels_vary = rank >= 2 && padded.shape[1] != 1;
  if (rank < 2 || !channels_vary || padded.format == space.format) {
    // Formats may differ while the operand has one channel: its own strides are used.
  } else {
    TensorSpec moved = padded;
    moved.format = space.format;
    if (!same_bytes(padded, moved)) return {};
    padded.format = space.format;
  }
  const std::vector<int64_t> dims = physical_dims(padded);
  const std::vector<int64_t> dense = row_major_strides(dims);
  std::vector<int64_t> strides(space_dims.size(), 0);
  // Stride of a logical dimension in the operand's memory.
  const auto stride_of = [&](size_t logical) -> int64_t {
    if (padded.format == Format::ChannelsLast && rank >= 2) {
      if (logical == 1) return dense.back();
      return logical == 0 ? dense[0] : dense[logical - 1];
    }
    return dense[logical];
  };
  for (size_t i = 0; i < space_dims.size(); ++i) {
    size_t logical = i;
    if (rank >= 2 && space.format == Format::ChannelsLast && i >= 1) {
      logical = i + 1 == space_dims.size() ? 1 : i + 1;
    }
    if (is_blocked(space.format) && i == rank) {
      strides[i] = channels_vary ? 1 : 0;
      continue;
    }
    if (padded.shape[logical] == 1) continue;
    if (padded.shape[logical] != space.shape[logical]) return {};
    strides[i] = stride_of(logical);
  }
  return strides;
}

namespace {

template <class From, class To>
void convert_values(const std::byte* src, std::byte* dst, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, src + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    const To converted(static_cast<float>(value));
    std::memcpy(dst + static_cast<size_t>(i) * sizeof(To), &converted, sizeof(To));
  }
}

template <class From>
bool convert_from(const Tensor& src, Tensor& dst) {
  const int64_t count = src.element_count();
  switch (dst.type()) {
    case ElementType::Float32:
      convert_values<From, float>(src.bytes(), dst.bytes(), count);
      return true;
    case ElementType::Float16:
      convert_values<From, Float16>(src.bytes(), dst.bytes(), count);
      return true;
    case ElementType::BFloat16:
      convert_values<From, BFloat16>(src.bytes(), dst.bytes(), count);
      return true;
    default:
      return false;
  }
}

Result<Tensor> convert_type(const Tensor& src, ElementType type) {
  if (src.type() == type) return src;
  HET_ASSIGN(Tensor dst, Tensor::allocate({type, src.shape(), Layout::Plain}));
  bool done = false;
  if (src.type() == ElementType::Float32) done = convert_from<float>(src, dst);
  if (src.type() == ElementType::Float16) done = convert_from<Float16>(src, dst);
  if (src.type() == ElementType::BFloat16) done = convert_from<BFloat16>(src, dst);
  if (src.type() == ElementType::Float64) done = convert_from<double>(src, dst);
  if (!done) {
    return error(StatusCode::NotSupported, "cannot convert a constant from {} to {}",
                 het::to_string(src.type()), het::to_string(type));
  }
  return dst;
}

}  // namespace

Result<Tensor> convert_constant(const Tensor& plain, const TensorSpec& spec) {
  HET_ASSIGN(Tensor src, convert_type(plain, spec.type));
  TensorSpec plain_spec = spec;
  plain_spec.format = Format::Plain;
  if (same_bytes(plain_spec, spec)) return src;
  HET_ASSIGN(Tensor dst, Tensor::allocate({spec.type, {physical_count(spec)}, Layout::Plain}));
  const size_t width = byte_width(spec.type);
  std::memset(dst.bytes(), 0, dst.size_bytes());
  const int64_t outer = spec.shape[0];
  const int64_t channels = spec.shape[1];
  int64_t inner = 1;
  for (size_t i = 2; i < spec.shape.size(); ++i) inner *= spec.shape[i];
  const int64_t block = block_of(spec.format);
  const int64_t blocks = (channels + block - 1) / block;
  for (int64_t n = 0; n < outer; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t s = 0; s < inner; ++s) {
        const int64_t from = (n * channels + c) * inner + s;
        const int64_t to = spec.format == Format::ChannelsLast
                               ? (n * inner + s) * channels + c
                               : ((n * blocks + c / block) * inner + s) * block + c % block;
        std::memcpy(dst.bytes() + static_cast<size_t>(to) * width,
                    src.bytes() + static_cast<size_t>(from) * width, width);
      }
    }
  }
  return dst;
}

}  // namespace het::cpu
