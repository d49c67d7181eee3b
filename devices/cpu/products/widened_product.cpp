#include "devices/cpu/products/widened_product.h"

#include <algorithm>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/convolution_window.h"
#include "devices/cpu/products/byte_panels.h"
#include "devices/cpu/products/window_parts.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/ops/products/conv.h"

namespace het::cpu {
namespace {

/// Products of a sum: each is at most 255 * 255.
constexpr int64_t kMostProducts = 32768;

/// One picture with a pixel for each row of the product.
Int8Shape shape_of_rows(const MatMulSpec& spec) {
  Int8Shape shape;
  shape.ih = shape.oh = spec.src.shape[0];
  shape.ic = spec.src.shape[1];
  shape.oc = spec.dst.shape[1];
  return shape;
}

Int8Shape shape_of_window(const ConvolutionSpec& spec) {
  Int8Shape shape;
  set_window(spec, shape);
  shape.groups = spec.groups;
  shape.ic = spec.weights[1];
  shape.oc = spec.weights[0] / spec.groups;
  return shape;
}

/// Multiply-adds that are worth a thread; what else a result costs counts as some more of them.
constexpr int64_t kWidenedGrain = 400'000;
constexpr int64_t kOfAResult = 16;

/// Threads that share the work: none is woken for less than it costs.
int64_t useful_team(const Int8Shape& shape) {
  const int64_t results = shape.n * shape.groups * shape.oc * shape.oh * shape.ow;
  const int64_t work = results * (shape.depth() + kOfAResult);
  return std::clamp<int64_t>(work / kWidenedGrain, 1, team_size());
}

/// How the rows of the result are cut into strips, and what the threads of a team share out.
struct StripCut {
  int64_t rows = 1;        ///< of the longest strip
  int64_t strips = 1;      ///< of one picture
  bool by_panels = false;  ///< each thread computes some channels of every strip
};

/// Bytes of the gathered source of so many rows of the result; `by_bytes` may be empty.
int64_t gathered_src_bytes(const Int8Shape& shape, const BytePanels& by_bytes, int64_t rows) {
  if (!by_bytes.empty()) return gathered_bytes(shape, by_bytes.dot(), rows);
  return widened_src_count(shape, rows) * static_cast<int64_t>(sizeof(int16_t));
}

StripCut cut_rows(const Int8Shape& shape, const BytePanels& by_bytes, int64_t team) {
  // Source, result and a panel's weights share the cache.
  const int64_t fitting = second_level_bytes() / 3;
  const int64_t row = gathered_src_bytes(shape, by_bytes, 2) -
                      gathered_src_bytes(shape, by_bytes, 1) + shape.ow * shape.oc;
  StripCut cut;
  cut.strips = (shape.oh * row + fitting - 1) / fitting;
  const int64_t pictures = shape.n * shape.groups;
  // A thread with rows of its own reads all weights, one with channels of its own all rows.
  const int64_t weights = shape.groups * shape.oc * shape.depth();
  cut.by_panels = pictures * cut.strips < team && weights > shape.oh * row &&
                  widened_panels(shape) / shape.groups >= team;
  if (!cut.by_panels && pictures % team != 0) cut.strips = (cut.strips + team - 1) / team * team;
  cut.strips = std::clamp<int64_t>(cut.strips, 1, shape.oh);
  cut.rows = (shape.oh + cut.strips - 1) / cut.strips;
  return cut;
}

/// What a product is made of, besides its shape.
struct Int8Constants {
  const Tensor& weights;
  WeightStrides strides;
  std::vector<float> scales;
  std::vector<float> bias;
  /// Of channels, empty where there are none: see Int8Arithmetic.
  std::vector<float> dst_factors = {}, dst_zeros = {};
  std::vector<int32_t> src_zeros = {};
};

class WidenedKernel final : public Kernel {
 public:
  /// `by_bytes` may be empty.
  WidenedKernel(const Int8Shape& shape, std::vector<PostOp> ops, BytePanels by_bytes)
      : shape_(shape),
        ops_(std::move(ops)),
        by_bytes_(std::move(by_bytes)),
        team_(useful_team(shape)),
        cut_(cut_rows(shape, by_bytes_, team_)),
        offsets_(widened_offsets(shape, cut_.rows)),
        src_count_(round_up((gathered_src_bytes(shape, by_bytes_, cut_.rows) + 1) / 2)),
        weights_count_(round_up(widened_panel_count(shape))),
        has_sum_(std::ranges::any_of(
            ops_, [](const PostOp& op) { return op.kind == PostOp::Kind::Sum; })),
        name_(name_of(by_bytes_) + simd_target()) {
    if (!by_bytes_.empty()) offsets_.pixels = byte_pixels(shape, by_bytes_.dot(), cut_.rows);
  }

  Status pack(const Int8Constants& constants, const NodePacking& packing) {
    HET_ASSIGN(scales_, pack_channels(constants.scales, packing));
    HET_ASSIGN(bias_, pack_channels(constants.bias, packing));
    if (!constants.dst_factors.empty()) {
      HET_ASSIGN(factors_, pack_channels(constants.dst_factors, packing));
      HET_ASSIGN(zeros_, pack_channels(constants.dst_zeros, packing));
    }
    src_zeros_.assign(constants.src_zeros.begin(), constants.src_zeros.end());
    if (!by_bytes_.empty()) return {};
    const int64_t panels = widened_panels(shape_);
    const auto bytes = static_cast<size_t>(panels * widened_panel_count(shape_));
    HET_ASSIGN(weights_, packing.pack(bytes, [&](std::byte* memory) {
      prefer_huge_pages(memory, bytes);
      std::optional<AloneScope> alone;
      if (bytes < kSharedPackingBytes) alone.emplace();
      parallel_for(panels, 1, [&](int64_t begin, int64_t end) {
        pack_widened_weights(shape_, constants.weights.data<int8_t>(), constants.strides, begin,
                             end, reinterpret_cast<int8_t*>(memory));
      });
    }));
    return {};
  }

  std::string_view implementation() const override { return name_; }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(team_ * (src_count_ + weights_count_)) * sizeof(int16_t);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    Int8Tail tail;
    tail.scales = reinterpret_cast<const float*>(scales_->host());
    tail.bias = reinterpret_cast<const float*>(bias_->host());
    tail.ops = &ops_;
    if (factors_ != nullptr) {
      tail.factors = reinterpret_cast<const float*>(factors_->host());
      tail.zeros = reinterpret_cast<const float*>(zeros_->host());
    }
    tail.addend = has_sum_ ? args.inputs[1] : nullptr;
    const int64_t strips = shape_.n * shape_.groups * cut_.strips;
    const int64_t panels = widened_panels(shape_) / shape_.groups;
    in_slots(team_, cut_.by_panels ? panels : strips,
             [&](int64_t slot, int64_t begin, int64_t end) {
               if (!cut_.by_panels) return run(args, slot, {begin, end}, {0, panels}, tail);
               return run(args, slot, {0, strips}, {begin, end}, tail);
             });
    return {};
  }

 private:
  using Part = std::pair<int64_t, int64_t>;

  static std::string name_of(const BytePanels& by_bytes) {
    if (by_bytes.empty()) return "own_int8_";
    if (by_bytes.dot() == ByteDot::Quads) return "own_int8_quads_";
    return by_bytes.dot() == ByteDot::Pairs ? "own_int8_pairs_" : "own_int8_chosen_pairs_";
  }

  /// Whole cache lines.
  static int64_t round_up(int64_t values) { return (values + 31) / 32 * 32; }

  Result<BufferPtr> pack_channels(std::vector<float> values, const NodePacking& packing) {
    const auto channels = static_cast<size_t>(shape_.groups * shape_.oc);
    if (values.size() == 1) values.resize(channels, values.front());
    const auto count = static_cast<size_t>(widened_panels(shape_) * widened_columns());
    return packing.pack(count * sizeof(float), [&](std::byte* memory) {
      pack_widened_channels(shape_, values.data(), reinterpret_cast<float*>(memory));
    });
  }

  void run(const KernelArgs& args, int64_t slot, Part strips, Part panels,
           const Int8Tail& tail) const {
    auto* const widened =
        reinterpret_cast<int16_t*>(args.scratch) + slot * (src_count_ + weights_count_);
    for (int64_t k = strips.first; k < strips.second; ++k) {
      const int64_t picture = k / cut_.strips;
      Int8Strip strip;
      strip.n = picture / shape_.groups;
      strip.group = picture % shape_.groups;
      strip.first_row = shape_.oh * (k % cut_.strips) / cut_.strips;
      strip.rows = shape_.oh * (k % cut_.strips + 1) / cut_.strips - strip.first_row;
      if (!by_bytes_.empty()) {
        const uint8_t* const gathered = gather_bytes(shape_, by_bytes_.dot(), strip, args.inputs[0],
                                                     reinterpret_cast<uint8_t*>(widened));
        multiply_bytes(shape_, by_bytes_.dot(), offsets_.pixels, strip, gathered,
                       by_bytes_.of_group(shape_, strip.group), panels.first, panels.second, tail,
                       args.outputs[0]);
        continue;
      }
      widen_src(shape_, strip, args.inputs[0], widened,
                src_zeros_.empty() ? nullptr : src_zeros_.data());
      multiply_widened(shape_, offsets_, strip, widened, weights_of_group(strip.group),
                       panels.first, panels.second, tail, widened + src_count_, args.outputs[0]);
    }
  }

  const int8_t* weights_of_group(int64_t group) const {
    const int64_t panels = widened_panels(shape_) / shape_.groups;
    return reinterpret_cast<const int8_t*>(weights_->host()) +
           group * panels * widened_panel_count(shape_);
  }

  Int8Shape shape_;
  std::vector<PostOp> ops_;
  BytePanels by_bytes_;
  int64_t team_;
  StripCut cut_;
  WidenedOffsets offsets_;
  int64_t src_count_;
  int64_t weights_count_;
  bool has_sum_;
  std::string name_;
  BufferPtr weights_;  ///< where by_bytes_ is empty
  BufferPtr scales_;
  BufferPtr bias_;
  BufferPtr factors_;  ///< with zeros_, or none
  BufferPtr zeros_;
  std::vector<int16_t> src_zeros_;
};

/// Nothing where the loops have no such shape.
std::optional<Int8Shape> supported(const Int8Shape& shape) {
  const bool is_empty = shape.n * shape.oh * shape.ow * shape.groups * shape.oc == 0;
  if (is_empty || shape.depth() > kMostProducts) return std::nullopt;
  return shape;
}

std::optional<Int8Shape> shape_of_convolution(const ConvolutionSpec& spec) {
  if (spec.src.shape.size() != 4 || spec.groups < 1) return std::nullopt;
  Int8Shape shape = shape_of_window(spec);
  if (shape.groups > 1 && shape.ic == 1) {
    // Several filters for one channel would leave most of a panel empty.
    if (shape.oc > 1) return std::nullopt;
    shape.depthwise = true;
    shape.ic = shape.oc = shape.groups;
    shape.groups = 1;
  }
  return shape;
}

/// As the element types of sums.
std::optional<Int8Shape> as_sums(Int8Shape shape, ElementType src) {
  shape.src = src;
  shape.dst = ElementType::Int32;
  return supported(shape);
}

/// Parts of a result, one after the other.
class PartsKernel final : public Kernel {
 public:
  void add(std::unique_ptr<Kernel> part) { parts_.push_back(std::move(part)); }

  std::string_view implementation() const override { return parts_.front()->implementation(); }

  size_t scratch_bytes() const override {
    size_t most = 0;
    for (const auto& part : parts_) most = std::max(most, part->scratch_bytes());
    return most;
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    for (const auto& part : parts_) HET_TRY(part->execute(args, state));
    return {};
  }

 private:
  std::vector<std::unique_ptr<Kernel>> parts_;
};

Result<std::unique_ptr<Kernel>> make_whole_kernel(const Int8Shape& shape, std::vector<PostOp> ops,
                                                  const Int8Constants& constants,
                                                  const NodePacking& packing) {
  const Int8Shape packed = with_packed_groups(shape);
  HET_ASSIGN(BytePanels by_bytes,
             BytePanels::pack(packed, constants.weights, constants.strides, packing));
  auto kernel = std::make_unique<WidenedKernel>(by_bytes.empty() ? shape : packed, std::move(ops),
                                                std::move(by_bytes));
  HET_TRY(kernel->pack(constants, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

Result<std::unique_ptr<Kernel>> make_kernel(const Int8Shape& shape, const std::vector<PostOp>& ops,
                                            const Int8Constants& constants,
                                            const NodePacking& packing) {
  const std::vector<WindowPart> parts = window_parts(shape);
  if (parts.size() == 1 && parts.front().shape.dst_rows == 0) {
    return make_whole_kernel(shape, ops, constants, packing);
  }
  auto kernel = std::make_unique<PartsKernel>();
  const int64_t taps = shape.kh * shape.kw;
  for (const WindowPart& part : parts) {
    HET_ASSIGN(const Tensor weights, weights_of_part(part, shape, constants.weights));
    const int64_t kept = part.shape.kh * part.shape.kw;
    const WeightStrides strides = {constants.strides.oc_stride / taps * kept,
                                   constants.strides.ic_stride / taps * kept};
    HET_ASSIGN(std::unique_ptr<Kernel> made,
               make_whole_kernel(part.shape, ops,
                                 {weights, strides, constants.scales, constants.bias,
                                  constants.dst_factors, constants.dst_zeros, constants.src_zeros},
                                 packing));
    kernel->add(std::move(made));
  }
  return std::unique_ptr<Kernel>(std::move(kernel));
}

/// Where the weights of a node lie.
WeightStrides strides_of(const Node& node) {
  const Shape& weights = node.input(1)->desc().shape;
  if (node.op_type() != "Int8Conv") return {1, weights[1]};
  const int64_t taps = element_count(weights) / std::max<int64_t>(weights[0] * weights[1], 1);
  return {weights[1] * taps, taps};
}

}  // namespace

std::optional<Int8Shape> widened_shape(const Node& node, const Int8Arithmetic& arithmetic) {
  if (!std::ranges::all_of(arithmetic.post_ops,
                           [](const PostOp& op) { return is_int8_tail_op(op.kind); })) {
    return std::nullopt;
  }
  Int8Shape shape;
  if (node.op_type() != "Int8Conv" || is_pixelwise(node)) {
    const auto spec = int8_matmul_spec(node, arithmetic);
    if (!spec) return std::nullopt;
    shape = shape_of_rows(*spec);
  } else {
    const auto spec = int8_convolution_spec(node, arithmetic);
    const auto window = spec ? shape_of_convolution(*spec) : std::nullopt;
    if (!window) return std::nullopt;
    shape = *window;
  }
  const Int8Product product = int8_product_of(node);
  shape.src = node.input(0)->desc().type;
  shape.dst = node.output()->desc().type;
  shape.src_zero = product.src_zero;
  shape.weights_zero = product.weights_zero;
  if (!arithmetic.src_zeros.empty() && !shape.depthwise) return std::nullopt;
  return supported(shape);
}

std::optional<Int8Shape> widened_sums_shape(const MatMulSpec& spec) {
  return as_sums(shape_of_rows(spec), spec.src.type);
}

std::optional<Int8Shape> widened_sums_shape(const ConvolutionSpec& spec) {
  const auto shape = shape_of_convolution(spec);
  return shape ? as_sums(*shape, spec.src.type) : std::nullopt;
}

Result<std::unique_ptr<Kernel>> make_widened_sums(const Int8Shape& shape, const Tensor& weights,
                                                  const WeightStrides& strides,
                                                  const NodePacking& packing) {
  return make_kernel(shape, {}, {weights, strides, {1.0f}, {0.0f}}, packing);
}

Result<std::unique_ptr<Kernel>> make_widened_kernel(const Int8Shape& shape, const Node& node,
                                                    const Int8Arithmetic& arithmetic,
                                                    const NodePacking& packing) {
  const std::vector<float>& scales = arithmetic.quantisation.scales;
  // The zero point of the source is taken off each value.
  Int8Arithmetic centred = arithmetic;
  centred.compensated = 0;
  HET_ASSIGN(const std::vector<double> sums, int8_bias_in_sums(node, centred));
  std::vector<float> bias(sums.size());
  for (size_t c = 0; c < sums.size(); ++c) {
    bias[c] = static_cast<float>(sums[c] * static_cast<double>(scales[scales.size() == 1 ? 0 : c]));
  }
  return make_kernel(shape, arithmetic.post_ops,
                     {node.input(1)->constant(), strides_of(node), scales, bias,
                      arithmetic.dst_factors, arithmetic.dst_zeros, arithmetic.src_zeros},
                     packing);
}

}  // namespace het::cpu
