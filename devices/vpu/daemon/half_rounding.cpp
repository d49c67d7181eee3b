#include "devices/vpu/daemon/half_rounding.h"

#include <vector>

#include "inference/element_type.h"
#include "inference/ops/onnx_type.h"
#include "inference/passes/insert_node.h"

namespace het::vpu {
namespace {

Result<Tensor> rounded(const Tensor& exact) {
  HET_ASSIGN(const Tensor dense, exact.clone());
  HET_ASSIGN(Tensor tensor, Tensor::allocate(dense.desc()));
  const auto from = dense.values<float>();
  const auto to = tensor.values<float>();
  for (size_t i = 0; i < from.size(); ++i) to[i] = half_to_float(float_to_half(from[i]));
  return tensor;
}

}  // namespace

Status round_to_half(Model& model) {
  std::vector<Value*> computed;
  for (const auto& value : model.values()) {
    if (value->desc().type != ElementType::Float32) continue;
    if (value->is_constant()) {
      HET_ASSIGN(Tensor tensor, rounded(value->constant()));
      model.make_constant(value.get(), std::move(tensor));
    } else {
      computed.push_back(value.get());
    }
  }
  for (Value* value : computed) {
    Attributes to_half;
    to_half.set("to", onnx_type_code(ElementType::Float16));
    Value* const half =
        insert_behind(model, value, value->name() + "/half", "Cast", {}, std::move(to_half));
    Attributes to_single;
    to_single.set("to", onnx_type_code(ElementType::Float32));
    insert_behind(model, half, value->name() + "/rounded", "Cast", {}, std::move(to_single));
  }
  return model.sort();
}

}  // namespace het::vpu
