#include "inference/ops/windows/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/ops/windows/larger.h"
#include "inference/ops/windows/pool_loops.h"

namespace het {

Result<PoolAttributes> pool_attributes(const Node& node, const Shape& x) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"auto_pad", AttributeType::String},
                                        {"ceil_mode", AttributeType::Int},
                                        {"count_include_pad", AttributeType::Int},
                                        {"dilations", AttributeType::Ints},
                                        {"kernel_shape", AttributeType::Ints},
                                        {"p", AttributeType::Int},
                                        {"pads", AttributeType::Ints},
                                        {"storage_order", AttributeType::Int},
                                        {"strides", AttributeType::Ints}}));
  if (x.size() < 3 || x.size() > 5) {
    return error(StatusCode::ShapeMismatch,
                 "x has shape {}, but its rank must be 3 to 5 (1 to 3 spatial dimensions)",
                 to_string(x));
  }
  const auto spatial = std::span(x).subspan(2);
  PoolAttributes pool;
  pool.p = attributes.get_int("p", 2);
  if (pool.p < 1) {
    return error(StatusCode::InvalidArgument, "p is {}, but must be 1 or more", pool.p);
  }
  pool.output_shape = {x[0], x[1]};
  if (node.op_type().find("Global") != std::string::npos) {
    pool.kernel.assign(spatial.begin(), spatial.end());
    pool.strides.assign(spatial.size(), 1);
    pool.dilations.assign(spatial.size(), 1);
    pool.pads_begin.assign(spatial.size(), 0);
    pool.pads_end.assign(spatial.size(), 0);
    pool.output.assign(spatial.size(), 1);
    for (const int64_t size : spatial) {
      if (size < 1 || size > kMaxWindowValue) {
        return error(StatusCode::ShapeMismatch, "x has shape {}, which cannot be pooled",
                     to_string(x));
      }
    }
  } else {
    if (attributes.get_ints("kernel_shape").empty()) {
      return error(StatusCode::InvalidArgument, "attribute 'kernel_shape' is missing or empty");
    }
    HET_ASSIGN(std::vector<int64_t> kernel,
               window_list(attributes, "kernel_shape", spatial.size(), 1, 1));
    pool.ceil_mode = attributes.get_int("ceil_mode", 0) != 0;
    pool.count_include_pad = attributes.get_int("count_include_pad", 0) != 0;
    pool.column_major_indices = attributes.get_int("storage_order", 0) != 0;
    HET_ASSIGN(static_cast<Window&>(pool),
               resolve_window(attributes, spatial, std::move(kernel), pool.ceil_mode));
  }
  pool.output_shape.insert(pool.output_shape.end(), pool.output.begin(), pool.output.end());
  HET_TRY(checked_element_count(pool.output_shape));
  return pool;
}

namespace {

constexpr TypeSet kMaxPoolTypes = kFloatTypes | TypeSet{ElementType::Int8, ElementType::UInt8};

Status infer_max_pool(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kMaxPoolTypes));
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(context.node(), context.shape(0)));
  context.set_output(0, context.type(0), pool.output_shape);
  context.set_output(1, ElementType::Int64, pool.output_shape);
  return {};
}

Status infer_float_pool(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_ASSIGN(PoolAttributes pool, pool_attributes(context.node(), context.shape(0)));
  context.set_output(0, context.type(0), std::move(pool.output_shape));
  return {};
}

/// Index of element `i` of a plane when the last spatial dimension varies slowest.
int64_t column_major(const Window3& win, int64_t i) {
  const int64_t w = i % win.in[2];
  const int64_t h = i / win.in[2] % win.in[1];
  const int64_t d = i / win.in[2] / win.in[1];
  return (w * win.in[1] + h) * win.in[0] + d;
}

/// The first of equal maxima wins. NaN is larger than everything. A window over padding only gives
/// the lowest value and index 0 of its plane.
Status evaluate_max_pool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(context.node(), x.shape()));
  const Window3 win = window3(pool, std::span(x.shape()).subspan(2));
  const int64_t planes = x.shape()[0] * x.shape()[1];
  int64_t* indices = context.has_output(1) ? context.output(1).data<int64_t>() : nullptr;
  return dispatch_numeric(x.type(), [&]<class T>() -> Status {
    using Arithmetic = ArithmeticType<T>;
    constexpr bool kHasInfinity = std::numeric_limits<Arithmetic>::has_infinity;
    const Arithmetic lowest = kHasInfinity ? -std::numeric_limits<Arithmetic>::infinity()
                                           : std::numeric_limits<Arithmetic>::lowest();
    for (int64_t p = 0; p < planes; ++p) {
      const T* src = x.data<T>() + p * win.in_count();
      T* dst = context.output(0).data<T>() + p * win.out_count();
      for_each_window(win, [&](int64_t position, const std::array<TapRange, 3>& ranges) {
        Arithmetic best = lowest;
        int64_t best_index = -1;
        for_each_element(win, ranges, [&](int64_t i) {
          const auto value = static_cast<Arithmetic>(src[i]);
          if (best_index < 0 || is_larger(value, best)) {
            best = value;
            best_index = i;
          }
        });
        dst[position] = static_cast<T>(best);
        if (indices == nullptr) return;
        const int64_t found = std::max<int64_t>(0, best_index);
        indices[p * win.out_count() + position] =
            p * win.in_count() + (pool.column_major_indices ? column_major(win, found) : found);
      });
    }
    return {};
  });
}

/// Sums in double. A window over padding only gives 0.
Status evaluate_average_pool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(context.node(), x.shape()));
  const Window3 win = window3(pool, std::span(x.shape()).subspan(2));
  const int64_t planes = x.shape()[0] * x.shape()[1];
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    for (int64_t p = 0; p < planes; ++p) {
      const T* src = x.data<T>() + p * win.in_count();
      T* dst = context.output(0).data<T>() + p * win.out_count();
      for_each_window(win, [&](int64_t position, const std::array<TapRange, 3>& ranges) {
        double sum = 0;
        for_each_element(win, ranges, [&](int64_t i) { sum += static_cast<double>(src[i]); });
        const int64_t count = averaged_count(pool, win, ranges);
        dst[position] = numeric_cast<T>(count > 0 ? sum / static_cast<double>(count) : 0.0);
      });
    }
    return {};
  });
}

/// (sum of |x|^p)^(1/p), sums in double.
Status evaluate_lp_pool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(context.node(), x.shape()));
  const Window3 win = window3(pool, std::span(x.shape()).subspan(2));
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const auto norm = static_cast<double>(pool.p);
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    for (int64_t p = 0; p < planes; ++p) {
      const T* src = x.data<T>() + p * win.in_count();
      T* dst = context.output(0).data<T>() + p * win.out_count();
      for_each_window(win, [&](int64_t position, const std::array<TapRange, 3>& ranges) {
        double sum = 0;
        for_each_element(win, ranges, [&](int64_t i) {
          sum += std::pow(std::fabs(static_cast<double>(src[i])), norm);
        });
        dst[position] = numeric_cast<T>(std::pow(sum, 1.0 / norm));
      });
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_pool(OpRegistry& registry) {
  registry.add({"MaxPool", "", 22, 1, 1, infer_max_pool, evaluate_max_pool});
  registry.add({"AveragePool", "", 22, 1, 1, infer_float_pool, evaluate_average_pool});
  registry.add({"LpPool", "", 22, 1, 1, infer_float_pool, evaluate_lp_pool});
  registry.add({"GlobalMaxPool", "", 22, 1, 1, infer_float_pool, evaluate_max_pool});
  registry.add({"GlobalAveragePool", "", 22, 1, 1, infer_float_pool, evaluate_average_pool});
  registry.add({"GlobalLpPool", "", 22, 1, 1, infer_float_pool, evaluate_lp_pool});
}

}  // namespace het
