#include "devices/gpu/opencl/tensor_spec.h"

#include <cstring>

namespace het::gpu {

std::string_view to_string(Format format) {
  return format == Format::Plain ? "plain" : "channels last";
}

std::string to_string(const TensorSpec& spec) {
  return fmt::format("{}{} {}", to_string(spec.type), het::to_string(spec.shape),
                     to_string(spec.format));
}

int64_t count(const TensorSpec& spec) {
  return element_count(spec.shape);
}

size_t size_bytes(const TensorSpec& spec) {
  // Plans hold only specs of tensors that exist or were checked to fit 31 bits.
  return dense_size_bytes({spec.type, spec.shape}).value_or(0);
}

Shape physical_dims(const TensorSpec& spec) {
  if (spec.format == Format::Plain || spec.shape.size() < 3) return spec.shape;
  Shape dims = spec.shape;
  dims.erase(dims.begin() + 1);
  dims.push_back(spec.shape[1]);
  return dims;
}

Picture picture_of(const Shape& shape) {
  Picture picture;
  if (!shape.empty()) picture.n = shape[0];
  if (shape.size() > 1) picture.c = shape[1];
  for (size_t i = 2; i < shape.size(); ++i) picture.s *= shape[i];
  return picture;
}

bool same_bytes(const TensorSpec& a, const TensorSpec& b) {
  if (a.type != b.type || a.shape != b.shape) return false;
  if (a.format == b.format || a.shape.size() < 3) return true;
  const Picture picture = picture_of(a.shape);
  return picture.c == 1 || picture.s == 1;
}

Result<Tensor> convert_constant(const Tensor& plain, const TensorSpec& spec) {
  HET_ASSIGN(Tensor converted, Tensor::allocate({spec.type, spec.shape}));
  Tensor values = plain;
  if (plain.type() != spec.type) {
    HET_ASSIGN(const std::vector<float> floats, to_float_vector(plain));
    if (spec.type == ElementType::Float16) {
      HET_ASSIGN(values, Tensor::allocate({spec.type, spec.shape}));
      Float16* to = values.data<Float16>();
      for (const float value : floats) *to++ = Float16(value);
    } else if (spec.type == ElementType::Float32) {
      values = Tensor::from<float>(spec.shape, floats);
    } else {
      return error(StatusCode::Internal, "constants of {} cannot become {}",
                   to_string(plain.type()), to_string(spec.type));
    }
  }
  const Picture picture = picture_of(spec.shape);
  if (spec.format == Format::Plain || spec.shape.size() < 3 || picture.c == 1 || picture.s == 1) {
    std::memcpy(converted.bytes(), values.bytes(), values.size_bytes());
    return converted;
  }
  const size_t item = size_bytes({spec.type, {1}, Format::Plain});
  const std::byte* from = values.bytes();
  for (int64_t n = 0; n < picture.n; ++n) {
    for (int64_t c = 0; c < picture.c; ++c) {
      for (int64_t s = 0; s < picture.s; ++s, from += item) {
        const int64_t to = (n * picture.s + s) * picture.c + c;
        std::memcpy(converted.bytes() + static_cast<size_t>(to) * item, from, item);
      }
    }
  }
  return converted;
}

}  // namespace het::gpu
