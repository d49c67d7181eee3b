#include <optional>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/fourier.h"

namespace het {
namespace {

using Complex = std::complex<double>;

enum : size_t { kSignal, kFrameStep, kWindow, kFrameLength };

struct StftDims {
  int64_t step = 0;
  int64_t frame_length = 0;
  int64_t frames = 0;
  int64_t bins = 0;
  int64_t parts = 1;  ///< 2: the signal is complex

  Shape output_shape(const Shape& signal) const { return {signal[0], frames, bins, 2}; }
};

/// `signal` is [batch, length], or [batch, length, 1 or 2].
Result<StftDims> stft_dims(const Attributes& attributes, const Shape& signal, int64_t step,
                           int64_t frame_length) {
  StftDims dims{step, frame_length, 0, 0, signal.size() == 3 ? signal[2] : 1};
  const bool onesided = attributes.get_int("onesided", 1) != 0;
  if ((dims.parts != 1 && dims.parts != 2) || (onesided && dims.parts == 2)) {
    return error(StatusCode::ShapeMismatch,
                 "the signal has shape {}: its last dimension must be 1, or 2 with onesided=0",
                 to_string(signal));
  }
  if (step < 1 || frame_length < 1 || frame_length > signal[1] ||
      frame_length > kMaxTransformLength) {
    return error(StatusCode::InvalidArgument,
                 "frames of {} samples (at most {}) every {} do not fit a signal of {}",
                 frame_length, kMaxTransformLength, step, signal[1]);
  }
  dims.frames = (signal[1] - frame_length) / step + 1;
  dims.bins = onesided ? frame_length / 2 + 1 : frame_length;
  HET_TRY(checked_element_count(dims.output_shape(signal)));
  return dims;
}

Result<int64_t> single_length(const std::vector<int64_t>& values, std::string_view name) {
  if (values.size() == 1) return values.front();
  return error(StatusCode::InvalidArgument, "{} has {} values, but must have one", name,
               values.size());
}

Status infer_stft(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"onesided", AttributeType::Int}}));
  HET_TRY(check_input(context, kSignal, "signal", kFloatTypes));
  HET_TRY(check_rank(context, kSignal, "signal", 2, 3));
  HET_TRY(check_optional_input(context, kWindow, "window", kFloatTypes));
  if (context.has_input(kWindow)) HET_TRY(check_rank(context, kWindow, "window", 1, 1));
  const Shape& signal = context.shape(kSignal);
  std::optional<int64_t> length;
  length = context.has_input(kWindow) ? context.shape(kWindow)[0] : signal[1];
  if (context.has_input(kFrameLength)) {
    HET_ASSIGN(const auto values, known_ints(context, kFrameLength, "frame_length"));
    length.reset();
    if (values) {
      HET_ASSIGN(length, single_length(*values, "frame_length"));
      if (context.has_input(kWindow) && context.shape(kWindow)[0] != *length) {
        return error(StatusCode::ShapeMismatch, "the window has {} values, frame_length is {}",
                     context.shape(kWindow)[0], *length);
      }
    }
  }
  HET_ASSIGN(const auto step, known_ints(context, kFrameStep, "frame_step"));
  if (!step || !length) {
    context.set_output(0, context.type(kSignal), {signal[0], kUnknownDim, kUnknownDim, 2});
    return {};
  }
  HET_ASSIGN(const int64_t step_value, single_length(*step, "frame_step"));
  HET_ASSIGN(const StftDims dims, stft_dims(context.attributes(), signal, step_value, *length));
  context.set_output(0, context.type(kSignal), dims.output_shape(signal));
  return {};
}

/// The Fourier transform of every frame times the window, in double.
Status evaluate_stft(EvaluateContext& context) {
  const Tensor& signal = context.input(kSignal);
  Tensor& y = context.output(0);
  HET_ASSIGN(const std::vector<int64_t> step, to_int64_vector(context.input(kFrameStep)));
  int64_t length = signal.shape()[1];
  std::vector<double> window;
  if (context.has_input(kWindow)) {
    HET_ASSIGN(window, to_double_vector(context.input(kWindow)));
    length = static_cast<int64_t>(window.size());
  }
  if (context.has_input(kFrameLength)) {
    HET_ASSIGN(const std::vector<int64_t> values, to_int64_vector(context.input(kFrameLength)));
    length = values.at(0);
  }
  window.resize(static_cast<size_t>(length), 1.0);
  HET_ASSIGN(const StftDims dims,
             stft_dims(context.attributes(), signal.shape(), step.at(0), length));
  HET_ASSIGN(const std::vector<double> src, to_double_vector(signal));
  std::vector<double> dst;
  dst.reserve(static_cast<size_t>(y.element_count()));
  std::vector<Complex> frame(window.size());
  for (int64_t b = 0; b < signal.shape()[0]; ++b) {
    for (int64_t f = 0; f < dims.frames; ++f) {
      const int64_t start = b * signal.shape()[1] + f * dims.step;
      for (size_t i = 0; i < frame.size(); ++i) {
        const auto at = static_cast<size_t>((start + static_cast<int64_t>(i)) * dims.parts);
        frame[i] = Complex(src[at], dims.parts == 2 ? src[at + 1] : 0.0) * window[i];
      }
      const std::vector<Complex> result = fourier_transform(frame, false);
      for (int64_t k = 0; k < dims.bins; ++k) {
        dst.push_back(result[static_cast<size_t>(k)].real());
        dst.push_back(result[static_cast<size_t>(k)].imag());
      }
    }
  }
  return store_doubles(dst, y);
}

}  // namespace

HET_REGISTRATION void register_stft(OpRegistry& registry) {
  registry.add({"STFT", "", 17, 2, 4, infer_stft, evaluate_stft});
}

}  // namespace het
