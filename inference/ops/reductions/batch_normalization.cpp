#include <array>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

constexpr std::array<std::string_view, 5> kInputNames{"X", "scale", "B", "input_mean", "input_var"};

int64_t channel_count(const Shape& x) {
  return x.size() > 1 ? x[1] : 1;
}

Status infer_batch_normalization(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"epsilon", AttributeType::Float},
                                                  {"momentum", AttributeType::Float},
                                                  {"training_mode", AttributeType::Int}}));
  HET_TRY(check_rank(context, 0, "X", 1, kAnyRank));
  const int64_t channels = channel_count(context.shape(0));
  for (size_t i = 0; i < kInputNames.size(); ++i) {
    HET_TRY(check_input(context, i, kInputNames[i], kFloatTypes));
    if (i > 0 && context.shape(i) != Shape{channels}) {
      return error(StatusCode::ShapeMismatch,
                   "{} has shape {}, but must be [{}], one per channel of X {}", kInputNames[i],
                   to_string(context.shape(i)), channels, to_string(context.shape(0)));
    }
  }
  const bool training = context.attributes().get_int("training_mode", 0) != 0;
  if (!training && context.output_count() > 1) {
    return error(StatusCode::InvalidArgument,
                 "{} outputs are asked for, but only 1 exists without "
                 "training_mode",
                 context.output_count());
  }
  context.set_output(0, context.type(0), context.shape(0));
  context.set_output(1, context.type(3), {channels});
  context.set_output(2, context.type(4), {channels});
  return {};
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

/// Population moments of channel `c` over batch and space.
template <class T>
Moments channel_moments(const T* x, int64_t batch, int64_t channels, int64_t area, int64_t c) {
  Moments moments;
  const auto count = static_cast<double>(batch * area);
  for (const bool second : {false, true}) {
    double sum = 0;
    for (int64_t n = 0; n < batch; ++n) {
      const T* plane = x + (n * channels + c) * area;
      for (int64_t i = 0; i < area; ++i) {
        const auto value = static_cast<double>(plane[i]);
        sum += second ? (value - moments.mean) * (value - moments.mean) : value;
      }
    }
    (second ? moments.variance : moments.mean) = sum / count;
  }
  return moments;
}

Status store_running(Tensor& dst, int64_t c, double value) {
  return dispatch_float(dst.type(), [&]<class T>() -> Status {
    dst.data<T>()[c] = numeric_cast<T>(value);
    return {};
  });
}

/// y = scale (x - mean) / sqrt(variance + epsilon) + B, in double. In training mode the moments are
/// those of X, and outputs 1 and 2 mix them with the given ones.
Status evaluate_batch_normalization(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Attributes& attributes = context.attributes();
  const auto epsilon = static_cast<double>(attributes.get_float("epsilon", 1e-5f));
  const auto momentum = static_cast<double>(attributes.get_float("momentum", 0.9f));
  const bool training = attributes.get_int("training_mode", 0) != 0;
  if (x.element_count() == 0 && !training) return {};
  HET_ASSIGN(const std::vector<double> scale, to_double_vector(context.input(1)));
  HET_ASSIGN(const std::vector<double> shift, to_double_vector(context.input(2)));
  HET_ASSIGN(const std::vector<double> means, to_double_vector(context.input(3)));
  HET_ASSIGN(const std::vector<double> variances, to_double_vector(context.input(4)));
  const int64_t batch = x.shape()[0];
  const auto channels = static_cast<int64_t>(scale.size());
  const int64_t area = x.rank() > 2 ? element_count(std::span(x.shape()).subspan(2)) : 1;
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (int64_t c = 0; c < channels; ++c) {
      const auto i = static_cast<size_t>(c);
      Moments moments{means[i], variances[i]};
      if (training) {
        moments = channel_moments(src, batch, channels, area, c);
        const std::array mixed{means[i] * momentum + moments.mean * (1 - momentum),
                               variances[i] * momentum + moments.variance * (1 - momentum)};
        for (size_t k = 0; k < 2; ++k) {
          if (context.has_output(k + 1)) HET_TRY(store_running(context.output(k + 1), c, mixed[k]));
        }
      }
      const double factor = scale[i] / std::sqrt(moments.variance + epsilon);
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t start = (n * channels + c) * area;
        for (int64_t k = start; k < start + area; ++k) {
          dst[k] =
              numeric_cast<T>((static_cast<double>(src[k]) - moments.mean) * factor + shift[i]);
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_batch_normalization(OpRegistry& registry) {
  registry.add({"BatchNormalization", "", 15, 5, 5, infer_batch_normalization,
                evaluate_batch_normalization});
}

}  // namespace het
