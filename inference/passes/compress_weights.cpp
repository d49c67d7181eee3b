#include "inference/passes/compress_weights.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/ops/onnx_type.h"
#include "inference/passes/insert_node.h"

namespace het {
namespace {

constexpr int64_t kMinElements = 32;
constexpr float kLargestFloat16 = 65504.0f;

bool is_quantisation(const Node& node) {
  return node.op_type().find("Quantize") != std::string::npos ||
         node.op_type().starts_with("QLinear");
}

bool is_worth_compressing(const Value& value) {
  if (!value.is_constant() || value.constant().type() != ElementType::Float32 ||
      value.consumers().empty() || value.constant().element_count() < kMinElements ||
      !value.constant().is_dense()) {
    return false;
  }
  if (std::ranges::any_of(value.consumers(), [](const Node* n) { return is_quantisation(*n); })) {
    return false;
  }
  return std::ranges::all_of(value.constant().values<float>(), [](float number) {
    return std::abs(number) <= kLargestFloat16;  // not for NaN either
  });
}

}  // namespace

Result<size_t> compress_weights(Model& model) {
  std::vector<Value*> chosen;
  for (const auto& value : model.values()) {
    const bool is_output = std::ranges::any_of(
        model.outputs(), [&](const ModelOutput& output) { return output.value == value.get(); });
    if (!is_output && is_worth_compressing(*value)) chosen.push_back(value.get());
  }
  for (Value* value : chosen) {
    const Tensor& content = value->constant();
    HET_ASSIGN(Tensor half, Tensor::allocate({ElementType::Float16, content.shape()}));
    std::ranges::transform(content.values<float>(), half.data<Float16>(),
                           [](float number) { return Float16(number); });
    Attributes attributes;
    attributes.set("to", onnx_type_code(ElementType::Float32));
    Value* compressed = model.add_constant(value->name() + "/float16", std::move(half));
    Node* cast = model.add_node(value->name() + "/decompress", "Cast", "", {compressed},
                                {value->name() + "/float32"}, std::move(attributes));
    model.replace_uses(value, cast->output());
  }
  model.remove_unused();
  HET_TRY(model.sort());
  return chosen.size();
}

}  // namespace het
