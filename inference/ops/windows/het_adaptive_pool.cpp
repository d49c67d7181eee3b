#include <array>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/ops/windows/larger.h"

namespace het {
namespace {

Status infer_adaptive_pool(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"index_element_type", AttributeType::String}}));
  HET_TRY(check_input(context, 0, "data", kFloatTypes));
  HET_TRY(check_rank(context, 0, "data", 3, 5));
  ElementType index_type = ElementType::Int64;
  if (const std::string name = context.attributes().get_string("index_element_type", "i64");
      !name.empty()) {
    HET_ASSIGN(index_type, parse_element_type(name));
  }
  if (!kIndexTypes.contains(index_type)) {
    return error(StatusCode::InvalidArgument, "index_element_type is {}, but must be i32 or i64",
                 to_string(index_type));
  }
  HET_ASSIGN(const auto sizes, known_ints(context, 1, "output_shape"));
  const Shape& x = context.shape(0);
  Shape shape = unknown_shape(context.rank(0));
  if (sizes) {
    const bool empty = element_count({x.begin() + 2, x.end()}) == 0;
    shape = {x[0], x[1]};
    for (const int64_t size : *sizes) {
      if (size < 0 || (empty && size > 0)) {
        return error(StatusCode::InvalidArgument, "output_shape contains {} for data of shape {}",
                     size, to_string(x));
      }
      shape.push_back(size);
    }
    if (shape.size() != x.size()) {
      return error(StatusCode::ShapeMismatch, "output_shape has {} values for data of shape {}",
                   sizes->size(), to_string(x));
    }
    HET_TRY(checked_element_count(shape));
  }
  context.set_output(1, index_type, shape);
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Sizes of three spatial dimensions, 1 where there are fewer.
std::array<int64_t, 3> spatial(const Shape& shape) {
  std::array<int64_t, 3> sizes{1, 1, 1};
  for (size_t i = 2; i < shape.size(); ++i) sizes[3 - shape.size() + i] = shape[i];
  return sizes;
}

/// The elements of one dimension that bin `i` of `out` covers.
struct AdaptiveBin {
  int64_t begin;
  int64_t end;

  AdaptiveBin(int64_t i, int64_t out, int64_t in)
      : begin(static_cast<int64_t>(static_cast<__int128>(i) * in / out)),
        end(static_cast<int64_t>((static_cast<__int128>(i + 1) * in + out - 1) / out)) {}
};

/// Calls f(place) for every element of a bin.
template <class F>
void for_bin(const std::array<AdaptiveBin, 3>& bin, const std::array<int64_t, 3>& in, F f) {
  for (int64_t d = bin[0].begin; d < bin[0].end; ++d) {
    for (int64_t h = bin[1].begin; h < bin[1].end; ++h) {
      for (int64_t w = bin[2].begin; w < bin[2].end; ++w) f((d * in[1] + h) * in[2] + w);
    }
  }
}

/// Bin i of n covers the elements floor(i * size / n) to ceil((i + 1) * size / n) - 1 of a
/// dimension: their mean, summed in double, or the first largest with its place in the plane.
/// docs.openvino.ai, operation specifications AdaptiveAvgPool-8 and AdaptiveMaxPool-8.
template <bool kAverage>
Status evaluate_adaptive_pool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const std::array<int64_t, 3> in = spatial(x.shape());
  const std::array<int64_t, 3> out = spatial(context.output(0).shape());
  const int64_t planes = x.shape()[0] * x.shape()[1];
  std::vector<int64_t> places;
  HET_TRY(dispatch_float(x.type(), [&]<class T>() -> Status {
    T* dst = context.output(0).data<T>();
    if (context.output(0).element_count() == 0) return {};
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* src = x.data<T>() + plane * in[0] * in[1] * in[2];
      for (int64_t i = 0; i < out[0] * out[1] * out[2]; ++i) {
        const std::array<AdaptiveBin, 3> bin{AdaptiveBin(i / out[2] / out[1], out[0], in[0]),
                                             AdaptiveBin(i / out[2] % out[1], out[1], in[1]),
                                             AdaptiveBin(i % out[2], out[2], in[2])};
        if constexpr (kAverage) {
          double sum = 0;
          int64_t count = 0;
          for_bin(bin, in, [&](int64_t at) {
            sum += static_cast<double>(src[at]);
            ++count;
          });
          *dst++ = numeric_cast<T>(sum / static_cast<double>(count));
        } else {
          int64_t best = (bin[0].begin * in[1] + bin[1].begin) * in[2] + bin[2].begin;
          for_bin(bin, in, [&](int64_t at) {
            if (is_larger(static_cast<double>(src[at]), static_cast<double>(src[best]))) best = at;
          });
          *dst++ = src[best];
          places.push_back(best);
        }
      }
    }
    return {};
  }));
  if (kAverage || !context.has_output(1)) return {};
  return dispatch_index(context.output(1).type(), [&]<class I>() -> Status {
    const std::span<I> output = context.output(1).values<I>();
    for (size_t i = 0; i < output.size(); ++i) output[i] = static_cast<I>(places[i]);
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_het_adaptive_pool(OpRegistry& registry) {
  registry.add(
      {"AdaptiveAvgPool", "het", 8, 2, 2, infer_adaptive_pool, evaluate_adaptive_pool<true>});
  registry.add(
      {"AdaptiveMaxPool", "het", 8, 2, 2, infer_adaptive_pool, evaluate_adaptive_pool<false>});
}

}  // namespace het
