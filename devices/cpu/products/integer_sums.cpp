#include "devices/cpu/products/integer_sums.h"

#include <algorithm>
#include <limits>

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/products/widened_product.h"
#include "inference/tensors/shape.h"

namespace het::cpu {
namespace {

int byte_at(const Tensor& bytes, size_t i) {
  return bytes.type() == ElementType::UInt8 ? bytes.data<uint8_t>()[i] : bytes.data<int8_t>()[i];
}

bool fits_int8(int value) {
  return value >= std::numeric_limits<int8_t>::min() && value <= std::numeric_limits<int8_t>::max();
}

template <class Spec>
Result<std::unique_ptr<Kernel>> make_sums(const Spec& spec,
                                          Result<std::string> (*implementation_of)(const Spec&),
                                          Result<Primitive> (*make)(const Spec&),
                                          WeightStrides strides, const Tensor& weights,
                                          const NodePacking& packing) {
  const Result<std::string> implementation = implementation_of(spec);
  if (!has_exact_int8() || !implementation || !is_generated(*implementation)) {
    const std::optional<Int8Shape> shape = widened_sums_shape(spec);
    if (!shape) return std::unique_ptr<Kernel>();
    return make_widened_sums(*shape, weights, strides, packing);
  }
  HET_ASSIGN(Primitive primitive, make(spec));
  HET_ASSIGN(dnnl::memory packed, pack_constant(packing, weights, plain_weights_desc(spec),
                                                *primitive.desc(DNNL_ARG_WEIGHTS)));
  using Source = PrimitiveOperand::Source;
  std::vector<PrimitiveOperand> operands = {
      {Source::Input, DNNL_ARG_SRC, 0, {}},
      {Source::Output, DNNL_ARG_DST, 0, {}},
      {Source::Constant, DNNL_ARG_WEIGHTS, 0, std::move(packed)}};
  return make_primitive_kernel(std::move(primitive), std::move(operands));
}

}  // namespace

Result<IntegerWeights> integer_weights(const Tensor& weights, const Value* zeros, size_t axis) {
  const Shape& shape = weights.shape();
  const auto channels = static_cast<size_t>(shape[axis]);
  const auto inner = static_cast<size_t>(element_count(std::span(shape).subspan(axis + 1)));
  const auto count = static_cast<size_t>(weights.element_count());
  const auto for_each_weight = [&](const auto& take) {
    for (size_t i = 0, c = 0; i < count; c = c + 1 == channels ? 0 : c + 1) {
      for (size_t k = 0; k < inner; ++k, ++i) take(i, c);
    }
  };
  std::vector<int> wanted(channels, 0);
  for (size_t c = 0; c < channels && zeros != nullptr; ++c) {
    const Tensor& constant = zeros->constant();
    wanted[c] = byte_at(constant, constant.element_count() == 1 ? 0 : c);
  }

  // What is taken off each value of a channel.
  std::vector<int> shifts = wanted;
  std::vector<char> fits(channels, 1);
  for_each_weight([&](size_t i, size_t c) {
    if (!fits_int8(byte_at(weights, i) - wanted[c])) fits[c] = 0;
  });
  for (size_t c = 0; c < channels; ++c) {
    if (fits[c] == 0) shifts[c] = weights.type() == ElementType::UInt8 ? 128 : 0;
  }

  IntegerWeights made;
  HET_ASSIGN(made.values, Tensor::allocate({ElementType::Int8, shape}));
  for (size_t c = 0; c < channels; ++c) {
    made.zeros.push_back(static_cast<uint32_t>(wanted[c] - shifts[c]));
  }
  made.sums.assign(channels, 0);
  int8_t* const values = made.values.data<int8_t>();
  for_each_weight([&](size_t i, size_t c) {
    values[i] = static_cast<int8_t>(byte_at(weights, i) - shifts[c]);
    made.sums[c] += static_cast<uint32_t>(values[i]) - made.zeros[c];
  });
  if (std::ranges::all_of(made.zeros, [](uint32_t zero) { return zero == 0; })) made.zeros.clear();
  return made;
}

SourceZero::SourceZero(const Value* zero) {
  if (zero != nullptr) type_ = zero->desc().type;
}

uint32_t SourceZero::read(const KernelArgs& args) const {
  if (!exists()) return 0;
  const std::byte zero = *args.inputs[1];
  return type_ == ElementType::UInt8 ? static_cast<uint32_t>(zero)
                                     : static_cast<uint32_t>(static_cast<int8_t>(zero));
}

bool has_simple_zeros(const Node& node) {
  const Value* const of_source = node.input(2);
  const Value* const of_weights = node.input(3);
  return (of_source == nullptr || element_count(of_source->desc().shape) == 1) &&
         (of_weights == nullptr || of_weights->is_constant());
}

Result<std::unique_ptr<Kernel>> make_integer_sums(const MatMulSpec& spec, const Tensor& weights,
                                                  const NodePacking& packing) {
  return make_sums(spec, matmul_implementation, make_matmul, {1, spec.weights.shape[1]}, weights,
                   packing);
}

Result<std::unique_ptr<Kernel>> make_integer_sums(const ConvolutionSpec& spec,
                                                  const Tensor& weights,
                                                  const NodePacking& packing) {
  const int64_t taps = element_count(std::span(spec.weights).subspan(2));
  return make_sums(spec, convolution_implementation, make_convolution,
                   {spec.weights[1] * taps, taps}, weights, packing);
}

}  // namespace het::cpu
