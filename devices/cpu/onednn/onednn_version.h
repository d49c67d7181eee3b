#pragma once

#include <algorithm>
#include <dnnl.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/cpu/onednn/blocked_layout.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/tensors/tensor.h"

// All that differs between oneDNN 2.6 and 3. Only onednn.cpp includes it.
namespace het::cpu::onednn {

/// What each execution takes besides its operands, by DNNL_ARG_*.
using Constants = std::vector<std::pair<int, dnnl::memory>>;

/// The zero points that are not 0, by DNNL_ARG_*.
inline std::vector<std::pair<int, int32_t>> zero_points(const Quantisation& quantisation) {
  std::vector<std::pair<int, int32_t>> points = {{DNNL_ARG_SRC, quantisation.src_zero},
                                                 {DNNL_ARG_WEIGHTS, quantisation.weights_zero}};
  std::erase_if(points, [](const auto& point) { return point.second == 0; });
  return points;
}

#if DNNL_VERSION_MAJOR >= 3

inline constexpr auto kClip = dnnl::algorithm::eltwise_clip;
using Softmax = dnnl::softmax_forward;

inline void append_eltwise(dnnl::post_ops& ops, dnnl::algorithm kind, float alpha, float beta) {
  ops.append_eltwise(kind, alpha, beta);
}

template <class Primary, class... Arguments>
dnnl::primitive_desc describe(const dnnl::primitive_attr& attr, const Arguments&... arguments) {
  return typename Primary::primitive_desc(cpu_engine(), arguments..., attr);
}

/// Of bytes of pictures oneDNN 3.7 to 3.12 offer kernels first that fill up the few channels of
/// each pixel to a block; the older ones further down in its list take 0.5 to 0.95 of the time with
/// AVX-512, most of all where AMX fills up blocks of 64.
template <class Primary, class... Arguments>
dnnl::primitive_desc describe_convolution(bool is_over_pictures, const dnnl::primitive_attr& attr,
                                          const Arguments&... arguments) {
  if (!is_over_pictures) return describe<Primary>(attr, arguments...);
  dnnl::primitive_desc desc = describe<Primary>(attr, arguments...);
  do {
    const std::string name = desc.impl_info_str();
    if (name.starts_with("jit:") || name.starts_with("jit_int8:")) return desc;
  } while (desc.next_impl());
  return describe<Primary>(attr, arguments...);
}

inline dnnl::primitive_desc describe_pooling(
    const dnnl::primitive_attr& attr, dnnl::algorithm kind, const dnnl::memory::desc& src,
    const dnnl::memory::desc& dst, const dnnl::memory::dims& strides,
    const dnnl::memory::dims& kernel, const dnnl::memory::dims& dilations,
    const dnnl::memory::dims& begin, const dnnl::memory::dims& end) {
  return describe<dnnl::pooling_forward>(attr, dnnl::prop_kind::forward_inference, kind, src, dst,
                                         strides, kernel, dilations, begin, end);
}

template <class T>
dnnl::memory constant_of(const std::vector<T>& values, dnnl::memory::data_type type) {
  dnnl::memory result({{static_cast<int64_t>(values.size())}, type, dnnl::memory::format_tag::a},
                      cpu_engine());
  std::ranges::copy(values, static_cast<T*>(result.get_data_handle()));
  return result;
}

/// Scales and zero points are arguments of an execution. The scales stand with the weights;
/// `channels_mask` has the bits of the weights' dimensions that they belong to.
inline Constants set_quantisation(dnnl::primitive_attr& attr, const Quantisation& quantisation,
                                  int channels_mask) {
  Constants constants;
  const std::vector<float>& scales = quantisation.scales;
  attr.set_scales_mask(DNNL_ARG_WEIGHTS, scales.size() == 1 ? 0 : channels_mask);
  constants.emplace_back(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS,
                         constant_of(scales, dnnl::memory::data_type::f32));
  for (const auto& [argument, zero] : zero_points(quantisation)) {
    attr.set_zero_points_mask(argument, 0);
    constants.emplace_back(DNNL_ARG_ATTR_ZERO_POINTS | argument,
                           constant_of(std::vector<int32_t>{zero}, dnnl::memory::data_type::s32));
  }
  return constants;
}

/// Added after the scales: in units of the results.
inline Result<Tensor> bias_of_sums(const Tensor& sums, const std::vector<float>& scales) {
  HET_ASSIGN(Tensor bias, Tensor::allocate({ElementType::Float32, sums.shape(), Layout::Plain}));
  const bool is_whole = sums.type() == ElementType::Int32;
  for (size_t c = 0; c < static_cast<size_t>(sums.element_count()); ++c) {
    const auto sum = is_whole ? static_cast<double>(sums.data<int32_t>()[c])
                              : static_cast<double>(sums.data<float>()[c]);
    bias.data<float>()[c] = static_cast<float>(sum * scales[scales.size() == 1 ? 0 : c]);
  }
  return bias;
}

inline std::optional<BlockedLayout> blocked_layout(const dnnl::memory::desc& desc) {
  if (desc.get_data_type() != dnnl::memory::data_type::f32 ||
      desc.get_format_kind() != dnnl::memory::format_kind::blocked ||
      desc.get_submemory_offset() != 0) {
    return std::nullopt;
  }
  BlockedLayout layout{desc.get_dims(), desc.get_padded_dims(), desc.get_strides(), {}};
  const dnnl::memory::dims sizes = desc.get_inner_blks();
  const dnnl::memory::dims cut = desc.get_inner_idxs();
  for (size_t i = 0; i < sizes.size(); ++i) {
    layout.blocks.push_back({static_cast<size_t>(cut[i]), sizes[i]});
  }
  return layout;
}

inline dnnl::memory::data_type data_type_of(const dnnl::memory::desc& desc) {
  return desc.get_data_type();
}

inline bool has_vnni(dnnl::cpu_isa isa) {
  return isa >= dnnl::cpu_isa::avx512_core_vnni || isa == dnnl::cpu_isa::avx2_vnni ||
         isa == dnnl::cpu_isa::avx2_vnni_2;
}

#else

inline constexpr auto kClip = dnnl::algorithm::eltwise_clip_v2;
using Softmax = dnnl::softmax_v2_forward;

inline void append_eltwise(dnnl::post_ops& ops, dnnl::algorithm kind, float alpha, float beta) {
  // These two have no parameters yet.
  const bool is_fixed =
      kind == dnnl::algorithm::eltwise_hardswish || kind == dnnl::algorithm::eltwise_soft_relu;
  ops.append_eltwise(1.0f, kind, is_fixed ? 0.0f : alpha, is_fixed ? 0.0f : beta);
}

template <class Primary, class... Arguments>
dnnl::primitive_desc describe(const dnnl::primitive_attr& attr, const Arguments&... arguments) {
  return typename Primary::primitive_desc(typename Primary::desc(arguments...), attr, cpu_engine());
}

/// 2.6 has other kernels first.
template <class Primary, class... Arguments>
dnnl::primitive_desc describe_convolution(bool /*is_over_pictures*/,
                                          const dnnl::primitive_attr& attr,
                                          const Arguments&... arguments) {
  return describe<Primary>(attr, arguments...);
}

inline dnnl::primitive_desc describe_pooling(
    const dnnl::primitive_attr& attr, dnnl::algorithm kind, const dnnl::memory::desc& src,
    const dnnl::memory::desc& dst, const dnnl::memory::dims& strides,
    const dnnl::memory::dims& kernel, const dnnl::memory::dims& dilations,
    const dnnl::memory::dims& begin, const dnnl::memory::dims& end) {
  const auto inference = dnnl::prop_kind::forward_inference;
  // The older description without dilation has the faster kernels behind it.
  if (std::ranges::all_of(dilations, [](int64_t d) { return d == 0; })) {
    return describe<dnnl::pooling_forward>(attr, inference, kind, src, dst, strides, kernel, begin,
                                           end);
  }
  return describe<dnnl::pooling_v2_forward>(attr, inference, kind, src, dst, strides, kernel,
                                            dilations, begin, end);
}

/// Scales and zero points are parts of the description.
inline Constants set_quantisation(dnnl::primitive_attr& attr, const Quantisation& quantisation,
                                  int /*channels_mask*/) {
  attr.set_output_scales(quantisation.scales.size() == 1 ? 0 : 2, quantisation.scales);
  for (const auto& [argument, zero] : zero_points(quantisation)) {
    attr.set_zero_points(argument, 0, {zero});
  }
  return {};
}

/// Added before the scales.
inline Result<Tensor> bias_of_sums(const Tensor& sums, const std::vector<float>& /*scales*/) {
  return sums;
}

inline std::optional<BlockedLayout> blocked_layout(const dnnl::memory::desc& desc) {
  const dnnl_memory_desc_t& c = desc.data;
  if (c.data_type != dnnl_f32 || c.format_kind != dnnl_blocked || c.offset0 != 0 ||
      c.extra.flags != dnnl_memory_extra_flag_none) {
    return std::nullopt;
  }
  const dnnl_blocking_desc_t& blocking = c.format_desc.blocking;
  BlockedLayout layout{desc.dims(),
                       {c.padded_dims, c.padded_dims + c.ndims},
                       {blocking.strides, blocking.strides + c.ndims},
                       {}};
  for (int i = 0; i < blocking.inner_nblks; ++i) {
    layout.blocks.push_back({static_cast<size_t>(blocking.inner_idxs[i]), blocking.inner_blks[i]});
  }
  return layout;
}

inline dnnl::memory::data_type data_type_of(const dnnl::memory::desc& desc) {
  return desc.data_type();
}

inline bool has_vnni(dnnl::cpu_isa isa) {
  return isa >= dnnl::cpu_isa::avx512_core_vnni || isa == dnnl::cpu_isa::avx2_vnni;
}

#endif

}  // namespace het::cpu::onednn
