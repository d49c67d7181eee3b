#include <array>
#include <utility>

#include "inference/ops/onnx_type.h"
#include "inference/readers/onnx/lift_rules.h"

namespace het::onnx {
namespace {

/// TensorProto.DataType's names, as Cast-1 spells its target.
constexpr std::array<std::pair<std::string_view, ElementType>, 12> kTypeNames = {{
    {"FLOAT", ElementType::Float32},
    {"UINT8", ElementType::UInt8},
    {"INT8", ElementType::Int8},
    {"UINT16", ElementType::UInt16},
    {"INT16", ElementType::Int16},
    {"INT32", ElementType::Int32},
    {"INT64", ElementType::Int64},
    {"BOOL", ElementType::Bool},
    {"FLOAT16", ElementType::Float16},
    {"DOUBLE", ElementType::Float64},
    {"UINT32", ElementType::UInt32},
    {"UINT64", ElementType::UInt64},
}};

}  // namespace

/// Cast-1 names the type instead of giving its number.
void lift_cast(LiftContext& context) {
  const Attribute* to = context.attributes().find("to");
  if (to == nullptr || !std::holds_alternative<std::string>(*to)) return;
  const std::string name = std::get<std::string>(*to);
  for (const auto& [known, type] : kTypeNames) {
    if (known == name) return context.attributes().set("to", onnx_type_code(type));
  }
  context.refuse(fmt::format("Cast to type '{}' is not supported", name));
}

/// Concat-1 has 1 as its default axis; later there is none.
void lift_concat(LiftContext& context) {
  if (!context.attributes().has("axis")) context.attributes().set("axis", int64_t{1});
}

/// Opset 20 renamed the modes of GridSample.
void lift_grid_sample(LiftContext& context) {
  const std::string mode = context.attributes().get_string("mode", "bilinear");
  if (mode == "bilinear") context.attributes().set("mode", std::string("linear"));
  if (mode == "bicubic") context.attributes().set("mode", std::string("cubic"));
}

/// RoiAlign-10 has no coordinate_transformation_mode and works like what later is
/// "output_half_pixel".
void lift_roi_align(LiftContext& context) {
  context.attributes().set("coordinate_transformation_mode", std::string("output_half_pixel"));
}

/// Scatter was renamed.
void lift_scatter(LiftContext& context) {
  context.node().op_type = "ScatterElements";
}

}  // namespace het::onnx
