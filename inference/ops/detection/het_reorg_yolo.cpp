#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_reorg_yolo(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"stride", AttributeType::Int, true}}));
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  const Shape& x = context.shape(0);
  const int64_t stride = context.attributes().get_int("stride", 0);
  if (x.size() != 4 || stride < 1 || stride > INT16_MAX || x[2] % stride != 0 ||
      x[3] % stride != 0 || x[1] % (stride * stride) != 0) {
    return error(StatusCode::ShapeMismatch,
                 "data has shape {} and stride is {}, but height and width must be multiples of "
                 "the stride and the channels of its square",
                 to_string(x), stride);
  }
  context.set_output(0, context.type(0),
                     {x[0], x[1] * stride * stride, x[2] / stride, x[3] / stride});
  return {};
}

/// Darknet's reorg layer: value (c, h, w) of the input's shape is the value of the same memory seen
/// as [C / stride^2, H * stride, W * stride] at channel c mod (C / stride^2), row h * stride +
/// offset / stride, column w * stride + offset mod stride with offset = c / (C / stride^2); the
/// values are then seen as [C * stride^2, H / stride, W / stride].
/// docs.openvino.ai, operation specification ReorgYolo-1.
Status evaluate_reorg_yolo(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const int64_t stride = context.attributes().get_int("stride", 1);
  const int64_t channels = x.shape()[1];
  const int64_t height = x.shape()[2];
  const int64_t width = x.shape()[3];
  const int64_t group = channels / (stride * stride);
  return dispatch_width(x.type(), [&]<class T>() -> Status {
    const auto* src = reinterpret_cast<const T*>(x.bytes());
    auto* dst = reinterpret_cast<T*>(context.output(0).bytes());
    for (int64_t n = 0; n < x.shape()[0]; ++n) {
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t offset = c / group;
        for (int64_t h = 0; h < height; ++h) {
          const int64_t row =
              (n * group + c % group) * height * stride + h * stride + offset / stride;
          for (int64_t w = 0; w < width; ++w) {
            *dst++ = src[row * width * stride + w * stride + offset % stride];
          }
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_reorg_yolo(OpRegistry& registry) {
  registry.add({"ReorgYolo", "het", 1, 1, 1, infer_reorg_yolo, evaluate_reorg_yolo});
}

}  // namespace het
