#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/translate.h"

/// Pictures in YUV, which OpenVINO's preprocessing puts in front of a model: NV12 and I420 of
/// BT.601's limited range, NHWC, to RGB or BGR.
namespace het::ir {
namespace {

/// Brightness [n, h, w, 1], both colours [n, h/2, w/2, 1].
struct Planes {
  Value* y = nullptr;
  Value* u = nullptr;
  Value* v = nullptr;
};

Value* rows(LayerContext& context, Value* value, int64_t from, int64_t to) {
  return context.add(
      "Slice", {value, context.integers_constant("from", {from}),
                context.integers_constant("to", {to}), context.integers_constant("rows", {1})});
}

/// The colours of one place, beside each other, apart.
std::vector<Value*> apart(LayerContext& context, Value* value, int64_t axis) {
  Attributes attributes = with("axis", axis);
  attributes.set("num_outputs", int64_t{2});
  return context.add_many("Split", {value}, 2, std::move(attributes));
}

/// One input: the planes below each other, three halves of the picture's height.
Planes planes_below(LayerContext& context, bool interleaved) {
  const Shape& x = context.input_shape(0);
  if (x.size() != 4 || x[1] < 3 || x[2] < 2 || x[1] % 3 != 0 || x[2] % 2 != 0 ||
      x[1] >= int64_t{1} << 31) {
    context.refuse(fmt::format(
        "{} of one input needs a known size, height times 3 / 2 and an even width, but it is {}",
        context.layer().type, to_string(x)));
    return {};
  }
  const int64_t height = x[1] / 3 * 2;
  const int64_t half = height / 2;
  const int64_t width = x[2] / 2;
  Planes planes{rows(context, context.input(0), 0, height), nullptr, nullptr};
  Value* const colours = rows(context, context.input(0), height, x[1]);
  if (interleaved) {
    const auto uv = apart(context, context.reshaped(colours, {0, half, width, 2}), 3);
    return {planes.y, uv[0], uv[1]};
  }
  const auto uv = apart(context, context.reshaped(colours, {0, 2 * half, width, 1}), 1);
  return {planes.y, uv[0], uv[1]};
}

Planes read_planes(LayerContext& context) {
  const bool interleaved = context.layer().type.substr(0, 4) == "NV12";
  if (context.input_count() == 1) return planes_below(context, interleaved);
  if (context.input_count() != (interleaved ? 2 : 3)) {
    context.fail(
        Status(StatusCode::ParseError, fmt::format("it has {} inputs", context.input_count())));
    return {};
  }
  if (!interleaved) return {context.input(0), context.input(1), context.input(2)};
  const auto uv = apart(context, context.input(1), 3);
  return {context.input(0), uv[0], uv[1]};
}

/// red = 1.164 (y - 16) + 1.596 (v - 128), green = 1.164 (y - 16) - 0.391 (u - 128)
/// - 0.813 (v - 128), blue = 1.164 (y - 16) + 2.018 (u - 128), each limited to 0 to 255. A colour
/// belongs to a square of four pixels. docs.openvino.ai, operation specification NV12toRGB-8.
void yuv_to_rgb(LayerContext& context) {
  const ElementType type = context.input_type(0);
  const Planes planes = read_planes(context);
  if (planes.y == nullptr) return;
  std::vector<Value*> parts{context.cast(planes.y, ElementType::Float32)};
  Value* const scales = context.constant("scales", Tensor::from<float>({4}, {1, 2, 2, 1}));
  for (Value* plane : {planes.u, planes.v}) {
    Attributes resize = with("mode", std::string("nearest"));
    resize.set("coordinate_transformation_mode", std::string("asymmetric"));
    resize.set("nearest_mode", std::string("floor"));
    parts.push_back(context.add(
        "Resize", {context.cast(plane, ElementType::Float32), nullptr, scales}, std::move(resize)));
  }
  Value* const yuv = context.add("Concat", std::move(parts), with("axis", int64_t{3}));
  Value* const shifted = context.add(
      "Sub", {yuv, context.constant("offsets", Tensor::from<float>({3}, {16, 128, 128}))});
  const std::string_view name = context.layer().type;
  const bool bgr = name.substr(name.size() - 3) == "BGR";
  const std::vector<float> rgb{1.164f, 1.164f, 1.164f, 0, -0.391f, 2.018f, 1.596f, -0.813f, 0};
  const std::vector<float> reversed{1.164f, 1.164f, 1.164f, 2.018f, -0.391f, 0, 0, -0.813f, 1.596f};
  Value* const matrix =
      context.constant("matrix", Tensor::from<float>({3, 3}, bgr ? reversed : rgb));
  Value* colours = context.add("MatMul", {shifted, matrix});
  colours = context.add("Clip", {colours, context.scalar("min", ElementType::Float32, 0),
                                 context.scalar("max", ElementType::Float32, 255)});
  if (type == ElementType::UInt8) colours = context.add("Round", {colours});
  context.finish("Cast", {colours}, with("to", onnx_type_code(type)));
}

constexpr Translation kPictureTable[] = {
    {"NV12toRGB", yuv_to_rgb},
    {"NV12toBGR", yuv_to_rgb},
    {"I420toRGB", yuv_to_rgb},
    {"I420toBGR", yuv_to_rgb},
};

}  // namespace

std::span<const Translation> picture_translations() {
  return kPictureTable;
}

}  // namespace het::ir
