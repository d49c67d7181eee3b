#include "inference/readers/openvino_ir/translate.h"

#include "inference/ops/op_checks.h"

namespace het::ir {

std::span<const TranslationTable> translation_tables() {
  static constexpr TranslationTable kTables[] = {
      activation_translations,  block_translations,         control_translations,
      convolution_translations, detection_translations,     elementwise_translations,
      embedding_translations,   fourier_translations,       gather_translations,
      matrix_translations,      normalization_translations, picture_translations,
      pooling_translations,     random_translations,        recurrent_translations,
      reduction_translations,   resize_translations,        scatter_translations,
      shape_translations,       slice_translations,         sorting_translations,
      space_translations,
  };
  return kTables;
}

namespace {

/// Operations that OpenVINO has for more types of integers than ONNX: those that ONNX has, and in
/// which type the others are computed.
struct TypeRule {
  std::string_view operation;
  TypeSet known;
  ElementType computed;
};

constexpr TypeSet kWideTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::UInt32,
                                                     ElementType::Int64, ElementType::UInt64};

constexpr TypeRule kTypeRules[] = {
    {"Acos", kFloatTypes, ElementType::Float32},
    {"Acosh", kFloatTypes, ElementType::Float32},
    {"Asin", kFloatTypes, ElementType::Float32},
    {"Asinh", kFloatTypes, ElementType::Float32},
    {"Atan", kFloatTypes, ElementType::Float32},
    {"Atanh", kFloatTypes, ElementType::Float32},
    {"Cos", kFloatTypes, ElementType::Float32},
    {"Cosh", kFloatTypes, ElementType::Float32},
    {"Elu", kFloatTypes, ElementType::Float32},
    {"Erf", kFloatTypes, ElementType::Float32},
    {"Exp", kFloatTypes, ElementType::Float32},
    {"GRN", kFloatTypes, ElementType::Float32},
    {"HSigmoid", kFloatTypes, ElementType::Float32},
    {"HSwish", kFloatTypes, ElementType::Float32},
    {"HardSigmoid", kFloatTypes, ElementType::Float32},
    {"LRN", kFloatTypes, ElementType::Float32},
    {"Log", kFloatTypes, ElementType::Float32},
    {"LogSoftmax", kFloatTypes, ElementType::Float32},
    {"MVN", kFloatTypes, ElementType::Float32},
    {"NormalizeL2", kFloatTypes, ElementType::Float32},
    {"PReLU", kFloatTypes, ElementType::Float32},
    {"Sigmoid", kFloatTypes, ElementType::Float32},
    {"Sin", kFloatTypes, ElementType::Float32},
    {"Sinh", kFloatTypes, ElementType::Float32},
    {"Sqrt", kFloatTypes, ElementType::Float32},
    {"Tan", kFloatTypes, ElementType::Float32},
    {"Tanh", kFloatTypes, ElementType::Float32},
    {"CumSum", kWideTypes, ElementType::Int32},
    {"MatMul", kWideTypes, ElementType::Int32},
    {"ReduceL1", kWideTypes, ElementType::Int32},
    {"ReduceMean", kWideTypes, ElementType::Int32},
    {"ReduceProd", kWideTypes, ElementType::Int32},
    {"ReduceSum", kWideTypes, ElementType::Int32},
};

void choose_types(LayerContext& context) {
  const ElementType type = context.input_type(0);
  if (!is_integer(type)) return;
  for (const TypeRule& rule : kTypeRules) {
    if (rule.operation != context.layer().type) continue;
    if (!rule.known.contains(type)) context.compute_in(rule.computed);
    return;
  }
}

}  // namespace

void translate(LayerContext& context) {
  choose_types(context);
  for (const TranslationTable table : translation_tables()) {
    for (const Translation& translation : table()) {
      if (translation.type == context.layer().type) return translation.translate(context);
    }
  }
  context.refuse(fmt::format("operation {} of {} has no translation", context.layer().type,
                             context.layer().opset.empty() ? "no opset" : context.layer().opset));
}

}  // namespace het::ir
