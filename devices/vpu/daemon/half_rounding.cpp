#include "devices/vpu/daemon/half_rounding.h"

#include <vector>

#include "inference/custom_operator.h"
#include "inference/ops/custom_operators.h"
#include "inference/tensors/element_type.h"

namespace het::vpu {
namespace {

constexpr char kDomain[] = "hetero.vpu";
constexpr char kType[] = "RoundToHalf";
/// Elements that are worth a thread.
constexpr int64_t kGrain = 16384;

float to_half(float value) {
  return half_to_float(float_to_half(value));
}

int32_t same_shape(const HetNodeView*, const HetOperandDesc* inputs, uint32_t,
                   HetOperandDesc* outputs, uint32_t, const HetKernelContext*) {
  outputs[0] = inputs[0];
  return 0;
}

struct Values {
  const float* from;
  float* to;
};

int32_t round_values(const HetNodeView*, const HetOperand* inputs, uint32_t, HetOperand* outputs,
                     uint32_t, const HetKernelContext* device) {
  Values values{static_cast<const float*>(inputs[0].data), static_cast<float*>(outputs[0].data)};
  const auto round_part = [](void* user, int64_t begin, int64_t end) {
    const auto& part = *static_cast<const Values*>(user);
    for (int64_t i = begin; i < end; ++i) part.to[i] = to_half(part.from[i]);
  };
  // With the padding of blocked formats.
  const auto count = static_cast<int64_t>(inputs[0].size_bytes / sizeof(float));
  device->parallel_for(device->context, count, kGrain, round_part, &values);
  return 0;
}

constexpr HetCustomOperator kRoundToHalf = {
    sizeof(HetCustomOperator),
    kDomain,
    kType,
    1,
    1,
    same_shape,
    round_values,
    HET_FORMAT_PLAIN | HET_FORMAT_CHANNELS_LAST | HET_FORMAT_BLOCKED8 | HET_FORMAT_BLOCKED16};
constexpr const HetCustomOperator* kRoundingOperators[] = {&kRoundToHalf};
constexpr HetCustomOperators kTable = {HET_CUSTOM_OPERATOR_VERSION, sizeof(HetCustomOperators), 1,
                                       kRoundingOperators};

Result<Tensor> rounded(const Tensor& exact) {
  HET_ASSIGN(Tensor tensor, exact.clone());
  for (float& value : tensor.values<float>()) value = to_half(value);
  return tensor;
}

}  // namespace

Status round_to_half(Model& model) {
  HET_TRY(add_custom_operators(kTable, "the VPU's rounding"));
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
    const std::string name = value->name() + "/rounded";
    Node* const node = model.add_node(name, kType, kDomain, {value}, {name});
    model.replace_uses(value, node->output());
    model.set_input(node, 0, value);
  }
  return model.sort();
}

}  // namespace het::vpu
