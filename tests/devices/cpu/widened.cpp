#include <gmock/gmock.h>

#include <cmath>

#include "devices/cpu/loops/byte_term_loops.h"
#include "devices/cpu/loops/widened_loops.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/products/byte_panels.h"
#include "devices/cpu/products/widened_product.h"
#include "devices/cpu/products/window_parts.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/guarded_memory.h"

/// int8 products on processors without VNNI (devices/cpu/loops/widened_loops.h and
/// byte_term_loops.h), on every processor.
namespace het::cpu_testing {
namespace {

using cpu::ByteDot;
using cpu::Int8Shape;
using cpu::PostOp;

int64_t extent(int64_t size, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads) {
  return (size + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

/// A window over a picture, padded by `pad` on all sides but one pixel less on the right.
Int8Shape window(int64_t groups, int64_t ic, int64_t oc, int64_t kernel, int64_t stride = 1,
                 int64_t dilation = 1, int64_t pad = 0) {
  Int8Shape s;
  s.n = 2;
  s.groups = groups;
  s.ic = ic;
  s.oc = oc;
  s.ih = 7;
  s.iw = 9;
  s.kh = s.kw = kernel;
  s.stride_y = s.stride_x = stride;
  s.dilation_y = s.dilation_x = dilation;
  s.pad_top = s.pad_left = pad;
  s.oh = extent(s.ih, kernel, stride, dilation, 2 * pad);
  s.ow = extent(s.iw, kernel, stride, dilation, std::max<int64_t>(2 * pad - 1, 0));
  return s;
}

Int8Shape depthwise(int64_t channels, int64_t kernel, int64_t stride = 1, int64_t dilation = 1) {
  Int8Shape s = window(1, channels, channels, kernel, stride, dilation, kernel / 2);
  s.depthwise = true;
  return s;
}

/// The exact sum of output channel `o`, counted over all groups.
int64_t sum_at(const Int8Shape& s, const Tensor& src, const Tensor& weights, int64_t n, int64_t y,
               int64_t x, int64_t o) {
  const int64_t channels = s.groups * s.ic;
  const int64_t filters = s.depthwise ? 1 : s.ic;
  int64_t sum = 0;
  for (int64_t i = 0; i < filters; ++i) {
    const int64_t channel = s.depthwise ? o : o / s.oc * s.ic + i;
    for (int64_t ky = 0; ky < s.kh; ++ky) {
      for (int64_t kx = 0; kx < s.kw; ++kx) {
        const int64_t iy = y * s.stride_y - s.pad_top + ky * s.dilation_y;
        const int64_t ix = x * s.stride_x - s.pad_left + kx * s.dilation_x;
        if (iy < 0 || iy >= s.ih || ix < 0 || ix >= s.iw) continue;
        const auto at = static_cast<size_t>(((n * s.ih + iy) * s.iw + ix) * channels + channel);
        const int value =
            s.src == ElementType::Int8 ? src.values<int8_t>()[at] : src.values<uint8_t>()[at];
        const int weight = weights.data<int8_t>()[((o * filters + i) * s.kh + ky) * s.kw + kx];
        sum += int64_t{value - s.src_zero} * (weight - s.weights_zero);
      }
    }
  }
  return sum;
}

/// What is done with the sums, the same for each channel.
struct Tail {
  float scale = 1.0f;
  float bias = 0.0f;
  std::vector<PostOp> ops;
  const Tensor* addend = nullptr;
};

/// Calls compute(strip, tail, dst) for strips of so many rows.
template <class F>
Tensor in_strips(const Int8Shape& s, const Tail& tail, int64_t rows, const F& compute) {
  const auto channels = static_cast<size_t>(cpu::widened_panels(s) * cpu::widened_columns());
  const std::vector<float> scales(channels, tail.scale);
  const std::vector<float> biases(channels, tail.bias);
  Tensor dst = *Tensor::allocate({s.dst, {s.n, s.oh, s.ow, s.groups * s.oc}});
  const cpu::Int8Tail packed = {scales.data(), biases.data(), &tail.ops,
                                tail.addend != nullptr ? tail.addend->bytes() : nullptr};
  for (int64_t picture = 0; picture < s.n * s.groups; ++picture) {
    for (int64_t first = 0; first < s.oh; first += rows) {
      const cpu::Int8Strip strip = {picture / s.groups, picture % s.groups, first,
                                    std::min(rows, s.oh - first)};
      compute(strip, packed, dst.bytes());
    }
  }
  return dst;
}

cpu::WeightStrides strides_of(const Int8Shape& s) {
  const int64_t taps = s.kh * s.kw;
  return {(s.depthwise ? 1 : s.ic / s.packed_groups) * taps, taps};
}

/// Widened bytes, strip by strip and a panel at a time.
Tensor multiply(const Int8Shape& s, const Tensor& src, const Tensor& weights, const Tail& tail,
                int64_t rows) {
  const int64_t panels = cpu::widened_panels(s);
  const auto panel_count = static_cast<size_t>(cpu::widened_panel_count(s));
  std::vector<int8_t> packed(static_cast<size_t>(panels) * panel_count);
  cpu::pack_widened_weights(s, weights.data<int8_t>(), strides_of(s), 0, panels, packed.data());
  std::vector<int16_t> widened(static_cast<size_t>(cpu::widened_src_count(s, rows)));
  std::vector<int16_t> panel(panel_count);
  const cpu::WidenedOffsets offsets = cpu::widened_offsets(s, rows);
  return in_strips(
      s, tail, rows, [&](const cpu::Int8Strip& strip, const cpu::Int8Tail& of_all, std::byte* dst) {
        cpu::widen_src(s, strip, src.bytes(), widened.data());
        const int64_t of_group = panels / s.groups;
        const auto offset = static_cast<size_t>(strip.group * of_group) * panel_count;
        for (int64_t k = 0; k < of_group; ++k) {
          cpu::multiply_widened(s, offsets, strip, widened.data(), packed.data() + offset, k, k + 1,
                                of_all, panel.data(), dst);
        }
      });
}

/// Bytes as they are. Nothing where the weights cannot be cut.
std::optional<Tensor> multiply_bytes(const Int8Shape& plain, ByteDot dot, const Tensor& src,
                                     const Tensor& weights, const Tail& tail, int64_t rows) {
  if (!cpu::is_byte_shape(plain)) return std::nullopt;
  const Int8Shape s = cpu::with_packed_groups(plain);
  if (dot == ByteDot::ChosenPairs && !cpu::may_choose_pairs(s)) return std::nullopt;
  std::vector<cpu::ByteTerms> terms(static_cast<size_t>(2 * cpu::widened_panels(s)));
  std::vector<cpu::ByteHalf> halves;
  for (size_t k = 0; k < terms.size(); ++k) {
    if (!cpu::cut_byte_terms(s, dot, weights.data<int8_t>(), strides_of(s), static_cast<int64_t>(k),
                             terms[k])) {
      return std::nullopt;
    }
    halves.push_back({terms[k].start.data(), terms[k].offsets.data(), terms[k].weights.data(),
                      terms[k].coupled,
                      static_cast<int32_t>(terms[k].offsets.size()) - 2 * terms[k].coupled});
  }
  std::vector<uint8_t> memory(static_cast<size_t>(cpu::gathered_bytes(s, dot, rows)));
  const std::vector<int32_t> pixels = cpu::byte_pixels(s, dot, rows);
  const size_t of_group = terms.size() / static_cast<size_t>(s.groups);
  return in_strips(s, tail, rows,
                   [&](const cpu::Int8Strip& strip, const cpu::Int8Tail& of_all, std::byte* dst) {
                     const uint8_t* const gathered =
                         cpu::gather_bytes(s, dot, strip, src.bytes(), memory.data());
                     const std::span group(
                         halves.data() + static_cast<size_t>(strip.group) * of_group, of_group);
                     for (int64_t panel = 0; 2 * panel < std::ssize(group); ++panel) {
                       cpu::multiply_bytes(s, dot, pixels, strip, gathered, group, panel, panel + 1,
                                           of_all, dst);
                     }
                   });
}

Tensor random_values(ElementType type, const Shape& shape, unsigned seed) {
  if (type == ElementType::Float32) return random_tensor(shape, seed);
  return type == ElementType::Int8 ? random_bytes<int8_t>(shape, seed)
                                   : random_bytes<uint8_t>(shape, seed);
}

/// All of this instruction set. What emulates vpdpbusd is compared everywhere, the instruction
/// where there is one: of AVX-VNNI in AVX2's loops, of AVX-512 in those that have it.
std::vector<ByteDot> byte_dots() {
  std::vector<ByteDot> dots = {ByteDot::Pairs, ByteDot::ChosenPairs, ByteDot::EmulatedQuads};
  if (cpu::has_byte_quads()) dots.push_back(ByteDot::Quads);
  return dots;
}

std::vector<float> exact_sums(const Int8Shape& s, const Tensor& src, const Tensor& weights) {
  std::vector<float> wanted;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t y = 0; y < s.oh; ++y) {
      for (int64_t x = 0; x < s.ow; ++x) {
        for (int64_t o = 0; o < s.groups * s.oc; ++o) {
          wanted.push_back(static_cast<float>(sum_at(s, src, weights, n, y, x, o)));
        }
      }
    }
  }
  return wanted;
}

/// As floats and as they are, by all loops.
void expect_exact_sums(Int8Shape s, const Tensor& src, const Tensor& weights) {
  const std::vector<float> wanted = exact_sums(s, src, weights);
  on_each_instruction_set([&] {
    for (const ElementType type : {ElementType::Float32, ElementType::Int32}) {
      s.dst = type;
      for (const int64_t rows : {s.oh, int64_t{2}}) {
        SCOPED_TRACE(testing::Message() << to_string(type) << " in strips of " << rows);
        EXPECT_EQ(*to_float_vector(multiply(s, src, weights, {}, rows)), wanted);
        for (const ByteDot dot : byte_dots()) {
          const std::optional<Tensor> got = multiply_bytes(s, dot, src, weights, {}, rows);
          // Random weights less a zero point need not fit int8.
          EXPECT_TRUE(got || s.depthwise || s.weights_zero != 0 ||
                      (dot == ByteDot::ChosenPairs && !may_choose_pairs(with_packed_groups(s))));
          if (got) {
            EXPECT_EQ(*to_float_vector(*got), wanted) << "by dot " << static_cast<int>(dot);
          }
        }
      }
    }
  });
}

void expect_exact_sums(const Int8Shape& s) {
  const int64_t filters = s.depthwise ? 1 : s.ic;
  const Tensor src = random_values(s.src, {s.n, s.ih, s.iw, s.groups * s.ic}, 3);
  expect_exact_sums(s, src, random_bytes<int8_t>({s.groups * s.oc, filters, s.kh, s.kw}, 5));
}

TEST(CpuWidened, SumsOfAllShapesAreExact) {
  const std::vector<Int8Shape> shapes = {
      window(1, 20, 37, 1),
      window(1, 7, 16, 1, 2),
      window(1, 3, 33, 3, 2, 1, 1),
      window(1, 5, 16, 3, 1, 1, 1),
      window(1, 6, 40, 3, 1, 2, 2),
      window(3, 5, 9, 3, 1, 1, 1),
      window(2, 4, 16, 1, 2),
      window(8, 4, 4, 3, 1, 1, 1),
      window(16, 6, 8, 3, 2, 1, 1),
      window(8, 5, 16, 1),
      window(32, 3, 4, 3, 1, 2, 2),
      window(1, 1, 5, 7, 3, 1, 3),
      window(1, 32, 48, 3, 1, 1, 1),
      window(1, 8, 8, 2, 2, 1, 1),
      depthwise(5, 3),
      depthwise(16, 3, 2),
      depthwise(39, 5),
      depthwise(33, 3, 1, 2),
      depthwise(16, 1),
  };
  for (size_t k = 0; k < shapes.size(); ++k) {
    for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
      for (const auto& [src_zero, weights_zero] :
           {std::pair{0, 0}, std::pair{type == ElementType::Int8 ? -128 : 255, 0},
            std::pair{type == ElementType::Int8 ? 127 : 3, -128}, std::pair{9, 127}}) {
        SCOPED_TRACE(testing::Message()
                     << "shape " << k << " zeros " << src_zero << ' ' << weights_zero);
        Int8Shape shape = shapes[k];
        shape.src = type;
        shape.src_zero = src_zero;
        shape.weights_zero = weights_zero;
        expect_exact_sums(shape);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(CpuWidened, GroupsOfFewChannelsFillAPanel) {
  on_each_instruction_set([] {
    const int64_t columns = cpu::widened_columns();
    for (const int64_t channels : {4, 8, 16}) {
      if (channels >= columns) continue;
      const Int8Shape packed = with_packed_groups(window(64, 5, channels, 3));
      EXPECT_EQ(packed.packed_groups, columns / channels);
      EXPECT_EQ(packed.oc, columns);
      EXPECT_EQ(packed.ic, 5 * columns / channels);
    }
    EXPECT_EQ(with_packed_groups(window(64, 4, columns, 3)).packed_groups, 1);
    EXPECT_EQ(with_packed_groups(window(64, 4, 12, 3)).packed_groups, 1);
    EXPECT_EQ(with_packed_groups(window(9, 4, 4, 3)).packed_groups, 1);
  });
}

TEST(CpuWidened, FewRowsTakeTheirWeightsAsBytes) {
  for (const int64_t rows : {1, 5, 13, 40}) {
    Int8Shape s;
    s.ih = s.oh = rows;
    s.ic = 101;
    s.oc = 50;
    s.weights_zero = -7;
    SCOPED_TRACE(rows);
    expect_exact_sums(s);
  }
}

/// Weights of which many pairs, few or none saturate 16 bits, on the source that is worst for them.
TEST(CpuWidened, WeightsThatAreBuiltToSaturateDoNot) {
  const std::vector<std::vector<int>> patterns = {
      {127},
      {-128},
      {127, -128},
      {64, 64},
      {64, 65},
      {-64, -64},
      {-64, -65},
      {127, 1},
      {127, 2, 0, 0},
      {-128, 0, 0, -128},
      {0, 127},
      {-128, -1},
      {1, 2, 3},
      {127, 127, -128, -128, -128, 5, 9},
      {100, 0, 0, 0, 0, 28, 29, 100, 0, -100, -29, 0, 0, 0}};
  for (size_t k = 0; k < patterns.size(); ++k) {
    for (const auto& shape :
         {window(1, 32, 37, 3, 1, 1, 1), window(1, 70, 16, 1), window(2, 5, 9, 3)}) {
      for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
        SCOPED_TRACE(testing::Message() << "pattern " << k << " on " << to_string(type));
        Int8Shape s = shape;
        s.src = type;
        s.src_zero = type == ElementType::Int8 ? -5 : 100;
        Tensor weights =
            *Tensor::allocate({ElementType::Int8, {s.groups * s.oc, s.ic, s.kh, s.kw}});
        for (size_t i = 0; int8_t & weight : weights.values<int8_t>()) {
          weight = static_cast<int8_t>(patterns[k][i++ % patterns[k].size()]);
        }
        // Unsigned 0, 255 and what is between; signed -128, 127.
        Tensor src = *Tensor::allocate({type, {s.n, s.ih, s.iw, s.groups * s.ic}});
        for (const int step : {0, 7}) {
          for (int64_t i = 0; i < src.element_count(); ++i) {
            const int value = 255 - static_cast<int>(i % 255) * step % 256;
            const auto byte =
                static_cast<uint8_t>(type == ElementType::Int8 ? value ^ 0x80 : value);
            std::memcpy(src.bytes() + i, &byte, 1);
          }
          expect_exact_sums(s, src, weights);
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

/// What the loops rely on: sums of pairs of a term, and of both terms of a couple, fit in 16 bits.
TEST(CpuWidened, TermsOfBytesFitSixteenBits) {
  const Int8Shape s = window(1, 64, 32, 3);
  const Tensor weights = random_bytes<int8_t>({s.oc, s.ic, s.kh, s.kw}, 5);
  on_each_instruction_set([&] {
    const auto bytes = static_cast<size_t>(cpu::byte_term_bytes());
    for (int64_t which = 0; which < 4 * cpu::widened_panels(s); ++which) {
      cpu::ByteTerms terms;
      const ByteDot dot = which % 2 == 0 ? ByteDot::Pairs : ByteDot::ChosenPairs;
      ASSERT_TRUE(cut_byte_terms(s, dot, weights.data<int8_t>(), strides_of(s), which / 2, terms));
      ASSERT_EQ(terms.weights.size(), terms.offsets.size() * bytes);
      ASSERT_GT(terms.coupled, 0);
      ASSERT_LT(2 * static_cast<size_t>(terms.coupled), terms.offsets.size());
      for (size_t first = 0; first < terms.offsets.size();) {
        const bool goes_by_two = first < 2 * static_cast<size_t>(terms.coupled);
        const size_t end = first + (goes_by_two ? 2 : 1);
        for (size_t pair = 0; pair < bytes; pair += 2) {
          int most = 0;
          int least = 0;
          for (size_t k = first; k < end; ++k) {
            for (size_t i = pair; i < pair + 2; ++i) {
              const int weight = terms.weights[k * bytes + i];
              (weight > 0 ? most : least) += 255 * weight;
            }
          }
          ASSERT_LE(most, std::numeric_limits<int16_t>::max());
          ASSERT_GE(least, std::numeric_limits<int16_t>::min());
        }
        first = end;
      }
    }
  });
}

TEST(CpuWidened, WeightsBeyondInt8AreNotCut) {
  Int8Shape s = window(1, 8, 16, 1);
  s.weights_zero = -7;
  Tensor weights = *Tensor::allocate({ElementType::Int8, {s.oc, s.ic, 1, 1}});
  std::ranges::fill(weights.values<int8_t>(), int8_t{120});
  cpu::ByteTerms terms;
  EXPECT_TRUE(cut_byte_terms(s, ByteDot::Pairs, weights.data<int8_t>(), strides_of(s), 0, terms));
  weights.values<int8_t>()[9] = 121;
  EXPECT_FALSE(cut_byte_terms(s, ByteDot::Pairs, weights.data<int8_t>(), strides_of(s), 0, terms));
}

/// What is stored for a value.
float stored(ElementType type, float value) {
  if (type == ElementType::Float32) return value;
  const float low = type == ElementType::Int8 ? -128.0f : 0.0f;
  return std::nearbyint(std::clamp(value, low, low + 255.0f));
}

float applied(const PostOp& op, float x, float addend) {
  switch (op.kind) {
    case PostOp::Kind::Sum:
      return x + op.alpha * (addend - op.beta);
    case PostOp::Kind::Relu:
      return x < 0.0f ? op.alpha * x : x;
    case PostOp::Kind::Clip:
      return std::clamp(x, op.alpha, op.beta);
    case PostOp::Kind::Linear:
      return op.alpha * x + op.beta;
    case PostOp::Kind::Sigmoid:
      return 1.0f / (1.0f + std::exp(-x));
    case PostOp::Kind::Swish:
      return x / (1.0f + std::exp(-op.alpha * x));
    case PostOp::Kind::HardSwish:
      return x * std::clamp(x / 6.0f + 0.5f, 0.0f, 1.0f);
    case PostOp::Kind::Tanh:
      return std::tanh(x);
    case PostOp::Kind::GeluErf:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0f)));
    case PostOp::Kind::GeluTanh:
      return x / 2 * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    case PostOp::Kind::Round:
      return std::nearbyint(x);
    default:
      ADD_FAILURE() << "no such operation here";
      return x;
  }
}

TEST(CpuWidened, TailsInEveryType) {
  using Kind = PostOp::Kind;
  const std::vector<std::vector<PostOp>> tails = {
      {},
      {{Kind::Relu, 0.1f, 0.0f}},
      {{Kind::Clip, -3.0f, 40.0f}, {Kind::Linear, 0.7f, 5.0f}},
      {{Kind::Sum, 0.5f, 11.0f}, {Kind::Relu, 0.0f, 0.0f}},
      {{Kind::Linear, 0.4f, 1.0f}, {Kind::Round}, {Kind::Sum, 2.0f, 3.0f}},
      {{Kind::Sigmoid}, {Kind::Linear, 200.0f, -50.0f}},
      {{Kind::Swish, 1.3f, 0.0f}},
      {{Kind::HardSwish}},
      {{Kind::Tanh}, {Kind::Linear, 100.0f, 20.0f}},
      {{Kind::GeluErf}},
      {{Kind::GeluTanh}},
  };
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8, ElementType::Float32}) {
    for (size_t k = 0; k < tails.size(); ++k) {
      SCOPED_TRACE(testing::Message() << "tail " << k << " to " << to_string(type));
      Int8Shape s = window(1, 8, 21, 3, 1, 1, 1);
      s.dst = type;
      s.src_zero = 100;
      const Tensor src = random_bytes<uint8_t>({s.n, s.ih, s.iw, s.ic}, 3);
      const Tensor weights = random_bytes<int8_t>({s.oc, s.ic, 3, 3}, 5);
      const Tensor addend = random_values(type, {s.n, s.oh, s.ow, s.oc}, 7);
      const std::vector<float> added = *to_float_vector(addend);
      constexpr float kScale = 0.0013f;
      constexpr float kBias = 2.5f;
      const Tail tail = {kScale, kBias, tails[k], &addend};
      const Tensor got = multiply(s, src, weights, tail, 4);
      for (const ByteDot dot : byte_dots()) {
        const std::optional<Tensor> by_bytes = multiply_bytes(s, dot, src, weights, tail, 4);
        ASSERT_TRUE(by_bytes);
        EXPECT_EQ(*to_float_vector(*by_bytes), *to_float_vector(got));
      }
      const std::vector<float> values = *to_float_vector(got);
      size_t at = 0;
      size_t different = 0;
      for (int64_t n = 0; n < s.n; ++n) {
        for (int64_t y = 0; y < s.oh; ++y) {
          for (int64_t x = 0; x < s.ow; ++x) {
            for (int64_t o = 0; o < s.oc; ++o, ++at) {
              float wanted =
                  kScale * static_cast<float>(sum_at(s, src, weights, n, y, x, o)) + kBias;
              for (const PostOp& op : tails[k]) wanted = applied(op, wanted, added[at]);
              wanted = stored(type, wanted);
              const float step = type == ElementType::Float32 ? 1e-3f : 1.0f;
              ASSERT_NEAR(values[at], wanted, step);
              different += std::abs(values[at] - wanted) > 1e-3f ? 1 : 0;
            }
          }
        }
      }
      // Only what lies beside a half may fall to its other side.
      EXPECT_LE(different, at / 200);
    }
  }
}

/// The sums of a whole kernel as this processor has it, and its name.
std::vector<float> kernel_sums(const Int8Shape& s, Tensor& src, const Tensor& weights,
                               std::string& name) {
  ModelMaker maker;
  const Node& node = *maker.op("Relu", {maker.input({1})})->producer();
  cpu::PackedConstants noted;
  const auto kernel = cpu::make_widened_sums(s, weights, strides_of(s), {&noted, &node});
  EXPECT_TRUE(kernel) << kernel.error().message();
  if (!kernel) return {};
  name = (*kernel)->implementation();
  Tensor dst = *Tensor::allocate({s.dst, {s.n, s.oh, s.ow, s.groups * s.oc}});
  std::memset(dst.bytes(), 0x55, dst.size_bytes());
  std::vector<std::byte> scratch((*kernel)->scratch_bytes());
  std::byte* inputs[] = {src.bytes()};
  std::byte* outputs[] = {dst.bytes()};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  args.scratch = scratch.data();
  EXPECT_TRUE((*kernel)->execute(args, nullptr).ok());
  return *to_float_vector(dst);
}

/// Strips, panels that threads share, scratch; nothing behind the source is read. Random weights of
/// few inputs stay widened without
/// VNNI, small ones do not.
TEST(CpuWidened, KernelsOfThisProcessorAreExact) {
  for (const bool is_small : {false, true}) {
    for (Int8Shape s : {window(1, 24, 37, 3, 1, 1, 1), window(1, 18, 32, 3, 2, 1, 1),
                        window(16, 8, 8, 3, 1, 1, 1), window(1, 300, 64, 1), window(1, 300, 5, 1),
                        window(1, 7, 9, 3)}) {
      SCOPED_TRACE(testing::Message() << s.groups << " groups of " << s.ic << ' ' << is_small);
      s.dst = ElementType::Int32;
      Tensor weights = random_bytes<int8_t>({s.groups * s.oc, s.ic, s.kh, s.kw}, 5);
      if (is_small) {
        for (int8_t& weight : weights.values<int8_t>()) weight = static_cast<int8_t>(weight / 4);
      }
      Tensor src = guarded_copy(random_bytes<uint8_t>({s.n, s.ih, s.iw, s.groups * s.ic}, 3));
      std::string name;
      EXPECT_EQ(kernel_sums(s, src, weights, name), exact_sums(s, src, weights));
      if (cpu::has_exact_int8() && cpu::has_byte_quads()) {
        EXPECT_TRUE(name.starts_with("own_int8_quads_")) << name;
      } else if (cpu::has_byte_pairs() && is_small) {
        EXPECT_TRUE(name.starts_with("own_int8_pairs_")) << name;
      }
    }
  }
}

/// Taps that meet nothing but padding are left out, for each part of the result.
TEST(CpuWidened, WindowsThatAreMostlyPaddingAreCutIntoParts) {
  struct Case {
    Int8Shape shape;
    size_t parts;
  };
  Int8Shape apart = depthwise(20, 3, 1, 6);
  apart.pad_top = apart.pad_left = 6;
  apart.oh = extent(apart.ih, 3, 1, 6, 12);
  apart.ow = extent(apart.iw, 3, 1, 6, 12);
  const std::vector<Case> cases = {
      {window(1, 8, 21, 3, 1, 1, 1), 1},  {window(1, 8, 21, 3, 1, 5, 5), 9},
      {window(1, 5, 16, 3, 2, 6, 6), 9},  {window(3, 8, 9, 3, 1, 36, 36), 1},
      {window(8, 4, 4, 3, 1, 5, 5), 9},   {window(1, 12, 40, 5, 1, 4, 8), 12},
      {window(1, 8, 16, 1, 1, 1, 12), 1}, {apart, 9}};
  for (size_t k = 0; k < cases.size(); ++k) {
    for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
      SCOPED_TRACE(testing::Message() << "case " << k << " of " << to_string(type));
      Int8Shape s = cases[k].shape;
      s.src = type;
      s.src_zero = 11;
      s.dst = ElementType::Int32;
      EXPECT_EQ(window_parts(s).size(), cases[k].parts);
      const int64_t filters = s.depthwise ? 1 : s.ic;
      const Tensor weights = random_bytes<int8_t>({s.groups * s.oc, filters, s.kh, s.kw}, 5);
      Tensor src = random_values(type, {s.n, s.ih, s.iw, s.groups * s.ic}, 3);
      std::string name;
      EXPECT_EQ(kernel_sums(s, src, weights, name), exact_sums(s, src, weights)) << name;
    }
  }
}

/// A file that was packed for another shape, or by nobody who knows better.
TEST(CpuWidened, PackedTermsOfAFileAreChecked) {
  if (!cpu::has_byte_pairs()) GTEST_SKIP() << "no AVX2: bytes are widened";
  Int8Shape s = window(1, 8, 16, 1);
  const Tensor weights = *Tensor::allocate({ElementType::Int8, {s.oc, s.ic, 1, 1}});
  std::memset(weights.bytes(), 1, weights.size_bytes());
  ModelMaker maker;
  const Node& node = *maker.op("Relu", {maker.input({1})})->producer();
  cpu::PackedConstants noted;
  const auto made = cpu::BytePanels::pack(s, weights, strides_of(s), {&noted, &node});
  ASSERT_TRUE(made);
  ASSERT_FALSE(made->empty());
  ASSERT_EQ(noted.entries().size(), 2U);
  const auto imported = [&](size_t content, size_t at, int32_t value) {
    std::vector<std::vector<std::byte>> contents;
    std::vector<cpu::PackedConstants::Entry> entries;
    for (const auto& entry : noted.entries()) {
      contents.emplace_back(entry.content.begin(), entry.content.end());
    }
    std::memcpy(contents[content].data() + at, &value, sizeof(value));
    for (size_t k = 0; k < contents.size(); ++k) {
      entries.push_back({noted.entries()[k].node, contents[k]});
    }
    cpu::PackedConstants replayed(entries, *allocate_host_buffer(1));
    const auto got = cpu::BytePanels::pack(s, weights, strides_of(s), {&replayed, &node});
    return got ? std::string("fine") : got.error().message();
  };
  const int32_t coupled = made->of_group(s, 0)[0].coupled;
  EXPECT_EQ(imported(0, 4, coupled), "fine");
  EXPECT_THAT(imported(0, 0, 77), testing::HasSubstr("products 77"));
  EXPECT_THAT(imported(0, 4, -1), testing::HasSubstr("terms"));
  EXPECT_THAT(imported(0, 8, 1 << 30), testing::HasSubstr("terms"));
  EXPECT_THAT(imported(0, 8, 1), testing::HasSubstr("bytes"));
  const size_t offsets = static_cast<size_t>(cpu::widened_columns() / 2) * sizeof(int32_t);
  EXPECT_THAT(imported(1, offsets, 1 << 20), testing::HasSubstr("beyond their window"));
  EXPECT_THAT(imported(1, offsets, -1), testing::HasSubstr("beyond their window"));
}

}  // namespace
}  // namespace het::cpu_testing
