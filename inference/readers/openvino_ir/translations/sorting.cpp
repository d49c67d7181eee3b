#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/translate.h"

/// The largest elements, the different ones, and those that are not zero.
namespace het::ir {
namespace {

Attributes cast_to(LayerContext& context, std::string_view name, std::string_view fallback) {
  return with("to", onnx_type_code(context.type(name, fallback)));
}

/// sort = index: the elements in the order of their places.
void top_k(LayerContext& context) {
  const int64_t axis = context.integer("axis", -1);
  const std::string sort = context.text("sort", "value");
  Attributes attributes = with("axis", axis);
  attributes.set("largest", int64_t{context.text("mode", "max") != "min"});
  attributes.set("sorted", int64_t{sort != "none"});
  Value* const k = context.integer_list(context.input(1));
  std::vector<Value*> found = context.add_many("TopK", {context.input(0), k}, 2, attributes);
  if (sort == "index") {
    Attributes ascending = with("axis", axis);
    ascending.set("largest", int64_t{0});
    found[1] = context.add_many("TopK", {found[1], k}, 2, std::move(ascending))[0];
    found[0] = context.add("GatherElements", {context.input(0), found[1]}, with("axis", axis));
  }
  context.finish_output(0, "Identity", {found[0]});
  context.finish_output(1, "Cast", {found[1]}, cast_to(context, "index_element_type", "i32"));
}

void unique(LayerContext& context) {
  Attributes attributes = with("sorted", int64_t{context.flag("sorted", true)});
  if (context.has_input(1)) {
    const std::vector<int64_t> axis = context.required_integers(1, "an axis");
    if (axis.size() != 1) return context.refuse("its axis is not one number");
    attributes.set("axis", axis[0]);
  }
  const std::vector<Value*> found =
      context.add_many("Unique", {context.input(0)}, 4, std::move(attributes));
  context.finish_output(0, "Identity", {found[0]});
  for (const size_t i : {size_t{1}, size_t{2}}) {
    context.finish_output(i, "Cast", {found[i]}, cast_to(context, "index_element_type", "i64"));
  }
  context.finish_output(3, "Cast", {found[3]}, cast_to(context, "count_element_type", "i64"));
}

void non_zero(LayerContext& context) {
  if (context.type("output_type", "i64") == ElementType::Int64) {
    return context.finish("NonZero", {context.input(0)});
  }
  context.finish("Cast", {context.add("NonZero", {context.input(0)})},
                 cast_to(context, "output_type", "i64"));
}

constexpr Translation kSortingTable[] = {
    {"TopK", top_k},
    {"Unique", unique},
    {"NonZero", non_zero},
};

}  // namespace

std::span<const Translation> sorting_translations() {
  return kSortingTable;
}

}  // namespace het::ir
