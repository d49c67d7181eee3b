#include "devices/cpu/products/depthwise.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/fuse.h"

#include <bit>

#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/guarded_memory.h"

namespace het {
namespace {

using cpu::DepthwiseOp;
using cpu::Format;
using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

/// Dimensions that are (height, width), pads that are (top, left, bottom, right).
struct Window {
  int64_t n, channels, ih, iw;
  Ints kernel, strides, dilations, pads;
  int64_t repeats = 1;  ///< channels of the result that read each of the source
};

const Window kWindows[] = {
    {1, 16, 14, 14, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {2, 32, 7, 7, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 21, 9, 23, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {1, 40, 15, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 17, 16, 15, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}},
    {1, 16, 5, 4, {3, 3}, {1, 1}, {1, 1}, {2, 2, 2, 2}},  // wider pads than one
    {1, 16, 1, 2, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // smaller than the filter
    {1, 24, 12, 30, {3, 3}, {1, 1}, {8, 8}, {8, 8, 8, 8}},
    {1, 16, 13, 20, {3, 3}, {1, 2}, {2, 3}, {2, 0, 1, 3}},
    {1, 19, 11, 17, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
    {1, 16, 7, 30, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
    {2, 24, 9, 31, {5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}},
    {1, 16, 4, 37, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 16, 11, 18, {5, 4}, {2, 3}, {1, 1}, {1, 2, 0, 1}},
    {1, 33, 8, 9, {1, 7}, {1, 1}, {1, 1}, {0, 3, 0, 3}},
    {1, 32, 10, 14, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {1, 18, 21, 33, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}},
    {1, 16, 9, 17, {5, 3}, {2, 1}, {1, 1}, {2, 1, 2, 1}},
    {1, 16, 9, 17, {1, 3}, {2, 1}, {1, 1}, {0, 1, 0, 1}},  // rows that no filter meets
    {1, 16, 14, 14, {5, 5}, {2, 2}, {1, 1}, {1, 1, 2, 2}},
    {1, 16, 4, 4, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},  // narrower than a tile
    {2, 37, 13, 12, {4, 5}, {1, 1}, {1, 1}, {1, 2, 2, 2}},
    {1, 32, 12, 15, {2, 7}, {2, 2}, {1, 1}, {0, 3, 1, 3}},
    {1, 16, 1, 9, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {1, 16, 6, 20, {3, 3}, {1, 1}, {1, 1}, {1, 4, 1, 3}},
    {2, 8, 9, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // fewer channels than a vector has
    {1, 3, 6, 5, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {1, 5, 8, 19, {7, 7}, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {1, 1, 8, 19, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
    {1, 16, 20, 18, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}, 2},
    {2, 24, 21, 15, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2},
    {1, 20, 9, 9, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 3},  // not all in one vector
    {1, 5, 9, 9, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 7},
    {1, 9, 6, 11, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, 4},
    {1, 40, 6, 11, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 5},
    {1, 3, 8, 16, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}},  // a row that no filter meets, at the end
    {1, 16, 20, 20, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 2},
    {1, 1, 6, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},  // the rest of the picture is short, too
    {1, 2, 6, 5, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {1, 1, 3, 3, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
};

cpu::ConvolutionSpec spec_of(const Window& w, ElementType type) {
  const auto size = [&](size_t d, int64_t in) {
    return (in + w.pads[d] + w.pads[d + 2] - w.dilations[d] * (w.kernel[d] - 1) - 1) /
               w.strides[d] +
           1;
  };
  cpu::ConvolutionSpec spec;
  spec.src = {type, {w.n, w.channels, w.ih, w.iw}, Format::Plain};
  spec.dst = {type, {w.n, w.channels * w.repeats, size(0, w.ih), size(1, w.iw)}, Format::Plain};
  spec.weights = {w.channels * w.repeats, 1, w.kernel[0], w.kernel[1]};
  spec.groups = w.channels;
  spec.strides = w.strides;
  spec.dilations = w.dilations;
  spec.pads_begin = {w.pads[0], w.pads[1]};
  spec.pads_end = {w.pads[2], w.pads[3]};
  return spec;
}

/// By the definition, in double precision, [n,c,oh,ow].
std::vector<double> convolve(const cpu::ConvolutionSpec& spec, const Tensor& src,
                             const Tensor& weights, const Tensor& bias) {
  std::vector<double> result;
  const Shape& in = spec.src.shape;
  const Shape& out = spec.dst.shape;
  const std::span<const float> x = src.values<float>();
  const std::span<const float> w = weights.values<float>();
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t c = 0; c < out[1]; ++c) {
      for (int64_t oy = 0; oy < out[2]; ++oy) {
        for (int64_t ox = 0; ox < out[3]; ++ox) {
          double sum = static_cast<double>(bias.values<float>()[static_cast<size_t>(c)]);
          for (int64_t ky = 0; ky < spec.weights[2]; ++ky) {
            for (int64_t kx = 0; kx < spec.weights[3]; ++kx) {
              const int64_t y = oy * spec.strides[0] + ky * spec.dilations[0] - spec.pads_begin[0];
              const int64_t z = ox * spec.strides[1] + kx * spec.dilations[1] - spec.pads_begin[1];
              if (y < 0 || y >= in[2] || z < 0 || z >= in[3]) continue;
              const auto tap = (c * spec.weights[2] + ky) * spec.weights[3] + kx;
              const auto pixel = ((n * in[1] + c * in[1] / out[1]) * in[2] + y) * in[3] + z;
              sum += static_cast<double>(x[static_cast<size_t>(pixel)]) *
                     static_cast<double>(w[static_cast<size_t>(tap)]);
            }
          }
          result.push_back(sum);
        }
      }
    }
  }
  return result;
}

/// Runs the kernel on memory in `format`; the result as plain floats.
Tensor run(const cpu::ConvolutionSpec& spec, Format format, const Tensor& src,
           const Tensor& weights, const Tensor& bias, std::vector<DepthwiseOp> ops,
           bool pairs = false) {
  auto shape = cpu::depthwise_shape(spec, format);
  EXPECT_TRUE(shape);
  if (!shape) return {};
  shape->multiplies_pairs = pairs;
  const Tensor in =
      guarded_copy(*cpu::convert_constant(src, {spec.src.type, spec.src.shape, format}));
  const cpu::TensorSpec dst{spec.dst.type, spec.dst.shape, format};
  Tensor out = *Tensor::allocate({spec.dst.type, {cpu::physical_count(dst)}});
  std::fill_n(out.bytes(), out.size_bytes(), std::byte{0x7F});
  const auto kernel = cpu::make_depthwise_kernel(*shape, weights, bias, std::move(ops));
  std::byte* inputs[] = {const_cast<std::byte*>(in.bytes())};
  std::byte* outputs[] = {out.bytes()};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  std::vector<std::byte> scratch(kernel->scratch_bytes());
  args.scratch = scratch.data();
  EXPECT_TRUE(kernel->execute(args, nullptr).ok());
  Tensor plain = *Tensor::allocate({ElementType::Float32, spec.dst.shape});
  const std::vector<float> values = *to_float_vector(out);
  const Shape& s = spec.dst.shape;
  const int64_t block = cpu::block_of(format);
  const int64_t blocks = (s[1] + block - 1) / block;
  for (int64_t n = 0; n < s[0]; ++n) {
    for (int64_t c = 0; c < (format == Format::ChannelsLast ? s[1] : blocks * block); ++c) {
      for (int64_t p = 0; p < s[2] * s[3]; ++p) {
        const int64_t at = format == Format::ChannelsLast
                               ? (n * s[2] * s[3] + p) * s[1] + c
                               : ((n * blocks + c / block) * s[2] * s[3] + p) * block + c % block;
        const float value = values[static_cast<size_t>(at)];
        if (c >= s[1]) {
          EXPECT_EQ(value, 0.0f) << "padded channel " << c;
        } else {
          plain.values<float>()[static_cast<size_t>((n * s[1] + c) * s[2] * s[3] + p)] = value;
        }
      }
    }
  }
  return plain;
}

TEST(Depthwise, EqualsTheDefinitionInAllFormatsAndTypes) {
  cpu_testing::on_each_instruction_set([] {
    for (const Window& window : kWindows) {
      for (const ElementType type : {ElementType::Float32, ElementType::BFloat16}) {
        const cpu::ConvolutionSpec spec = spec_of(window, type);
        Tensor src = random_tensor(spec.src.shape, 1);
        if (type == ElementType::BFloat16) {
          for (float& v : src.values<float>()) v = bfloat16_to_float(float_to_bfloat16(v));
        }
        const Tensor weights = random_tensor(spec.weights, 2);
        const Tensor bias = random_tensor({window.channels * window.repeats}, 3);
        const std::vector<double> wanted = convolve(spec, src, weights, bias);
        const double tolerance = type == ElementType::BFloat16 ? 4e-3 : 1e-6;
        for (const Format format : {Format::Blocked8, Format::Blocked16, Format::ChannelsLast}) {
          if (!cpu::depthwise_shape(spec, format)) continue;
          SCOPED_TRACE(fmt::format("{} {} {}", to_string(spec.src), to_string(spec.weights),
                                   to_string(format)));
          const Tensor got = run(spec, format, src, weights, bias, {});
          for (size_t i = 0; i < wanted.size(); ++i) {
            const double limit = tolerance * std::max(1.0, std::abs(wanted[i]));
            const auto value = static_cast<double>(got.values<float>()[i]);
            // Sums of taps that cancel keep the error of the largest.
            ASSERT_LE(std::abs(value - wanted[i]), limit * 8) << i;
          }
        }
      }
    }
  });
}

/// Threads take any units, some of a row and whole ones.
TEST(Depthwise, UnitsAreComputedInAnyParts) {
  cpu_testing::on_each_instruction_set([] {
    for (const Window& window : kWindows) {
      const cpu::ConvolutionSpec spec = spec_of(window, ElementType::Float32);
      const Tensor src = random_tensor(spec.src.shape, 1);
      const Tensor weights = random_tensor(spec.weights, 2);
      const Tensor bias = random_tensor({window.channels * window.repeats}, 3);
      for (const Format format : {Format::Blocked8, Format::Blocked16, Format::ChannelsLast}) {
        const auto shape = cpu::depthwise_shape(spec, format);
        if (!shape) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(spec.src), to_string(spec.weights),
                                 to_string(format)));
        const Tensor in = *cpu::convert_constant(src, {spec.src.type, spec.src.shape, format});
        const auto packed =
            cpu::pack_depthwise(*shape, weights.values<float>().data(), shape->taps());
        const auto shift = cpu::pack_depthwise(*shape, bias.values<float>().data(), 1);
        const auto count =
            static_cast<size_t>(cpu::physical_count({spec.dst.type, spec.dst.shape, format}));
        const int64_t units = cpu::depthwise_units(*shape);
        std::vector<float> scratch(static_cast<size_t>(cpu::depthwise_scratch_floats(*shape)));
        const auto in_parts = [&](int64_t part) {
          std::vector<float> result(count, std::numeric_limits<float>::quiet_NaN());
          for (int64_t begin = 0; begin < units; begin += part) {
            cpu::run_depthwise(*shape, in.bytes(), packed.data(), shift.data(), {}, begin,
                               std::min(begin + part, units), scratch.data(),
                               reinterpret_cast<std::byte*>(result.data()));
          }
          return result;
        };
        const std::vector<float> whole = in_parts(units);
        for (const int64_t part : {1, 3, 7}) EXPECT_EQ(in_parts(part), whole) << part;
      }
    }
  });
}

void round_to_bfloat16(Tensor& values) {
  for (float& v : values.values<float>()) v = bfloat16_to_float(float_to_bfloat16(v));
}

TEST(Depthwise, PairsOfRowsEqualTheDefinition) {
  int64_t tried = 0;
  cpu_testing::on_each_instruction_set([&] {
    for (const Window& window : kWindows) {
      for (const ElementType dst : {ElementType::Float32, ElementType::BFloat16}) {
        cpu::ConvolutionSpec spec = spec_of(window, ElementType::BFloat16);
        spec.dst.type = dst;
        const auto shape = cpu::depthwise_shape(spec, Format::ChannelsLast);
        ASSERT_TRUE(shape);
        if (!cpu::has_depthwise_pairs(*shape)) continue;
        ++tried;
        SCOPED_TRACE(fmt::format("{} {}", to_string(spec.src), to_string(spec.weights)));
        Tensor src = random_tensor(spec.src.shape, 1);
        Tensor weights = random_tensor(spec.weights, 2);
        round_to_bfloat16(src);
        round_to_bfloat16(weights);
        const Tensor bias = random_tensor({window.channels}, 3);
        const std::vector<double> wanted = convolve(spec, src, weights, bias);
        const Tensor got = run(spec, Format::ChannelsLast, src, weights, bias, {}, true);
        const double tolerance = dst == ElementType::BFloat16 ? 4e-3 : 2e-5;
        for (size_t i = 0; i < wanted.size(); ++i) {
          const auto value = static_cast<double>(got.values<float>()[i]);
          ASSERT_LE(std::abs(value - wanted[i]), tolerance * std::max(1.0, std::abs(wanted[i])))
              << i;
        }
      }
    }
  });
  if (tried == 0) GTEST_SKIP() << "this processor does not multiply pairs of bfloat16";
  EXPECT_GE(tried, 16);
}

TEST(Depthwise, OperationsBehindTheSum) {
  using Kind = DepthwiseOp::Kind;
  const Window window{1, 20, 5, 9, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  const cpu::ConvolutionSpec spec = spec_of(window, ElementType::Float32);
  const Tensor src = random_tensor(spec.src.shape, 1);
  const Tensor weights = random_tensor(spec.weights, 2);
  const Tensor bias = random_tensor({20}, 3);
  const std::vector<double> sums = convolve(spec, src, weights, bias);
  const Tensor slopes = random_tensor({20}, 4);
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  struct Case {
    std::vector<DepthwiseOp> ops;
    std::function<double(double, size_t)> wanted;
  };
  const double alpha = 0.25;
  cpu_testing::on_each_instruction_set([&] {
    const auto shape = cpu::depthwise_shape(spec, Format::Blocked16);
    ASSERT_TRUE(shape);
    const std::vector<float> packed = cpu::pack_depthwise(*shape, slopes.values<float>().data(), 1);
    const Case cases[] = {
        {{{Kind::PRelu, 0, 0, packed}},
         [&](double x, size_t c) {
           return x < 0 ? x * static_cast<double>(slopes.values<float>()[c]) : x;
         }},
        {{{Kind::Relu, 0.25f, 0, {}}}, [&](double x, size_t) { return x < 0 ? x * alpha : x; }},
        {{{Kind::Relu, 0, 0, {}}}, [](double x, size_t) { return std::max(x, 0.0); }},
        {{{Kind::Clip, -0.5f, 0.25f, {}}, {Kind::Linear, 0.25f, 0, {}}},
         [&](double x, size_t) { return std::clamp(x, -0.5, alpha) * alpha; }},
        {{{Kind::Clip, -0.5f, 0.25f, {}}},
         [&](double x, size_t) { return std::clamp(x, -0.5, alpha); }},
        {{{Kind::Linear, 0.25f, 0, {}}}, [&](double x, size_t) { return x * alpha; }},
        {{{Kind::HardSwish, 0, 0, {}}},
         [](double x, size_t) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
        {{{Kind::Swish, 0.25f, 0, {}}}, [&](double x, size_t) { return x * sigmoid(x * alpha); }},
        {{{Kind::Tanh, 0, 0, {}}}, [](double x, size_t) { return std::tanh(x); }},
        {{{Kind::GeluErf, 0, 0, {}}},
         [](double x, size_t) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
        {{{Kind::GeluTanh, 0, 0, {}}},
         [](double x, size_t) {
           return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
         }},
    };
    for (const Case& c : cases) {
      SCOPED_TRACE(fmt::format("{}", static_cast<int>(c.ops[0].kind)));
      // Padded channels are checked by run().
      const Tensor got = run(spec, Format::Blocked16, src, weights, bias, c.ops);
      for (size_t i = 0; i < sums.size(); ++i) {
        const double wanted = c.wanted(sums[i], i / 45);
        ASSERT_NEAR(static_cast<double>(got.values<float>()[i]), wanted, 1e-5) << i;
      }
    }
  });
}

/// NaN and infinities reach the sums whose filter meets them, and no others.
TEST(Depthwise, NonFiniteValuesGoWhereTheFilterDoes) {
  const Window windows[] = {
      {1, 20, 9, 30, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {1, 20, 9, 30, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
      {1, 20, 15, 30, {7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}},
      {1, 6, 9, 30, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
      {1, 10, 9, 30, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 2},
  };
  using Kind = DepthwiseOp::Kind;
  cpu_testing::on_each_instruction_set([&] {
    for (const Window& window : windows) {
      for (const ElementType type : {ElementType::Float32, ElementType::BFloat16}) {
        const cpu::ConvolutionSpec spec = spec_of(window, type);
        Tensor src = random_tensor(spec.src.shape, 1);
        for (float& v : src.values<float>()) v = bfloat16_to_float(float_to_bfloat16(v));
        const std::span<float> values = src.values<float>();
        const auto count = static_cast<size_t>(window.ih * window.iw);
        values[0] = std::numeric_limits<float>::quiet_NaN();
        values[count + count / 2] = std::numeric_limits<float>::infinity();
        values[3 * count - 1] = -std::numeric_limits<float>::infinity();
        // A NaN that carries something in its lowest bits (only float32 has those).
        values[3 * count] = std::bit_cast<float>(uint32_t{0x7FC00155});
        // In the last channel, which padded ones lie beside.
        values.back() = std::numeric_limits<float>::infinity();
        const Tensor weights = random_tensor(spec.weights, 2);
        const Tensor bias = random_tensor({window.channels * window.repeats}, 3);
        const std::vector<double> wanted = convolve(spec, src, weights, bias);
        for (const Format format : {Format::Blocked8, Format::Blocked16, Format::ChannelsLast}) {
          if (!cpu::depthwise_shape(spec, format)) continue;
          for (const Kind kind : {Kind::Linear, Kind::Tanh, Kind::GeluErf, Kind::Swish}) {
            SCOPED_TRACE(fmt::format("{} {} {} {}", to_string(spec.src), to_string(spec.weights),
                                     to_string(format), static_cast<int>(kind)));
            const Tensor got = run(spec, format, src, weights, bias, {{kind, 1.0f, 0.0f, {}}});
            for (size_t i = 0; i < wanted.size(); ++i) {
              const float value = got.values<float>()[i];
              if (std::isnan(wanted[i])) {
                ASSERT_TRUE(std::isnan(value)) << i;
              } else if (std::isfinite(wanted[i])) {
                ASSERT_TRUE(std::isfinite(value)) << i;
              } else if (kind == Kind::Linear) {
                ASSERT_EQ(static_cast<double>(value), wanted[i]) << i;
              } else if (kind == Kind::Tanh) {
                ASSERT_EQ(value, wanted[i] > 0.0 ? 1.0f : -1.0f) << i;
              } else if (wanted[i] > 0.0) {
                ASSERT_EQ(static_cast<double>(value), wanted[i]) << i;
              }
            }
          }
        }
      }
    }
  });
}

TEST(Depthwise, OperationsInBfloat16) {
  using Kind = DepthwiseOp::Kind;
  const Window window{1, 40, 9, 15, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}};
  const cpu::ConvolutionSpec spec = spec_of(window, ElementType::BFloat16);
  Tensor src = random_tensor(spec.src.shape, 1);
  for (float& v : src.values<float>()) v = bfloat16_to_float(float_to_bfloat16(v));
  const Tensor weights = random_tensor(spec.weights, 2, 0.5f);
  const Tensor bias = random_tensor({40}, 3);
  const std::vector<double> sums = convolve(spec, src, weights, bias);
  cpu_testing::on_each_instruction_set([&] {
    for (const Kind kind :
         {Kind::Sigmoid, Kind::Swish, Kind::Tanh, Kind::GeluErf, Kind::GeluTanh}) {
      SCOPED_TRACE(fmt::format("{}", static_cast<int>(kind)));
      const Tensor got =
          run(spec, Format::ChannelsLast, src, weights, bias, {{kind, 1.0f, 0.0f, {}}});
      for (size_t i = 0; i < sums.size(); ++i) {
        const double x = sums[i];
        const double sigmoid = 1 / (1 + std::exp(-x));
        const double inner = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
        const double wanted = kind == Kind::Sigmoid   ? sigmoid
                              : kind == Kind::Swish   ? x * sigmoid
                              : kind == Kind::Tanh    ? std::tanh(x)
                              : kind == Kind::GeluErf ? x / 2 * (1 + std::erf(x / std::sqrt(2.0)))
                                                      : x / 2 * (1 + std::tanh(inner));
        ASSERT_NEAR(static_cast<double>(got.values<float>()[i]), wanted,
                    8e-3 * std::max(1.0, std::abs(wanted)))
            << i;
      }
    }
  });
}

TEST(Depthwise, RefusesWhatItCannotDo) {
  using Kind = cpu::PostOp::Kind;
  cpu::ConvolutionSpec spec = spec_of(kWindows[2], ElementType::Float32);
  const auto shape = cpu::depthwise_shape(spec, Format::Blocked16);
  ASSERT_TRUE(shape);
  EXPECT_TRUE(cpu::depthwise_ops(*shape, {{Kind::Clip, 0.0f, 6.0f}}));
  EXPECT_FALSE(cpu::depthwise_ops(*shape, {{Kind::Sum, 1.0f, 0.0f}}));
  // 21 channels leave 11 of a block that must stay 0.
  EXPECT_FALSE(cpu::depthwise_ops(*shape, {{Kind::Clip, 1.0f, 6.0f}}));
  EXPECT_FALSE(cpu::depthwise_ops(*shape, {{Kind::Sigmoid, 0.0f, 0.0f}}));
  spec.weights[1] = 2;
  EXPECT_FALSE(cpu::depthwise_shape(spec, Format::Blocked16));
  // One channel that all of the result read is a dense convolution.
  Window one = kWindows[0];
  one.channels = 1;
  EXPECT_TRUE(cpu::depthwise_shape(spec_of(one, ElementType::Float32), Format::Blocked16));
  one.repeats = 16;
  EXPECT_FALSE(cpu::depthwise_shape(spec_of(one, ElementType::Float32), Format::Blocked16));
}

class CpuDepthwise : public CpuTest {};

TEST_F(CpuDepthwise, TakesSlopesPerChannel) {
  ModelMaker maker;
  Value* x = maker.input({1, 20, 9, 11});
  Value* y = maker.op("Conv", {x, maker.random({20, 1, 3, 3}), maker.random({20})},
                      make_attributes({{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{20}}}));
  Value* z = maker.op("PRelu", {y, maker.random({20, 1, 1})});
  maker.output(maker.op("Relu", {z}));
  const std::unique_ptr<Model> model = maker.model().clone();
  ASSERT_TRUE(prepare_model(*model).ok());
  ASSERT_TRUE(cpu::fuse_tails(*model).ok());
  model->remove_unused();
  ASSERT_TRUE(model->sort().ok());
  EXPECT_EQ("\n" + print_model(*model), R"(
input x0 : float32[1,20,9,11]
PRelu1_y_2 = het.Conv(x0, c0=float32[20,1,3,3], c1=float32[20], -, c2=float32[20,1,1]) {group=20 pads=[1,1,1,1]} : float32[1,20,9,11]
Relu2_y = Relu(PRelu1_y_2) : float32[1,20,9,11]
output y0 = Relu2_y
)");
  const std::string ran = implementation(compare(maker.model()), "Conv0");
  EXPECT_EQ(ran.rfind("own_dw", 0), 0u) << ran;
}

TEST_F(CpuDepthwise, LargeDilationsDoNotFallBackToProducts) {
  // oneDNN has generated code only where dilated taps reach over no more than the padding.
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 24, 32, 40}), 24, 24);
  Value* y = maker.op(
      "Conv", {x, maker.random({24, 1, 3, 3}), maker.random({24})},
      make_attributes(
          {{"pads", Ints{8, 8, 8, 8}}, {"dilations", Ints{8, 8}}, {"group", int64_t{24}}}));
  maker.output(maker.op("Relu", {y}));
  const std::string ran = implementation(compare(maker.model()), "Conv1");
  EXPECT_EQ(ran.find("gemm"), std::string::npos) << ran;
  EXPECT_EQ(ran.find("ref"), std::string::npos) << ran;
}

TEST_F(CpuDepthwise, SeveralResultsOfAChannelDoNotFallBackToProducts) {
  for (const char* precision : {"f32", "bf16"}) {
    if (std::string_view(precision) == "bf16" && !cpu::has_bfloat16()) continue;
    ModelMaker maker;
    Value* x = maker.conv(maker.input({1, 24, 20, 20}), 24, 24);
    x = maker.op(
        "Conv", {x, maker.random({48, 1, 7, 7}, 0.2f), maker.random({48})},
        make_attributes(
            {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}, {"group", int64_t{24}}}));
    maker.output(maker.conv(x, 48, 8));
    const bool is_float = std::string_view(precision) == "f32";
    const Properties properties{{"INFERENCE_PRECISION_HINT", precision}};
    const auto rows = compare(maker.model(), is_float ? 2e-5f : 0.03f, properties);
    EXPECT_EQ(implementation(rows, "Conv1").rfind("own_dw", 0), 0u) << precision;
  }
}

TEST_F(CpuDepthwise, ActivationsRunInOurTail) {
  if (cpu::depthwise_lanes() < 16) GTEST_SKIP() << "the rule takes oneDNN's without AVX-512";
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 32, 14, 15}), 32, 32);
  constexpr const char* kTypes[] = {"Relu", "Sigmoid", "HardSwish", "Tanh", "Gelu"};
  for (const char* type : kTypes) {
    Value* y = maker.op("Conv", {x, maker.random({32, 1, 5, 5}, 0.3f), maker.random({32})},
                        make_attributes({{"pads", Ints{2, 2, 2, 2}}, {"group", int64_t{32}}}));
    maker.output(maker.conv(maker.op(type, {y}), 32, 8));
  }
  const auto rows = compare(maker.model());
  EXPECT_EQ(std::ranges::count_if(
                rows, [](const ProfileRow& row) { return row.exec_type.starts_with("own_dw"); }),
            5);
  for (const char* type : kTypes) EXPECT_EQ(count_type(rows, type), 0u) << type;
}

/// Two rows are multiplied together only where no NaN of the one can reach the other's results.
TEST_F(CpuDepthwise, NonFiniteRowsStayApartInBfloat16) {
  const Properties properties{{"INFERENCE_PRECISION_HINT", "bf16"}};
  ModelMaker maker;
  Value* x = maker.input({1, 24, 12, 13});
  maker.output(maker.op("Conv", {x, maker.random({24, 1, 5, 5}, 0.3f), maker.random({24})},
                        make_attributes({{"pads", Ints{2, 2, 2, 2}}, {"group", int64_t{24}}})));
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  const auto rows = compare(maker.model(), 0.03f, properties);
  const std::string ran = implementation(rows, "Conv0");
  const auto compiled = compile(maker.model(), properties);
  const auto reference = ref_->compile_model(maker.model(), {}, nullptr);
  ASSERT_TRUE(compiled != nullptr && reference);
  for (const float special :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Tensor in = random_tensor({1, 24, 12, 13}, 5);
    in.values<float>()[13 * 12 * 3 + 13 * 5 + 6] = special;
    const auto got = *to_float_vector(infer(*compiled, {in})[0]);
    const auto wanted = *to_float_vector(infer(**reference, {in})[0]);
    for (size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(wanted[i])) << i << " by " << ran;
      ASSERT_EQ(std::isinf(got[i]), std::isinf(wanted[i])) << i << " by " << ran;
    }
  }
  // The faster kernel is taken where the processor has it.
  const auto shape = cpu::depthwise_shape(
      spec_of({1, 24, 12, 13, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}}, ElementType::BFloat16),
      Format::ChannelsLast);
  ASSERT_TRUE(shape);
  EXPECT_EQ(ran.rfind("own_dw_pairs", 0) == 0, cpu::has_depthwise_pairs(*shape)) << ran;
}

TEST_F(CpuDepthwise, Bfloat16OfAllTails) {
  const Properties properties{{"INFERENCE_PRECISION_HINT", "bf16"}};
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 24, 12, 13}), 24, 24);
  for (const char* type : {"Relu", "Sigmoid", "HardSwish", "Tanh"}) {
    Value* y = maker.op("Conv", {x, maker.random({24, 1, 3, 3}, 0.3f), maker.random({24})},
                        make_attributes({{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{24}}}));
    maker.output(maker.conv(maker.op(type, {y}), 24, 8));
  }
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  const auto rows = compare(maker.model(), 0.03f, properties);
  EXPECT_EQ(implementation(rows, "Conv1").rfind("own_dw", 0), 0u);
}

}  // namespace
}  // namespace het
