#include "inference/readers/openvino_ir/translate.h"

/// Fourier transforms. Complex numbers are a last dimension of 2 in both forms; several axes are
/// transformed one after the other.
namespace het::ir {
namespace {

/// The axes to transform and the length along each; -1: as long as the dimension.
struct Transform {
  std::vector<int64_t> axes;
  std::vector<int64_t> lengths;
};

/// `rank` does not count the dimension of complex numbers.
Transform read_transform(LayerContext& context, int64_t rank) {
  Transform transform;
  if (rank < 1) {
    context.refuse(
        fmt::format("{} of an input of unknown rank is not supported", context.layer().type));
    return transform;
  }
  for (const int64_t axis : context.required_integers(1, "axes")) {
    transform.axes.push_back(context.normalized(axis, rank));
  }
  transform.lengths.assign(transform.axes.size(), -1);
  if (context.has_input(2)) transform.lengths = context.required_integers(2, "a signal size");
  if (context.refusal().empty() && transform.lengths.size() != transform.axes.size()) {
    context.fail(Status(StatusCode::ParseError,
                        fmt::format("it has {} axes, but {} sizes", transform.axes.size(),
                                    transform.lengths.size())));
  }
  return transform;
}

Value* along(LayerContext& context, Value* value, int64_t axis, int64_t length, bool inverse,
             bool onesided = false) {
  Attributes attributes = with("inverse", int64_t{inverse});
  attributes.set("onesided", int64_t{onesided});
  Value* const size =
      length == -1 ? nullptr : context.constant("length", Tensor::scalar<int64_t>(length));
  return context.add("DFT", {value, size, context.constant("axis", Tensor::scalar<int64_t>(axis))},
                     std::move(attributes));
}

bool stopped(const LayerContext& context) {
  return !context.refusal().empty() || !context.status().ok();
}

void complex_transform(LayerContext& context) {
  const Transform transform = read_transform(context, context.input_rank(0) - 1);
  if (stopped(context)) return;
  const bool inverse = context.layer().type == "IDFT";
  Value* value = context.input(0);
  for (size_t i = 0; i < transform.axes.size(); ++i) {
    value = along(context, value, transform.axes[i], transform.lengths[i], inverse);
  }
  context.finish("Identity", {value});
}

/// The last of the axes has the half of the spectrum that a real signal's other half mirrors.
void real_transform(LayerContext& context) {
  const int64_t rank = context.input_rank(0);
  const Transform transform = read_transform(context, rank);
  if (stopped(context)) return;
  Value* value = context.unsqueezed(context.input(0), {rank});
  for (size_t i = transform.axes.size(); i-- > 0;) {
    const bool half = i + 1 == transform.axes.size();
    value = along(context, value, transform.axes[i], transform.lengths[i], false, half);
  }
  context.finish("Identity", {value});
}

void real_inverse_transform(LayerContext& context) {
  const int64_t rank = context.input_rank(0) - 1;
  const Transform transform = read_transform(context, rank);
  if (stopped(context)) return;
  Value* value = context.input(0);
  for (size_t i = 0; i < transform.axes.size(); ++i) {
    const bool half = i + 1 == transform.axes.size();
    value = along(context, value, transform.axes[i], transform.lengths[i], true, half);
  }
  context.finish("Squeeze", {value, context.integers_constant("real", {rank})});
}

/// Inputs: signal, window, frame_size, frame_step. A window shorter than a frame lies in its
/// middle.
void short_time_transform(LayerContext& context) {
  const std::vector<int64_t> size = context.required_integers(2, "a frame size");
  const std::vector<int64_t> step = context.required_integers(3, "a frame step");
  const Shape& taps = context.input_shape(1);
  const int64_t rank = context.input_rank(0);
  if (!context.refusal().empty()) return;
  if (size.size() != 1 || step.size() != 1 || taps.size() != 1 || taps[0] < 1 ||
      size[0] < taps[0] || rank < 1 || rank > 2) {
    return context.refuse(
        "STFT is supported for signals of one or two dimensions and windows of known length that "
        "fit a frame");
  }
  Value* window = context.input(1);
  if (const int64_t missing = size[0] - taps[0]; missing > 0) {
    const int64_t front = missing / 2;
    window =
        context.add("Pad", {window, context.integers_constant("pads", {front, missing - front})});
  }
  Value* const signal = rank == 1 ? context.unsqueezed(context.input(0), {0}) : context.input(0);
  Value* value = context.add("STFT",
                             {signal, context.constant("step", Tensor::scalar<int64_t>(step[0])),
                              window, context.constant("size", Tensor::scalar<int64_t>(size[0]))},
                             with("onesided", int64_t{1}));
  if (context.flag("transpose_frames", false)) value = context.transposed(value, {0, 2, 1, 3});
  if (rank == 2) return context.finish("Identity", {value});
  context.finish("Squeeze", {value, context.integers_constant("batch", {0})});
}

constexpr Translation kFourierTable[] = {
    {"DFT", complex_transform},        {"IDFT", complex_transform},    {"RDFT", real_transform},
    {"IRDFT", real_inverse_transform}, {"STFT", short_time_transform},
};

}  // namespace

std::span<const Translation> fourier_translations() {
  return kFourierTable;
}

}  // namespace het::ir
