#include "inference/readers/onnx/lift.h"

#include <array>
#include <utility>

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

/// Operators of other domains, and of ONNX Runtime and former experiments in the default one.
struct ForeignRule {
  std::string_view domain;
  std::string_view op_type;
  void (*apply)(LiftContext& context);
};

constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr std::string_view kMl = "ai.onnx.ml";

constexpr std::array kForeignRules = {
    ForeignRule{"", "Affine", lift_affine},
    ForeignRule{"", "Crop", lift_crop},
    ForeignRule{"", "ImageScaler", lift_image_scaler},
    ForeignRule{"", "ParametricSoftplus", lift_parametric_softplus},
    ForeignRule{"", "Scale", lift_scale},
    ForeignRule{"", "ScaledTanh", lift_scaled_tanh},
    ForeignRule{"", "SimplifiedLayerNormalization", lift_simplified_layer_normalization},
    ForeignRule{kMicrosoft, "Attention", lift_attention_with_weights},
    ForeignRule{kMicrosoft, "BiasAdd", lift_bias_add},
    ForeignRule{kMicrosoft, "BiasGelu", lift_bias_gelu},
    ForeignRule{kMicrosoft, "BiasSplitGelu", lift_bias_split_gelu},
    ForeignRule{kMicrosoft, "ConvTransposeWithDynamicPads", lift_conv_transpose_with_pads},
    ForeignRule{kMicrosoft, "DynamicQuantizeMatMul", lift_dynamic_quantize_matmul},
    ForeignRule{kMicrosoft, "EmbedLayerNormalization", lift_embed_layer_normalization},
    ForeignRule{kMicrosoft, "ExpandDims", lift_same_operator},
    ForeignRule{kMicrosoft, "FastGelu", lift_bias_gelu},
    ForeignRule{kMicrosoft, "FusedConv", lift_fused_conv},
    ForeignRule{kMicrosoft, "FusedGemm", lift_fused_gemm},
    ForeignRule{kMicrosoft, "FusedMatMul", lift_fused_matmul},
    ForeignRule{kMicrosoft, "GatherBlockQuantized", lift_gather_block_quantized},
    ForeignRule{kMicrosoft, "GatherND", lift_same_operator},
    ForeignRule{kMicrosoft, "Gelu", lift_same_operator},
    ForeignRule{kMicrosoft, "GridSample", lift_same_operator},
    ForeignRule{kMicrosoft, "GroupNorm", lift_group_norm},
    ForeignRule{kMicrosoft, "Inverse", lift_inverse},
    ForeignRule{kMicrosoft, "MatMulBnb4", lift_matmul_bnb4},
    ForeignRule{kMicrosoft, "MatMulIntegerToFloat", lift_matmul_integer_to_float},
    ForeignRule{kMicrosoft, "MatMulNBits", lift_matmul_n_bits},
    ForeignRule{kMicrosoft, "MultiHeadAttention", lift_multi_head_attention},
    ForeignRule{kMicrosoft, "NhwcConv", lift_nhwc_conv},
    ForeignRule{kMicrosoft, "NhwcFusedConv", lift_nhwc_conv},
    ForeignRule{kMicrosoft, "NhwcMaxPool", lift_nhwc_max_pool},
    ForeignRule{kMicrosoft, "Pad", lift_same_operator},
    ForeignRule{kMicrosoft, "QAttention", lift_attention_with_weights},
    ForeignRule{kMicrosoft, "QGemm", lift_qgemm},
    ForeignRule{kMicrosoft, "QLinearConv", lift_nhwc_conv},
    ForeignRule{kMicrosoft, "QLinearReduceMean", lift_qlinear_unary},
    ForeignRule{kMicrosoft, "QLinearSoftmax", lift_qlinear_unary},
    ForeignRule{kMicrosoft, "QLinearWhere", lift_qlinear_where},
    ForeignRule{kMicrosoft, "QuickGelu", lift_quick_gelu},
    ForeignRule{kMicrosoft, "Range", lift_same_operator},
    ForeignRule{kMicrosoft, "RotaryEmbedding", lift_rotary_embedding},
    ForeignRule{kMicrosoft, "SkipGroupNorm", lift_skip_group_norm},
    ForeignRule{kMicrosoft, "SkipLayerNormalization", lift_skip_layer_normalization},
    ForeignRule{kMicrosoft, "SkipSimplifiedLayerNormalization", lift_skip_layer_normalization},
    ForeignRule{kMicrosoft, "TransposeMatMul", lift_fused_matmul},
    ForeignRule{kMicrosoft, "Trilu", lift_same_operator},
    ForeignRule{kMl, "ArrayFeatureExtractor", lift_array_feature_extractor},
    ForeignRule{kMl, "Binarizer", lift_binarizer},
    ForeignRule{kMl, "Imputer", lift_imputer},
    ForeignRule{kMl, "LabelEncoder", lift_label_encoder},
    ForeignRule{kMl, "LinearRegressor", lift_linear_regressor},
    ForeignRule{kMl, "Normalizer", lift_normalizer},
    ForeignRule{kMl, "Scaler", lift_scaler},
};

}  // namespace

void lift(LiftContext& context) {
  for (const ForeignRule& rule : kForeignRules) {
    if (rule.domain == context.node().domain && rule.op_type == context.node().op_type) {
      rule.apply(context);
      return;
    }
  }
  if (!context.node().domain.empty()) return;
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
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  const Node* node = model_.add_node(name, std::move(op_type), "", std::move(inputs), {name},
                                     std::move(attributes));
  return node->output();
}

std::vector<Value*> LiftContext::insert_parts(std::string op_type, std::vector<Value*> inputs,
                                              size_t count, Attributes attributes) {
  const std::string name = fmt::format("{}/{}", node_.name, op_type);
  std::vector<std::string> outputs;
  for (size_t i = 0; i < count; ++i) outputs.push_back(fmt::format("{}_{}", name, i));
  return model_
      .add_node(name, std::move(op_type), "", std::move(inputs), std::move(outputs),
                std::move(attributes))
      ->outputs();
}

Value* LiftContext::transpose(Value* x, std::vector<int64_t> permutation) {
  Attributes attributes;
  attributes.set("perm", std::move(permutation));
  return insert("Transpose", {x}, std::move(attributes));
}

Value* LiftContext::swap_last_two(Value* x) {
  const bool known = (x->is_input() || x->is_constant()) && x->desc().shape.size() >= 2;
  if (!known) {
    Attributes attributes;
    attributes.set("equation", std::string("...ij->...ji"));
    return insert("Einsum", {x}, std::move(attributes));
  }
  std::vector<int64_t> permutation(x->desc().shape.size());
  for (size_t i = 0; i < permutation.size(); ++i) permutation[i] = static_cast<int64_t>(i);
  std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  return transpose(x, std::move(permutation));
}

void LiftContext::become(std::string op_type, std::vector<Value*> inputs, Attributes attributes) {
  node_.domain.clear();
  node_.op_type = std::move(op_type);
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  node_.inputs = std::move(inputs);
  node_.attributes = std::move(attributes);
}

void LiftContext::become_transpose(Value* x, std::vector<int64_t> permutation) {
  Attributes attributes;
  attributes.set("perm", std::move(permutation));
  become("Transpose", {x}, std::move(attributes));
}

void LiftContext::move_to_input(std::string_view attribute, size_t index) {
  const Attribute* found = attributes().find(attribute);
  if (found == nullptr) return;
  std::vector<int64_t> values = attributes().get_ints(attribute);
  if (const auto* single = std::get_if<int64_t>(found)) values = {*single};
  node_.set_input(index, constant(attribute, values));
  attributes().erase(attribute);
}

bool LiftContext::require_input() {
  if (node_.input(0) != nullptr) return true;
  refuse(fmt::format("{} needs an input", node_.op_type));
  return false;
}

void LiftContext::drop_outputs(size_t index, std::string_view what) {
  for (size_t i = index; i < node_.outputs.size(); ++i) {
    if (!node_.outputs[i].empty() && is_read(node_.outputs[i])) return refuse(std::string(what));
  }
  if (node_.outputs.size() > index) node_.outputs.resize(index);
}

}  // namespace het::onnx
