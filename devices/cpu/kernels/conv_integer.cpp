#include <algorithm>
#include <cstring>
#include <vector>

#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/products/integer_sums.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/products/conv.h"

namespace het::cpu {
namespace {

constexpr int64_t kIntegerGrain = 16 * 1024;

/// Bytes with the channels last, and more pixels around them.
struct PaddedPicture {
  Shape from, to;        ///< [n, spatial..., channels]
  Shape first;           ///< of `to`, where `from` begins
  bool is_copy = false;  ///< false where there are none around
};

/// Copies the source into a larger picture of its zero point, since that is known only now.
void copy_padded(const PaddedPicture& picture, const std::byte* src, std::byte zero,
                 std::byte* dst) {
  const size_t last = picture.to.size() - 2;  // a row of pixels
  const int64_t channels = picture.to.back();
  const int64_t row = picture.to[last] * channels;
  const int64_t inner = picture.from[last] * channels;
  const int64_t before = picture.first[last] * channels;
  const int64_t rows = element_count(picture.to) / row;
  parallel_for(rows, kIntegerGrain / row + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      int64_t from = 0;
      int64_t step = 1;
      int64_t rest = r;
      bool is_inside = true;
      for (size_t d = last; d-- > 0;) {
        const int64_t at = rest % picture.to[d] - picture.first[d];
        rest /= picture.to[d];
        is_inside = is_inside && at >= 0 && at < picture.from[d];
        from += at * step;
        step *= picture.from[d];
      }
      std::byte* const to = dst + r * row;
      if (!is_inside) {
        std::fill_n(to, row, zero);
        continue;
      }
      std::fill_n(to, before, zero);
      std::memcpy(to + before, src + from * inner, static_cast<size_t>(inner));
      std::fill_n(to + before + inner, row - before - inner, zero);
    }
  });
}

/// Memory objects of the primitives.
struct ConvIntegerState final : KernelState {
  std::unique_ptr<KernelState> products, windows;
};

/// Sums (x - its zero point) * (w - its zero point) as sums of x * w less what the zero points make
/// of them. Where weights have some, `windows` sums the values of each window, which are the same
/// for all output channels of a group.
class ConvIntegerKernel final : public Kernel {
 public:
  struct Parts {
    PaddedPicture picture;
    std::unique_ptr<Kernel> products;
    std::unique_ptr<Kernel> windows;
    IntegerWeights weights;
    SourceZero zero;
    int64_t pixels = 0;
    int64_t groups = 1;
  };
  explicit ConvIntegerKernel(Parts parts) : parts_(std::move(parts)) {}

  std::string_view implementation() const override { return parts_.products->implementation(); }

  size_t scratch_bytes() const override {
    const size_t windows = parts_.windows == nullptr ? 0 : parts_.windows->scratch_bytes();
    return inner_at() + std::max(parts_.products->scratch_bytes(), windows);
  }

  Result<std::unique_ptr<KernelState>> create_state() const override {
    auto state = std::make_unique<ConvIntegerState>();
    HET_ASSIGN(state->products, parts_.products->create_state());
    if (parts_.windows != nullptr) {
      HET_ASSIGN(state->windows, parts_.windows->create_state());
    }
    return std::unique_ptr<KernelState>(std::move(state));
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    auto& states = static_cast<ConvIntegerState&>(*state);
    const uint32_t zero = parts_.zero.read(args);
    std::byte* src = args.inputs[0];
    if (parts_.picture.is_copy) {
      src = args.scratch;
      copy_padded(parts_.picture, args.inputs[0], static_cast<std::byte>(zero), src);
    }
    KernelArgs inner = args;
    inner.inputs = &src;
    inner.scratch = args.scratch + inner_at();
    HET_TRY(parts_.products->execute(inner, states.products.get()));
    auto* const dst = reinterpret_cast<uint32_t*>(args.outputs[0]);
    if (zero != 0) subtract_zero(zero, args.scratch + offsets_at(), dst);
    if (parts_.windows == nullptr) return {};
    std::byte* windows = args.scratch + windows_at();
    inner.outputs = &windows;
    HET_TRY(parts_.windows->execute(inner, states.windows.get()));
    subtract_zeros_of_weights(reinterpret_cast<const uint32_t*>(windows), dst);
    return {};
  }

 private:
  // Scratch: the padded picture, offsets of the channels, sums of windows, that of the primitives.
  static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }
  size_t channels() const { return parts_.weights.sums.size(); }
  size_t offsets_at() const {
    const PaddedPicture& picture = parts_.picture;
    return picture.is_copy ? whole_lines(static_cast<size_t>(element_count(picture.to))) : 0;
  }
  size_t windows_at() const { return offsets_at() + whole_lines(channels() * sizeof(uint32_t)); }
  size_t inner_at() const {
    const int64_t sums = parts_.windows == nullptr ? 0 : parts_.pixels * parts_.groups;
    return windows_at() + whole_lines(static_cast<size_t>(sums) * sizeof(uint32_t));
  }

  template <class Take>
  void for_each_pixel(const Take& take) const {
    parallel_for(parts_.pixels, kIntegerGrain / static_cast<int64_t>(channels()) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t pixel = begin; pixel < end; ++pixel) take(pixel);
                 });
  }

  void subtract_zero(uint32_t zero, std::byte* scratch, uint32_t* dst) const {
    const size_t count = channels();
    auto* const offsets = reinterpret_cast<uint32_t*>(scratch);
    std::ranges::transform(parts_.weights.sums, offsets, [&](uint32_t sum) { return zero * sum; });
    for_each_pixel([&](int64_t pixel) {
      uint32_t* const sums = dst + pixel * static_cast<int64_t>(count);
      for (size_t c = 0; c < count; ++c) sums[c] -= offsets[c];
    });
  }

  void subtract_zeros_of_weights(const uint32_t* windows, uint32_t* dst) const {
    const auto groups = static_cast<size_t>(parts_.groups);
    const size_t of_group = channels() / groups;
    const uint32_t* const zeros = parts_.weights.zeros.data();
    for_each_pixel([&](int64_t pixel) {
      const uint32_t* const sums = windows + pixel * parts_.groups;
      uint32_t* const results = dst + pixel * static_cast<int64_t>(channels());
      for (size_t g = 0; g < groups; ++g) {
        for (size_t c = g * of_group; c < (g + 1) * of_group; ++c) results[c] -= sums[g] * zeros[c];
      }
    });
  }

  Parts parts_;
};

/// Channels last.
Shape pixels_first(const Shape& shape) {
  Shape turned = shape;
  std::rotate(turned.begin() + 1, turned.begin() + 2, turned.end());
  return turned;
}

/// The source of an unpadded convolution.
PaddedPicture padded_picture(const Shape& src, const Window& window) {
  Shape whole = src;
  Shape first(src.size(), 0);
  for (size_t d = 0; d + 2 < src.size(); ++d) {
    whole[d + 2] += window.pads_begin[d] + window.pads_end[d];
    first[d + 2] = window.pads_begin[d];
  }
  return {pixels_first(src), pixels_first(whole), pixels_first(first), whole != src};
}

/// Of int8 weights in this shape, without padding.
ConvolutionSpec integer_spec(ElementType src, const Shape& padded, const Shape& weights,
                             const ConvAttributes& window) {
  ConvolutionSpec spec;
  spec.src = {src, padded, Format::ChannelsLast};
  spec.dst = {ElementType::Int32, window.output_shape, Format::ChannelsLast};
  spec.dst.shape[1] = weights[0];
  spec.src_format = spec.dst_format = Format::ChannelsLast;
  spec.weights = weights;
  spec.weights_type = ElementType::Int8;
  spec.groups = window.group;
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin.assign(window.strides.size(), 0);
  spec.pads_end = spec.pads_begin;
  if (padded.size() == 3) add_height(spec);
  return spec;
}

Result<bool> plan_conv_integer(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  const Value& w = *node.input(1);
  const Shape& shape = w.desc().shape;
  if (!w.is_constant() || !has_simple_zeros(node) || element_count(shape) == 0 ||
      element_count(node.output()->desc().shape) == 0) {
    return false;
  }
  HET_ASSIGN(const ConvAttributes window, conv_attributes(node, src.shape, shape));
  ConvIntegerKernel::Parts parts;
  parts.picture = padded_picture(src.shape, window);
  Shape padded = parts.picture.to;
  std::rotate(padded.begin() + 1, padded.end() - 1, padded.end());
  HET_ASSIGN(parts.weights, integer_weights(w.constant(), node.input(3), 0));
  HET_ASSIGN(parts.products, make_integer_sums(integer_spec(src.type, padded, shape, window),
                                               parts.weights.values, builder.packing(node)));
  if (parts.products == nullptr) return false;
  parts.weights.values = {};
  if (!parts.weights.zeros.empty()) {
    Shape filter = shape;
    filter[0] = window.group;
    const auto count = static_cast<size_t>(element_count(filter));
    const Tensor ones = Tensor::from<int8_t>(filter, std::vector<int8_t>(count, 1));
    HET_ASSIGN(parts.windows, make_integer_sums(integer_spec(src.type, padded, filter, window),
                                                ones, builder.packing(node)));
    if (parts.windows == nullptr) return false;
  }
  parts.zero = SourceZero(node.input(2));
  parts.pixels = element_count(window.output_shape) / shape[0];
  parts.groups = window.group;
  std::vector<TensorId> inputs(1);
  HET_ASSIGN(inputs[0], builder.read(*node.input(0), Format::ChannelsLast, src.type));
  if (parts.zero.exists()) {
    HET_ASSIGN(inputs.emplace_back(),
               builder.read(*node.input(2), Format::Plain, parts.zero.type()));
  }
  const Value& dst = *node.output();
  const TensorId out =
      builder.write(dst, {ElementType::Int32, dst.desc().shape, Format::ChannelsLast});
  builder.add_step(node, std::make_unique<ConvIntegerKernel>(std::move(parts)), std::move(inputs),
                   {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_conv_integer(KernelRegistry& registry) {
  registry.add("", "ConvInteger", plan_conv_integer);
}

}  // namespace het::cpu
