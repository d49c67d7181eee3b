#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/translate.h"

/// Random numbers: those of the project's generator (ops/random.h), not OpenVINO's.
namespace het::ir {
namespace {

/// The two seeds as one; without any, the node's name is the seed.
void set_seed(LayerContext& context, Attributes& attributes) {
  const int64_t global = context.integer("global_seed", 0);
  const int64_t own = context.integer("op_seed", 0);
  if (global == 0 && own == 0) return;
  attributes.set("seed", static_cast<float>(global) * 65599.0f + static_cast<float>(own));
}

/// minimum + uniform * (maximum - minimum); whole numbers are rounded down.
void random_uniform(LayerContext& context) {
  const ElementType type = context.type("output_type", "f32");
  const ElementType drawn = is_integer(type) ? ElementType::Float64 : ElementType::Float32;
  Attributes attributes = with("dtype", onnx_type_code(drawn));
  set_seed(context, attributes);
  Value* const like = context.add("ConstantOfShape", {context.integer_list(context.input(0))});
  Value* const uniform = context.add("RandomUniformLike", {like}, std::move(attributes));
  const auto bound = [&](size_t input) {
    return context.cast(
        context.add("Reshape", {context.input(input), context.integers_constant("scalar", {})}),
        drawn);
  };
  Value* const low = bound(1);
  Value* value = context.add("Mul", {uniform, context.add("Sub", {bound(2), low})});
  value = context.add("Add", {value, low});
  if (is_integer(type)) value = context.add("Floor", {value});
  context.finish("Cast", {value}, with("to", onnx_type_code(type)));
}

void multinomial(LayerContext& context) {
  const std::vector<int64_t> count = context.required_integers(1, "a number of samples");
  if (!context.flag("with_replacement", false)) {
    return context.refuse("Multinomial without replacement is not supported");
  }
  if (count.size() != 1) return context.refuse("its number of samples is not one number");
  Attributes attributes = with("sample_size", count[0]);
  const ElementType type = context.type("convert_type", "i64");
  attributes.set("dtype", onnx_type_code(type));
  set_seed(context, attributes);
  Value* logs = context.input(0);
  if (!context.flag("log_probs", false)) logs = context.add("Log", {logs});
  context.finish("Multinomial", {logs}, std::move(attributes));
}

constexpr Translation kRandomTable[] = {
    {"RandomUniform", random_uniform},
    {"Multinomial", multinomial},
};

}  // namespace

std::span<const Translation> random_translations() {
  return kRandomTable;
}

}  // namespace het::ir
