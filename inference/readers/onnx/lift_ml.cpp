#include <cmath>
#include <utility>

#include "inference/ops/onnx_type.h"
#include "inference/readers/onnx/lift_rules.h"

/// Operators of ai.onnx.ml that are plain arithmetic. Their outputs are float32.
namespace het::onnx {
namespace {

Value* as_float(LiftContext& context, Value* x) {
  Attributes attributes;
  attributes.set("to", onnx_type_code(ElementType::Float32));
  return context.insert("Cast", {x}, std::move(attributes));
}

Value* floats(LiftContext& context, std::string_view name, const std::vector<float>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  return context.constant(name, Tensor::from<float>(shape, std::span<const float>(values)));
}

/// Null where there is none.
const Tensor* tensor_attribute(const Attributes& attributes, std::string_view name) {
  const Attribute* const found = attributes.find(name);
  return found == nullptr ? nullptr : std::get_if<Tensor>(found);
}

}  // namespace

/// The elements of the last dimension that Y names.
void lift_array_feature_extractor(LiftContext& context) {
  const PendingNode& node = context.node();
  if (node.input(0) == nullptr || node.input(1) == nullptr) {
    return context.refuse("ArrayFeatureExtractor needs X and Y");
  }
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  Value* const list = context.insert("Reshape", {node.input(1), context.constant("list", {-1})});
  context.become("Gather", {node.input(0), list}, std::move(attributes));
}

/// 1 where x > threshold, else 0, in x's type.
void lift_binarizer(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  const float threshold = context.attributes().get_float("threshold", 0.0f);
  Value* const above =
      context.insert("Greater", {x, context.scalar_like("threshold", threshold, x)});
  context.become("CastLike", {above, x});
}

/// (x - offset) * scale.
void lift_scaler(LiftContext& context) {
  if (!context.require_input()) return;
  Value* x = as_float(context, context.node().input(0));
  const std::vector<float> offset = context.attributes().get_floats("offset");
  const std::vector<float> scale = context.attributes().get_floats("scale");
  if (!offset.empty()) x = context.insert("Sub", {x, floats(context, "offset", offset)});
  if (scale.empty()) return context.become("Identity", {x});
  context.become("Mul", {x, floats(context, "scale", scale)});
}

/// Every row divided by its largest element, the sum of its magnitudes or its length; rows for
/// which that is 0 stay.
void lift_normalizer(LiftContext& context) {
  if (!context.require_input()) return;
  const std::string norm = context.attributes().get_string("norm", "MAX");
  const std::string reduction = norm == "MAX"  ? "ReduceMax"
                                : norm == "L1" ? "ReduceL1"
                                : norm == "L2" ? "ReduceL2"
                                               : "";
  if (reduction.empty()) return context.refuse("Normalizer with norm '" + norm + "' is not known");
  Value* const x = as_float(context, context.node().input(0));
  Value* const size = context.insert(reduction, {x, context.constant("axes", {-1})});
  Value* const zero =
      context.insert("Equal", {size, context.constant("zero", Tensor::scalar(0.0f))});
  Value* const divisor =
      context.insert("Where", {zero, context.constant("one", Tensor::scalar(1.0f)), size});
  context.become("Div", {x, divisor});
}

/// imputed_value_* where x is replaced_value_*; not a number is that of every kind.
void lift_imputer(LiftContext& context) {
  if (!context.require_input()) return;
  Value* const x = context.node().input(0);
  const Attributes& attributes = context.attributes();
  const std::vector<float> reals = attributes.get_floats("imputed_value_floats");
  const std::vector<int64_t> integers = attributes.get_ints("imputed_value_int64s");
  if (reals.empty() == integers.empty()) {
    return context.refuse("Imputer needs imputed_value_floats or imputed_value_int64s");
  }
  if (!integers.empty()) {
    const int64_t replaced = attributes.get_int("replaced_value_int64", 0);
    Value* const wrong = context.insert(
        "Equal", {x, context.constant("replaced", Tensor::scalar<int64_t>(replaced))});
    return context.become("Where", {wrong, context.constant("imputed", integers), x});
  }
  const float replaced = attributes.get_float("replaced_value_float", 0.0f);
  Value* const wrong =
      std::isnan(replaced)
          ? context.insert("IsNaN", {x})
          : context.insert("Equal", {x, context.constant("replaced", Tensor::scalar(replaced))});
  context.become("Where", {wrong, floats(context, "imputed", reals), x});
}

/// The value of the key that x is, or default_*; keys and values are numbers.
void lift_label_encoder(LiftContext& context) {
  if (!context.require_input()) return;
  const Attributes& attributes = context.attributes();
  const auto list = [&](const char* name) -> Value* {
    const std::string kind(name);
    if (const Tensor* tensor = tensor_attribute(attributes, kind + "s_tensor"); tensor != nullptr) {
      return context.constant(kind + "s", *tensor);
    }
    const std::vector<int64_t> integers = attributes.get_ints(kind + "s_int64s");
    if (!integers.empty()) return context.constant(kind + "s", integers);
    const std::vector<float> reals = attributes.get_floats(kind + "s_floats");
    return reals.empty() ? nullptr : floats(context, kind + "s", reals);
  };
  Value* const keys = list("key");
  Value* const values = list("value");
  if (keys == nullptr || values == nullptr ||
      element_count(keys->desc().shape) != element_count(values->desc().shape)) {
    return context.refuse(
        "LabelEncoder is supported for as many numbers as keys as there are numbers as values; "
        "strings are not");
  }
  Value* fallback =
      context.scalar_like("default", attributes.get_float("default_float", -0.0f), values);
  if (is_integer(values->desc().type)) {
    fallback = context.constant("default",
                                Tensor::scalar<int64_t>(attributes.get_int("default_int64", -1)));
  }
  if (const Tensor* tensor = tensor_attribute(attributes, "default_tensor"); tensor != nullptr) {
    fallback = context.constant("default", *tensor);
  }
  Value* const x = context.node().input(0);
  Value* const column = context.insert("Unsqueeze", {x, context.constant("last", {-1})});
  Value* const equal = context.insert("Equal", {column, keys});
  Attributes to;
  to.set("to", onnx_type_code(ElementType::Int32));
  Value* const hits = context.insert("Cast", {equal}, std::move(to));
  Attributes last;
  last.set("axis", int64_t{-1});
  last.set("keepdims", int64_t{0});
  Value* const which = context.insert("ArgMax", {hits}, std::move(last));
  Attributes flat;
  flat.set("keepdims", int64_t{0});
  Value* const found =
      context.insert("ReduceMax", {hits, context.constant("axis", {-1})}, std::move(flat));
  Value* const is_found =
      context.insert("Equal", {found, context.constant("one", Tensor::scalar<int32_t>(1))});
  Value* const list_of_values = context.insert("Reshape", {values, context.constant("list", {-1})});
  context.become("Where", {is_found, context.insert("Gather", {list_of_values, which}), fallback});
}

/// x coefficients^T + intercepts, one row of coefficients for each target.
void lift_linear_regressor(LiftContext& context) {
  if (!context.require_input()) return;
  const Attributes& attributes = context.attributes();
  const std::vector<float> coefficients = attributes.get_floats("coefficients");
  const std::vector<float> intercepts = attributes.get_floats("intercepts");
  const int64_t targets = attributes.get_int("targets", 1);
  const auto count = static_cast<int64_t>(coefficients.size());
  if (targets < 1 || count == 0 || count % targets != 0 ||
      attributes.get_string("post_transform", "NONE") != "NONE" ||
      (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != targets)) {
    return context.refuse(fmt::format(
        "LinearRegressor with {} coefficients and {} intercepts for {} targets, or with "
        "a post_transform, is not supported",
        count, intercepts.size(), targets));
  }
  Value* const x = as_float(context, context.node().input(0));
  Value* const weights = context.constant(
      "coefficients",
      Tensor::from<float>({targets, count / targets}, std::span<const float>(coefficients)));
  Attributes transposed;
  transposed.set("transB", int64_t{1});
  context.become(
      "Gemm",
      {x, weights, intercepts.empty() ? nullptr : floats(context, "intercepts", intercepts)},
      std::move(transposed));
}

}  // namespace het::onnx
