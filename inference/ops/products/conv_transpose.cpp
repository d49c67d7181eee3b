#include "inference/ops/products/conv_transpose.h"

#include <algorithm>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/products/conv.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// Fills pads and output from output_padding, output_shape, pads and auto_pad.
Status resolve_output(const Attributes& attributes, std::span<const int64_t> spatial,
                      ConvTransposeAttributes& conv) {
  const size_t rank = spatial.size();
  HET_ASSIGN(const auto output_padding, window_list(attributes, "output_padding", rank, 0, 0));
  const std::string auto_pad = attributes.get_string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID" && !auto_pad.empty()) {
    return error(StatusCode::InvalidArgument,
                 "auto_pad is '{}', allowed are NOTSET, SAME_UPPER, SAME_LOWER and VALID",
                 auto_pad);
  }
  std::vector<int64_t> pads(2 * rank, 0);
  if (!same && auto_pad != "VALID") {
    HET_ASSIGN(pads, window_list(attributes, "pads", 2 * rank, 0, 0));
  }
  std::vector<int64_t> wanted = attributes.get_ints("output_shape");
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank) {
    return error(StatusCode::InvalidArgument,
                 "output_shape has {} values, but there are {} spatial dimensions", wanted.size(),
                 rank);
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = spatial[i];
    if (in < 1 || in > kMaxWindowValue) {
      return error(StatusCode::ShapeMismatch,
                   "spatial dimension {} has input size {}, allowed are 1 to {}", i, in,
                   kMaxWindowValue);
    }
    const int64_t covered = (in - 1) * conv.strides[i] + conv.extent(i);
    if (wanted.empty() && !same) {
      conv.pads_begin.push_back(pads[i]);
      conv.pads_end.push_back(pads[rank + i] - output_padding[i]);
    } else {
      const int64_t out = wanted.empty() ? in * conv.strides[i] : wanted[i];
      if (out < 1 || out > kMaxWindowValue) {
        return error(StatusCode::InvalidArgument, "output_shape contains {}, allowed are 1 to {}",
                     out, kMaxWindowValue);
      }
      // Not enough positions to cut: the rest is added at the end, as in the example of the
      // operator's page, where output_shape is larger than what the kernels cover.
      const int64_t total = std::max<int64_t>(0, covered + output_padding[i] - out);
      conv.pads_begin.push_back(auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2);
      conv.pads_end.push_back(covered - out - conv.pads_begin.back());
    }
    conv.output.push_back(covered - conv.pads_begin.back() - conv.pads_end.back());
    if (conv.output.back() < 1) {
      return error(StatusCode::ShapeMismatch,
                   "pads {} and {} leave nothing of the {} positions of spatial dimension {}",
                   conv.pads_begin.back(), conv.pads_end.back(), covered, i);
    }
  }
  return {};
}

}  // namespace

Result<ConvTransposeAttributes> conv_transpose_attributes(const Node& node, const Shape& x,
                                                          const Shape& w) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"auto_pad", AttributeType::String},
                                        {"dilations", AttributeType::Ints},
                                        {"group", AttributeType::Int},
                                        {"kernel_shape", AttributeType::Ints},
                                        {"output_padding", AttributeType::Ints},
                                        {"output_shape", AttributeType::Ints},
                                        {"pads", AttributeType::Ints},
                                        {"strides", AttributeType::Ints}}));
  HET_TRY(check_conv_ranks(x, w));
  ConvTransposeAttributes conv;
  conv.group = attributes.get_int("group", 1);
  if (conv.group < 1 || conv.group > kMaxWindowValue || w[0] != x[1] || x[1] % conv.group != 0 ||
      w[1] > kMaxWindowValue) {
    return error(StatusCode::ShapeMismatch,
                 "{} groups do not fit x of shape {} and w of shape {}: w must be [ic, oc / group, "
                 "...] and ic a multiple of group",
                 conv.group, to_string(x), to_string(w));
  }
  HET_ASSIGN(conv.kernel, conv_kernel(attributes, w));
  for (const int64_t size : conv.kernel) {
    if (size < 1 || size > kMaxWindowValue) {
      return error(StatusCode::ShapeMismatch, "w has shape {}, an unusable kernel", to_string(w));
    }
  }
  const size_t rank = x.size() - 2;
  HET_ASSIGN(conv.strides, window_list(attributes, "strides", rank, 1, 1));
  HET_ASSIGN(conv.dilations, window_list(attributes, "dilations", rank, 1, 1));
  HET_TRY(resolve_output(attributes, std::span(x).subspan(2), conv));
  conv.output_shape = {x[0], w[1] * conv.group};
  conv.output_shape.insert(conv.output_shape.end(), conv.output.begin(), conv.output.end());
  HET_TRY(checked_element_count(conv.output_shape));
  return conv;
}

namespace {

Status infer_conv_transpose(InferContext& context) {
  HET_TRY(check_conv_inputs(context));
  HET_ASSIGN(ConvTransposeAttributes conv,
             conv_transpose_attributes(context.node(), context.shape(0), context.shape(1)));
  return set_conv_output(context, std::move(conv.output_shape));
}

/// Adds what one input plane contributes to one output plane.
template <class T>
void scatter_plane(const Window3& win, const T* src, const T* weights, double* sums) {
  const auto [id, ih, iw] = win.in;
  const auto [od, oh, ow] = win.out;
  // Roles are swapped against a convolution: the window stands at the input element and
  // input_at() tells the output element.
  for (int64_t z = 0; z < win.kernel[0]; ++z) {
    for (int64_t y = 0; y < win.kernel[1]; ++y) {
      for (int64_t k = 0; k < win.kernel[2]; ++k) {
        const auto weight = static_cast<double>(*weights++);
        for (int64_t d = 0; d < id; ++d) {
          const int64_t out_d = win.input_at(0, d, z);
          if (out_d < 0 || out_d >= od) continue;
          for (int64_t h = 0; h < ih; ++h) {
            const int64_t out_h = win.input_at(1, h, y);
            if (out_h < 0 || out_h >= oh) continue;
            const T* row = src + (d * ih + h) * iw;
            double* sums_row = sums + (out_d * oh + out_h) * ow;
            for (int64_t i = 0; i < iw; ++i) {
              const int64_t out_w = win.input_at(2, i, k);
              if (out_w >= 0 && out_w < ow) sums_row[out_w] += weight * static_cast<double>(row[i]);
            }
          }
        }
      }
    }
  }
}

/// Sums in double. Order: n, oc, ic, then scatter_plane().
Status evaluate_conv_transpose(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  HET_ASSIGN(const ConvTransposeAttributes conv,
             conv_transpose_attributes(context.node(), x.shape(), w.shape()));
  if (element_count(conv.output_shape) == 0) return {};
  const Window3 win = window3(conv, std::span(x.shape()).subspan(2));
  const int64_t ic_count = x.shape()[1];
  const int64_t oc_count = conv.output_shape[1];
  const int64_t ic_per_group = ic_count / conv.group;
  const int64_t oc_per_group = oc_count / conv.group;
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    T* dst = context.output(0).data<T>();
    std::vector<double> sums(static_cast<size_t>(win.out_count()));
    for (int64_t n = 0; n < x.shape()[0]; ++n) {
      for (int64_t oc = 0; oc < oc_count; ++oc) {
        std::fill(sums.begin(), sums.end(), bias ? static_cast<double>(bias[oc]) : 0.0);
        const int64_t group = oc / oc_per_group;
        for (int64_t i = 0; i < ic_per_group; ++i) {
          const int64_t ic = group * ic_per_group + i;
          const int64_t kernel = ic * oc_per_group + oc % oc_per_group;
          scatter_plane(win, x.data<T>() + (n * ic_count + ic) * win.in_count(),
                        w.data<T>() + kernel * win.kernel_count(), sums.data());
        }
        dst = std::transform(sums.begin(), sums.end(), dst, numeric_cast<T, double>);
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_conv_transpose(OpRegistry& registry) {
  registry.add({"ConvTranspose", "", 22, 2, 3, infer_conv_transpose, evaluate_conv_transpose});
}

}  // namespace het
