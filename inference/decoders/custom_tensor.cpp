#include "inference/decoders/custom_tensor.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace het {
namespace {

struct TypeNumber {
  ElementType type;
  int32_t number;
};
constexpr std::array<TypeNumber, 8> kTypes{{{ElementType::Float32, HET_TYPE_FLOAT32},
                                            {ElementType::Float16, HET_TYPE_FLOAT16},
                                            {ElementType::Float64, HET_TYPE_FLOAT64},
                                            {ElementType::Int8, HET_TYPE_INT8},
                                            {ElementType::UInt8, HET_TYPE_UINT8},
                                            {ElementType::Int32, HET_TYPE_INT32},
                                            {ElementType::Int64, HET_TYPE_INT64},
                                            {ElementType::Bool, HET_TYPE_BOOL}}};
constexpr uint32_t kMaxRank = 8;

}  // namespace

Result<HetTensorView> tensor_view(const std::string& name, const Tensor& tensor) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const TypeNumber& t) { return t.type == tensor.type(); });
  if (found == kTypes.end())
    return error(StatusCode::NotSupported,
                 "output '{}' {} has a type that custom decoders cannot get", name,
                 to_string(tensor.desc()));
  return HetTensorView{name.c_str(),          found->number,  static_cast<uint32_t>(tensor.rank()),
                       tensor.shape().data(), tensor.bytes(), tensor.size_bytes()};
}

Result<Tensor> copy_tensor_view(const HetTensorView& view, size_t limit_bytes) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const TypeNumber& t) { return t.number == view.type; });
  if (found == kTypes.end() || view.rank > kMaxRank || (view.rank > 0 && view.shape == nullptr) ||
      view.data == nullptr)
    return error(StatusCode::InvalidArgument,
                 "type {}, {} dimensions, shape {} and values {} are no tensor of at most {} "
                 "dimensions",
                 view.type, view.rank, view.shape == nullptr ? "missing" : "given",
                 view.data == nullptr ? "missing" : "given", kMaxRank);
  TensorDesc desc;
  desc.type = found->type;
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
