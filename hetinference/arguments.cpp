#include "hetinference/arguments.h"

#include "hetinference/sized_struct.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het::c_interface {
namespace {

constexpr uint32_t kMaxRank = 64;

}  // namespace

std::function<void()> release_of(HetRelease release, void* user,
                                 const std::shared_ptr<bool>& kept) {
  if (!release) return {};
  return [release, user, kept] {
    if (*kept) release(user);
  };
}

Result<Properties> to_properties(const HetProperty* properties, size_t count) {
  Properties result;
  if (count == 0) return result;
  HET_TRY(check_size(properties, "properties"));
  const size_t distance = properties->struct_size;
  const auto* bytes = reinterpret_cast<const char*>(properties);
  for (size_t i = 0; i < count; ++i) {
    HET_ASSIGN(
        const HetProperty property,
        read_struct(reinterpret_cast<const HetProperty*>(bytes + i * distance), "a property"));
    if (property.struct_size != distance) {
      return error(StatusCode::InvalidArgument,
                   "struct_size of property {} is {}, that of the first {}", i,
                   property.struct_size, distance);
    }
    HET_TRY(not_null(property.name, "the name of a property"));
    HET_TRY(not_null(property.value, "the value of a property"));
    result[property.name] = property.value;
  }
  return result;
}

Result<TensorDesc> to_desc(const HetTensor& tensor) {
  TensorDesc desc;
  desc.type = custom_type(tensor.type);
  if (desc.type == ElementType::Undefined) {
    return error(StatusCode::InvalidArgument, "tensor type {} is none of HET_TYPE_...",
                 tensor.type);
  }
  if (tensor.rank > kMaxRank) {
    return error(StatusCode::InvalidArgument, "tensor rank {} is above {}", tensor.rank, kMaxRank);
  }
  if (tensor.rank > 0) {
    HET_TRY(not_null(tensor.shape, "the shape of the tensor"));
    desc.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  }
  return desc;
}

Result<Tensor> to_tensor(const HetTensor& tensor, const std::shared_ptr<bool>& kept) {
  HET_ASSIGN(TensorDesc desc, to_desc(tensor));
  HET_TRY(not_null(tensor.data, "the data of the tensor"));
  std::vector<int64_t> strides;
  if (tensor.strides_bytes) {
    strides.assign(tensor.strides_bytes, tensor.strides_bytes + tensor.rank);
  }
  return Tensor::wrap(std::move(desc), tensor.data, tensor.size_bytes,
                      release_of(tensor.release, tensor.user, kept), std::move(strides));
}

Result<Rect> to_rect(const HetRegion* region, int width, int height) {
  if (!region) return Rect{0, 0, width, height};
  HET_ASSIGN(const HetRegion known, read_struct(region, "region"));
  return Rect{known.x, known.y, known.width, known.height};
}

}  // namespace het::c_interface
