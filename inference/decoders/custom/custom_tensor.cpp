#include "inference/decoders/custom/custom_tensor.h"

#include <cstring>

#include "inference/tensors/custom_type_numbers.h"

namespace het {
namespace {

/// The newest type that decoders of every version know.
constexpr int32_t kLastType = HET_TYPE_BOOL;
constexpr uint32_t kMaxRank = 8;

}  // namespace

Result<HetTensorView> tensor_view(const std::string& name, const Tensor& tensor) {
  const int32_t type = custom_type_number(tensor.type());
  if (type == 0 || type > kLastType)
    return error(StatusCode::NotSupported,
                 "output '{}' {} has a type that custom decoders cannot get", name,
                 to_string(tensor.desc()));
  return HetTensorView{name.c_str(),          type,           static_cast<uint32_t>(tensor.rank()),
                       tensor.shape().data(), tensor.bytes(), tensor.size_bytes()};
}

Result<Tensor> copy_tensor_view(const HetTensorView& view, size_t limit_bytes) {
  const ElementType type = custom_type(view.type);
  if (type == ElementType::Undefined || view.type > kLastType || view.rank > kMaxRank ||
      (view.rank > 0 && view.shape == nullptr) || view.data == nullptr)
    return error(StatusCode::InvalidArgument,
                 "type {}, {} dimensions, shape {} and values {} are no tensor of at most {} "
                 "dimensions",
                 view.type, view.rank, view.shape == nullptr ? "missing" : "given",
                 view.data == nullptr ? "missing" : "given", kMaxRank);
  TensorDesc desc;
  desc.type = type;
  desc.shape.assign(view.shape, view.shape + view.rank);
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  if (size_bytes != view.size_bytes || size_bytes > limit_bytes)
    return error(StatusCode::InvalidArgument,
                 "{} has {} bytes, size_bytes says {}, at most {} are taken", to_string(desc),
                 size_bytes, view.size_bytes, limit_bytes);
  HET_ASSIGN(Tensor tensor, Tensor::allocate(desc));
  if (size_bytes > 0) std::memcpy(tensor.bytes(), view.data, size_bytes);
  return tensor;
}

}  // namespace het
