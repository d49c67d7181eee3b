#include "inference/readers/onnx/lift.h"

#include <array>

#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

struct Rule {
  std::string_view op_type;
  int64_t below_opset;  ///< files of this opset and newer have the newest form already
  void (*apply)(LiftContext& context);
};

constexpr std::array kRules = {
    Rule{"Add", 7, lift_binary_broadcast},
    Rule{"And", 7, lift_binary_broadcast},
    Rule{"BatchNormalization", 14, lift_batch_normalization},
    Rule{"Cast", 6, lift_cast},
    Rule{"Clip", 11, lift_clip},
    Rule{"Concat", 4, lift_concat},
    Rule{"DFT", 20, lift_dft},
    Rule{"Div", 7, lift_binary_broadcast},
    Rule{"Dropout", 12, lift_dropout},
    Rule{"Equal", 7, lift_binary_broadcast},
    Rule{"Gemm", 7, lift_gemm},
    Rule{"Greater", 7, lift_binary_broadcast},
    Rule{"GridSample", 20, lift_grid_sample},
    Rule{"GroupNormalization", 21, lift_group_normalization},
    Rule{"Hardmax", 13, lift_softmax},
    Rule{"Less", 7, lift_binary_broadcast},
    Rule{"LogSoftmax", 13, lift_softmax},
    Rule{"Mul", 7, lift_binary_broadcast},
    Rule{"Or", 7, lift_binary_broadcast},
    Rule{"PRelu", 7, lift_prelu},
    Rule{"Pad", 11, lift_pad},
    Rule{"Pow", 7, lift_binary_broadcast},
    Rule{"ReduceL1", 18, lift_axes_attribute},
    Rule{"ReduceL2", 18, lift_axes_attribute},
    Rule{"ReduceLogSum", 18, lift_axes_attribute},
    Rule{"ReduceLogSumExp", 18, lift_axes_attribute},
    Rule{"ReduceMax", 18, lift_axes_attribute},
    Rule{"ReduceMean", 18, lift_axes_attribute},
    Rule{"ReduceMin", 18, lift_axes_attribute},
    Rule{"ReduceProd", 18, lift_axes_attribute},
    Rule{"ReduceSum", 13, lift_axes_attribute},
    Rule{"ReduceSumSquare", 18, lift_axes_attribute},
    Rule{"Reshape", 5, lift_reshape},
    Rule{"Resize", 13, lift_resize},
    Rule{"RoiAlign", 16, lift_roi_align},
    Rule{"Scan", 9, lift_scan},
    Rule{"Scatter", 11, lift_scatter},
    Rule{"Slice", 10, lift_slice},
    Rule{"Softmax", 13, lift_softmax},
    Rule{"Split", 18, lift_split},
    Rule{"Squeeze", 13, lift_axes_attribute},
    Rule{"Sub", 7, lift_binary_broadcast},
    Rule{"TopK", 10, lift_top_k},
    Rule{"Unsqueeze", 13, lift_axes_attribute},
    Rule{"Upsample", 10, lift_upsample},
    Rule{"Xor", 7, lift_binary_broadcast},
};

}  // namespace

void lift(LiftContext& context) {
  for (const Rule& rule : kRules) {
    if (rule.op_type == context.node().op_type && context.opset() < rule.below_opset) {
      rule.apply(context);
      return;
    }
  }
}

Value* LiftContext::constant(std::string_view suffix, const std::vector<int64_t>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return constant(suffix, Tensor::from<int64_t>(shape, values));
}

Value* LiftContext::constant(std::string_view suffix, Tensor content) {
  return model_.add_constant(fmt::format("{}/{}", node_.name, suffix), std::move(content));
}

Value* LiftContext::scalar_like(std::string_view suffix, float value, Value* like) {
  ElementType type = like ? like->desc().type : ElementType::Undefined;
  if (type == ElementType::Undefined) type = file_float_type_;
  switch (type) {
    case ElementType::Float32:
      return constant(suffix, Tensor::scalar(value));
    case ElementType::Float16:
      return constant(suffix, Tensor::scalar(Float16(value)));
    case ElementType::BFloat16:
      return constant(suffix, Tensor::scalar(BFloat16(value)));
    case ElementType::Float64:
      return constant(suffix, Tensor::scalar(static_cast<double>(value)));
    default:
      return insert("CastLike", {constant(suffix, Tensor::scalar(value)), like});
  }
}

Value* LiftContext::insert(std::string op_type, std::vector<Value*> inputs, Attributes attributes) {
  std::string name = fmt::format("{}/{}", node_.name, op_type);
  if (++inserted_ > 1) name += fmt::format("_{}", inserted_);
  const Node* node = model_.add_node(name, std::move(op_type), "", std::move(inputs), {name},
                                     std::move(attributes));
  return node->output();
}

void LiftContext::move_to_input(std::string_view attribute, size_t index) {
  const Attribute* found = attributes().find(attribute);
  if (found == nullptr) return;
  std::vector<int64_t> values = attributes().get_ints(attribute);
  if (const auto* single = std::get_if<int64_t>(found)) values = {*single};
  node_.set_input(index, constant(attribute, values));
  attributes().erase(attribute);
}

void LiftContext::drop_outputs(size_t index, std::string_view what) {
  for (size_t i = index; i < node_.outputs.size(); ++i) {
    if (!node_.outputs[i].empty() && is_read(node_.outputs[i])) return refuse(std::string(what));
  }
  if (node_.outputs.size() > index) node_.outputs.resize(index);
}

}  // namespace het::onnx
