#include <algorithm>
#include <cmath>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

Status infer_lrn(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"alpha", AttributeType::Float},
                                                  {"beta", AttributeType::Float},
                                                  {"bias", AttributeType::Float},
                                                  {"size", AttributeType::Int, true}}));
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_rank(context, 0, "X", 2, kAnyRank));
  const int64_t size = context.attributes().get_int("size", 0);
  if (size < 1) {
    return error(StatusCode::InvalidArgument, "size is {}, but must be 1 or more channels", size);
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// y = x / (bias + alpha / size * sum of squares over `size` channels around)^beta, in double.
Status evaluate_lrn(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Attributes& attributes = context.attributes();
  if (x.element_count() == 0) return {};
  const int64_t size = attributes.get_int("size", 1);
  const auto bias = static_cast<double>(attributes.get_float("bias", 1.0f));
  const auto beta = static_cast<double>(attributes.get_float("beta", 0.75f));
  const double factor =
      static_cast<double>(attributes.get_float("alpha", 1e-4f)) / static_cast<double>(size);
  const int64_t channels = x.shape()[1];
  const int64_t area = element_count(std::span(x.shape()).subspan(2));
  // size - 1 neighbours: the smaller half before the channel, the larger one after it.
  const int64_t before = std::min(channels, (size - 1) / 2);
  const int64_t after = std::min(channels, size - 1 - (size - 1) / 2);
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    for (int64_t n = 0; n < x.shape()[0]; ++n) {
      const T* src = x.data<T>() + n * channels * area;
      T* dst = context.output(0).data<T>() + n * channels * area;
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t first = std::max<int64_t>(0, c - before);
        const int64_t last = std::min(channels - 1, c + after);
        for (int64_t i = 0; i < area; ++i) {
          double squares = 0;
          for (int64_t k = first; k <= last; ++k) {
            const auto value = static_cast<double>(src[k * area + i]);
            squares += value * value;
          }
          const auto value = static_cast<double>(src[c * area + i]);
          dst[c * area + i] = numeric_cast<T>(value / std::pow(bias + factor * squares, beta));
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_lrn(OpRegistry& registry) {
  registry.add({"LRN", "", 13, 1, 1, infer_lrn, evaluate_lrn});
}

}  // namespace het
