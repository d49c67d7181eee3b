#include "devices/cpu/products/winograd.h"
#include "devices/cpu/loops/simd_target.h"

#include <hwy/targets.h>

#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "inference/tensors/buffer.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu::WinogradShape;
using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

struct Picture {
  int64_t n, ic, ih, iw, oc;
  int64_t pad_top, pad_left, pad_bottom, pad_right;
};

struct Case {
  int64_t m;
  bool late;
  int64_t block;
  int threads;
  int64_t stride = 1;
};

/// Convolution by the definition, in double precision, with the sums of magnitudes.
struct Definition {
  std::vector<double> values;
  std::vector<double> magnitudes;
};

Definition convolve(const WinogradShape& s, const Tensor& src, const Tensor& weights,
                    const Tensor& bias) {
  Definition result;
  const float* x = src.values<float>().data();
  const float* w = weights.values<float>().data();
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t oc = 0; oc < s.oc; ++oc) {
      const auto b = static_cast<double>(bias.values<float>()[static_cast<size_t>(oc)]);
      for (int64_t oy = 0; oy < s.oh; ++oy) {
        for (int64_t ox = 0; ox < s.ow; ++ox) {
          double sum = b;
          double magnitude = std::abs(b);
          for (int64_t ic = 0; ic < s.ic; ++ic) {
            for (int64_t k = 0; k < 9; ++k) {
              const int64_t y = oy * s.stride + k / 3 - s.pad_top;
              const int64_t xx = ox * s.stride + k % 3 - s.pad_left;
              if (y < 0 || y >= s.ih || xx < 0 || xx >= s.iw) continue;
              const double product =
                  static_cast<double>(x[((n * s.ic + ic) * s.ih + y) * s.iw + xx]) *
                  static_cast<double>(w[(oc * s.ic + ic) * 9 + k]);
              sum += product;
              magnitude += std::abs(product);
            }
          }
          result.values.push_back(sum);
          result.magnitudes.push_back(magnitude);
        }
      }
    }
  }
  return result;
}

WinogradShape shape_of(const Picture& p, const Case& c) {
  WinogradShape shape;
  shape.m = c.m;
  shape.stride = c.stride;
  shape.late_weights = c.late;
  shape.block = c.block;
  shape.n = p.n;
  shape.ic = p.ic;
  shape.ih = p.ih;
  shape.iw = p.iw;
  shape.oc = p.oc;
  shape.pad_top = p.pad_top;
  shape.pad_left = p.pad_left;
  shape.oh = (p.ih + p.pad_top + p.pad_bottom - 3) / c.stride + 1;
  shape.ow = (p.iw + p.pad_left + p.pad_right - 3) / c.stride + 1;
  return shape;
}

/// Runs a kernel on blocked memory; `dst` holds what a sum adds and receives the result.
void run(const WinogradShape& shape, const Tensor& src, const Tensor& weights, const Tensor& bias,
         const FusedTail& tail, Tensor& dst) {
  const cpu::Format format = shape.block == 16 ? cpu::Format::Blocked16 : cpu::Format::Blocked8;
  Tensor blocked = *cpu::convert_constant(src, {ElementType::Float32, src.shape(), format});
  auto kernel = cpu::make_winograd_kernel(shape, weights, bias, tail);
  ASSERT_TRUE(kernel) << kernel.error().message();
  const BufferPtr scratch = *allocate_host_buffer((*kernel)->scratch_bytes());
  std::fill_n(reinterpret_cast<float*>(scratch->host()), (*kernel)->scratch_bytes() / 4,
              std::numeric_limits<float>::quiet_NaN());
  std::byte* inputs[] = {blocked.bytes(), dst.bytes()};
  std::byte* outputs[] = {dst.bytes()};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  args.scratch = scratch->host();
  ASSERT_TRUE((*kernel)->execute(args, nullptr).ok());
}

/// Values of [n,oc,oh,ow] in blocked memory.
size_t position(const WinogradShape& s, int64_t n, int64_t c, int64_t y, int64_t x) {
  const int64_t block = n * s.oc_blocks() + c / s.block;
  return static_cast<size_t>(((block * s.oh + y) * s.ow + x) * s.block + c % s.block);
}

/// The largest error in terms of the largest sum of magnitudes of the same tile: values of a tile
/// take part in all of its results and cancel in exact arithmetic only. Padding has to be 0.
double largest_error(const WinogradShape& s, const Definition& wanted, const Tensor& dst) {
  const std::span<const float> got = dst.values<float>();
  double largest = 0.0;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t c = 0; c < s.oc_blocks() * s.block; ++c) {
      for (int64_t t = 0; t < s.tiles_down() * s.tiles_across(); ++t) {
        const WinogradShape::Tile tile = s.tile(t);
        double error = 0.0;
        double magnitude = 0.0;
        for (int64_t y = tile.y; y < std::min(tile.y + s.m, s.oh); ++y) {
          for (int64_t x = tile.x; x < std::min(tile.x + s.m, s.ow); ++x) {
            const auto value = static_cast<double>(got[position(s, n, c, y, x)]);
            if (c >= s.oc) {
              EXPECT_EQ(value, 0.0) << "padded channel " << c;
              continue;
            }
            const auto i = static_cast<size_t>(((n * s.oc + c) * s.oh + y) * s.ow + x);
            // Written so that NaN counts.
            error = error >= std::abs(value - wanted.values[i])
                        ? error
                        : std::abs(value - wanted.values[i]);
            magnitude = std::max(magnitude, wanted.magnitudes[i]);
          }
        }
        if (c < s.oc && !(error <= magnitude * largest)) largest = error / magnitude;
      }
    }
  }
  return largest;
}

Tensor filled_dst(const WinogradShape& s, float value) {
  Tensor dst =
      *Tensor::allocate({ElementType::Float32, {s.n, s.oc_blocks() * s.block, s.oh, s.ow}});
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t c = 0; c < s.oc_blocks() * s.block; ++c) {
      for (int64_t i = 0; i < s.oh * s.ow; ++i) {
        dst.values<float>()[position(s, n, c, i / s.ow, i % s.ow)] = c < s.oc ? value : 0.0f;
      }
    }
  }
  return dst;
}

/// Normal values, or ones over seven decades with a few large ones between them.
Tensor source(const WinogradShape& s, bool wide) {
  Tensor src = random_tensor({s.n, s.ic, s.ih, s.iw}, 5);
  if (!wide) return src;
  std::mt19937 generator(9);
  std::uniform_real_distribution<float> decades(-4.0f, 3.0f);
  for (float& value : src.values<float>()) value *= std::pow(10.0f, decades(generator));
  return src;
}

class Winograd : public testing::TestWithParam<Case> {
 protected:
 private:
  const cpu_testing::TeamScope team_{GetParam().threads};
};

// The last has more tiles than a set and more channels than are transformed at a time.
const Picture kPictures[] = {
    {1, 16, 1, 1, 16, 1, 1, 1, 1},    {1, 16, 7, 7, 64, 1, 1, 1, 1},
    {2, 20, 9, 13, 40, 1, 1, 1, 1},   {1, 33, 6, 5, 17, 0, 0, 0, 0},
    {3, 24, 11, 3, 16, 0, 1, 2, 0},   {1, 40, 3, 30, 72, 2, 0, 0, 1},
    {1, 400, 36, 37, 16, 1, 1, 1, 1},
};

/// What a convolution of a picture reads and has to give.
struct Sample {
  Tensor src, weights, bias;
  Definition wanted;
};

/// Made once: the definition is slow.
const Sample& sample(size_t picture, bool wide, int64_t stride) {
  static std::map<std::tuple<size_t, bool, int64_t>, Sample> samples;
  Sample& made = samples[{picture, wide, stride}];
  if (!made.src.empty()) return made;
  const WinogradShape shape = shape_of(kPictures[picture], {2, false, 16, 1, stride});
  made.src = source(shape, wide);
  made.weights = random_tensor({shape.oc, shape.ic, 3, 3}, 6, 0.1f);
  made.bias = random_tensor({shape.oc}, 7);
  made.wanted = convolve(shape, made.src, made.weights, made.bias);
  return made;
}

TEST_P(Winograd, ErrorsAreWithinTheBound) {
  const double bound = cpu::winograd_error_bound(GetParam().m);
  double worst = 0.0;
  for (size_t i = 0; i < std::size(kPictures); ++i) {
    for (const bool wide : {false, true}) {
      const WinogradShape shape = shape_of(kPictures[i], GetParam());
      const Sample& s = sample(i, wide, shape.stride);
      Tensor dst = filled_dst(shape, std::numeric_limits<float>::quiet_NaN());
      run(shape, s.src, s.weights, s.bias, {}, dst);
      const double error = largest_error(shape, s.wanted, dst);
      EXPECT_LE(error, bound) << "picture " << i << (wide ? ", wide" : "");
      worst = std::max(worst, error);
    }
  }
  RecordProperty("worst", fmt::format("{:.2e}", worst));
}

TEST_P(Winograd, TailsApplyInOrder) {
  const TailStep sum{true, {}};
  const TailStep relu{false, {ElementwiseKind::Relu, 0, 0, 0.0f, 0.0f}};
  const TailStep leaky{false, {ElementwiseKind::Relu, 0, 0, 0.25f, 0.0f}};
  const TailStep relu6{false, {ElementwiseKind::Clip, 0, 0, 0.0f, 6.0f}};
  const TailStep above{false, {ElementwiseKind::Clip, 0, 0, 1.0f, 2.0f}};
  const TailStep linear{false, {ElementwiseKind::Linear, 0, 0, 2.0f, 1.0f}};
  const auto relu_of = [](double v) { return std::max(v, 0.0); };
  struct Tail {
    FusedTail steps;
    std::function<double(double)> value;
  };
  const Tail tails[] = {
      {{relu}, relu_of},
      {{sum}, [](double v) { return v + 3.0; }},
      {{sum, relu}, [&](double v) { return relu_of(v + 3.0); }},
      {{relu6}, [](double v) { return std::clamp(v, 0.0, 6.0); }},
      {{above}, [](double v) { return std::clamp(v, 1.0, 2.0); }},
      {{leaky}, [](double v) { return v < 0.0 ? 0.25 * v : v; }},
      {{relu, linear}, [&](double v) { return 2.0 * relu_of(v) + 1.0; }},
      {{sum, linear, relu}, [&](double v) { return relu_of(2.0 * (v + 3.0) + 1.0); }},
  };
  const WinogradShape shape = shape_of({2, 20, 9, 13, 40, 1, 1, 1, 1}, GetParam());
  const Tensor src = source(shape, false);
  const Tensor weights = random_tensor({shape.oc, shape.ic, 3, 3}, 6, 0.2f);
  const Tensor bias = random_tensor({shape.oc}, 7);
  const Definition plain = convolve(shape, src, weights, bias);
  for (const Tail& tail : tails) {
    Definition wanted = plain;
    for (double& value : wanted.values) value = tail.value(value);
    for (double& magnitude : wanted.magnitudes) magnitude = 2.0 * magnitude + 7.0;
    Tensor dst = filled_dst(shape, 3.0f);
    run(shape, src, weights, bias, tail.steps, dst);
    EXPECT_LE(largest_error(shape, wanted, dst), cpu::winograd_error_bound(shape.m))
        << "tail " << &tail - tails;
  }
}

TEST(StridedWinograd, EveryPaddingOfOddAndEvenSizes) {
  for (const int64_t m : {2, 4}) {
    for (int pads = 0; pads < 81; ++pads) {
      for (const int64_t size : {7, 8}) {
        const Picture picture = {1,        16,           size,         17 - size,    16,
                                 pads % 3, pads / 3 % 3, pads / 9 % 3, pads / 27 % 3};
        const WinogradShape shape = shape_of(picture, {m, false, 16, 1, 2});
        const Tensor src = source(shape, false);
        const Tensor weights = random_tensor({shape.oc, shape.ic, 3, 3}, 6, 0.2f);
        const Tensor bias = random_tensor({shape.oc}, 7);
        Tensor dst = filled_dst(shape, std::numeric_limits<float>::quiet_NaN());
        run(shape, src, weights, bias, {}, dst);
        EXPECT_LE(largest_error(shape, convolve(shape, src, weights, bias), dst),
                  cpu::winograd_error_bound(m))
            << "m = " << m << ", pads " << pads << ", " << size;
      }
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int64_t stride : {1, 2}) {
    for (const int64_t m : {2, 4, 6}) {
      if (stride == 2 && m == 6) continue;
      for (const bool late : {false, true}) {
        for (const int64_t block : {8, 16}) {
          for (const int threads : {1, 2}) all.push_back({m, late, block, threads, stride});
        }
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Winograd, testing::ValuesIn(cases()), [](const auto& instance) {
  const Case& c = instance.param;
  return fmt::format("F{}{}{}Block{}Threads{}", c.m, c.stride == 2 ? "Stride2" : "",
                     c.late ? "Late" : "Packed", c.block, c.threads);
});

/// Makes Highway's dispatch choose one instruction set while it lives.
class ChosenTarget {
 public:
  explicit ChosenTarget(int64_t target) { choose(target); }
  ~ChosenTarget() { choose(0); }

 private:
  static void choose(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

TEST(WinogradTargets, EveryInstructionSetIsWithinTheBound) {
  std::set<std::string> seen;
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON, HWY_SCALAR}) {
    if ((hwy::SupportedTargets() & target) == 0) continue;
    const ChosenTarget chosen(target);
    seen.insert(cpu::simd_target());
    for (const Case& c : cases()) {
      const WinogradShape shape = shape_of(kPictures[2], c);
      const Sample& s = sample(2, false, shape.stride);
      Tensor dst = filled_dst(shape, 0.0f);
      run(shape, s.src, s.weights, s.bias, {}, dst);
      EXPECT_LE(largest_error(shape, s.wanted, dst), cpu::winograd_error_bound(shape.m))
          << cpu::simd_target() << ", m = " << c.m << ", block " << c.block << ", stride "
          << c.stride;
    }
  }
#ifndef HET_NATIVE_DISPATCH
  if ((hwy::SupportedTargets() & HWY_AVX2) != 0) {
    EXPECT_EQ(seen.count("avx2"), 1u);
  }
  if ((hwy::SupportedTargets() & HWY_NEON) != 0) {
    EXPECT_EQ(seen.count("neon"), 1u);
  }
#endif
}

/// A picture in memory between values that are not numbers: what reads beyond it, or writes there,
/// shows.
class GuardedPicture {
 public:
  GuardedPicture(cpu::WinogradPicture picture, int64_t block, const Shape& shape)
      : spec_{picture.type, shape,
              picture.channels_last ? cpu::Format::ChannelsLast
              : block == 16         ? cpu::Format::Blocked16
                                    : cpu::Format::Blocked8},
        count_(cpu::physical_count(spec_)),
        memory_(*Tensor::allocate({picture.type, {count_ + 2 * kGuards}})) {
    std::memset(memory_.bytes(), 0xFF, memory_.size_bytes());
  }

  /// What `plain` is in this type and format.
  void fill(const Tensor& plain) {
    const Tensor content = *cpu::convert_constant(plain, spec_);
    std::memcpy(begin(), content.bytes(), content.size_bytes());
  }
  std::byte* begin() {
    const auto size = static_cast<int64_t>(memory_.size_bytes()) / (count_ + 2 * kGuards);
    return memory_.bytes() + kGuards * size;
  }
  /// The tensor as it lies.
  std::vector<float> values() const {
    const std::vector<float> all = *to_float_vector(memory_);
    return {all.begin() + kGuards, all.end() - kGuards};
  }
  /// Where a channel of a pixel is, those that fill up the last block included.
  size_t index(const WinogradShape& s, int64_t n, int64_t c, int64_t y, int64_t x) const {
    if (spec_.format != cpu::Format::ChannelsLast) return position(s, n, c, y, x);
    return static_cast<size_t>(((n * s.oh + y) * s.ow + x) * s.oc + c);
  }
  bool guards_are_kept() const {
    const std::vector<float> all = *to_float_vector(memory_);
    const auto is_nan = [](float value) { return std::isnan(value); };
    return std::all_of(all.begin(), all.begin() + kGuards, is_nan) &&
           std::all_of(all.end() - kGuards, all.end(), is_nan);
  }

 private:
  static constexpr int64_t kGuards = 64;

  cpu::TensorSpec spec_;
  int64_t count_;
  Tensor memory_;
};

double tail_value(const FusedTail& tail, double value, double sum) {
  for (const TailStep& step : tail) {
    const ElementwiseInstruction& op = step.expression;
    if (step.sum) {
      value += sum;
    } else if (op.kind == ElementwiseKind::Relu) {
      value = std::max(value, 0.0);
    } else if (op.kind == ElementwiseKind::Swish) {
      value = value / (1.0 + std::exp(-value));
    } else {
      ADD_FAILURE() << "a step that this test does not know";
    }
  }
  return value;
}

Tensor converted(const Tensor& tensor, ElementType type) {
  return *cpu::convert_constant(tensor, {type, tensor.shape(), cpu::Format::Plain});
}

/// Every pair of types and formats, over channels that fill blocks and that do not.
void expect_pictures(const WinogradShape& base, const FusedTail& tail) {
  const Tensor plain = source(base, false);
  const Tensor weights = random_tensor({base.oc, base.ic, 3, 3}, 6, 0.1f);
  const Tensor bias = random_tensor({base.oc}, 7);
  const Tensor sum = random_tensor({base.n, base.oc, base.oh, base.ow}, 8);
  const Shape src_shape = {base.n, base.ic, base.ih, base.iw};
  for (const ElementType src_type : {ElementType::Float32, ElementType::BFloat16}) {
    if (base.stride == 2 && src_type != ElementType::Float32) continue;
    const Tensor rounded = converted(converted(plain, src_type), ElementType::Float32);
    const Definition wanted = convolve(base, rounded, weights, bias);
    for (const ElementType dst_type : {ElementType::Float32, ElementType::BFloat16}) {
      if (base.stride == 2 && dst_type != ElementType::Float32) continue;
      const std::vector<float> added = *to_float_vector(converted(sum, dst_type));
      for (int formats = 0; formats < 4; ++formats) {
        WinogradShape s = base;
        s.src = {src_type, (formats & 1) != 0};
        s.dst = {dst_type, (formats & 2) != 0};
        SCOPED_TRACE(testing::Message()
                     << cpu::simd_target() << ", F" << s.m << ", block " << s.block << ", stride "
                     << s.stride << ", " << to_string(src_type) << " to " << to_string(dst_type)
                     << ", formats " << formats);
        GuardedPicture src(s.src, s.block, src_shape);
        GuardedPicture dst(s.dst, s.block, sum.shape());
        src.fill(plain);
        dst.fill(sum);
        auto kernel = cpu::make_winograd_kernel(s, weights, bias, tail);
        ASSERT_TRUE(kernel) << kernel.error().message();
        const BufferPtr scratch = *allocate_host_buffer((*kernel)->scratch_bytes());
        std::byte* inputs[] = {src.begin(), dst.begin()};
        std::byte* outputs[] = {dst.begin()};
        cpu::KernelArgs args;
        args.inputs = inputs;
        args.outputs = outputs;
        args.scratch = scratch->host();
        ASSERT_TRUE((*kernel)->execute(args, nullptr).ok());
        EXPECT_TRUE(dst.guards_are_kept());
        const double largest =
            *std::max_element(wanted.magnitudes.begin(), wanted.magnitudes.end());
        const int64_t channels = s.dst.channels_last ? s.oc : s.oc_blocks() * s.block;
        const std::vector<float> made = dst.values();
        int wrong = 0;
        for (int64_t n = 0; n < s.n; ++n) {
          for (int64_t c = 0; c < channels; ++c) {
            for (int64_t i = 0; i < s.oh * s.ow; ++i) {
              const auto got = static_cast<double>(made[dst.index(s, n, c, i / s.ow, i % s.ow)]);
              const auto k = static_cast<size_t>((n * s.oc + c) * s.oh * s.ow + i);
              const double right = c < s.oc ? tail_value(tail, wanted.values[k], added[k]) : 0.0;
              // Halves of the last bit that is kept, and those of the sum in front.
              const double kept = dst_type == ElementType::BFloat16 ? std::abs(right) / 256 : 0.0;
              const double bound =
                  c < s.oc ? kept + 2.0 * cpu::winograd_error_bound(s.m) * largest : 0.0;
              if (!(std::abs(got - right) <= bound)) ++wrong;
            }
          }
        }
        EXPECT_EQ(wrong, 0);
      }
    }
  }
}

TEST(WinogradPictures, EveryTypeAndFormat) {
  const TailStep sum{true, {}};
  const TailStep relu{false, {ElementwiseKind::Relu, 0, 0, 0.0f, 0.0f}};
  const TailStep swish{false, {ElementwiseKind::Swish, 0, 0, 1.0f, 0.0f}};
  const std::vector<FusedTail> tails = {{}, {sum, relu}, {swish}, {sum, swish}};
  // Channels of whole blocks, with a part of one, and of one vector with AVX2 only.
  const Picture pictures[] = {
      {1, 32, 8, 8, 32, 1, 1, 1, 1}, {2, 20, 9, 13, 41, 1, 1, 1, 1}, {1, 33, 6, 5, 17, 0, 2, 1, 0}};
  size_t next = 0;
  for (const int64_t target : {int64_t{0}, int64_t{HWY_AVX2}, int64_t{HWY_SSE4}}) {
    if (target != 0 && (hwy::SupportedTargets() & target) == 0) continue;
    const ChosenTarget chosen(target);
    for (const Picture& picture : pictures) {
      for (const int64_t m : {2, 4, 6}) {
        for (const int64_t block : {8, 16}) {
          expect_pictures(shape_of(picture, {m, block == 8, block, 1}), tails[next % 4]);
          if (m < 6) {
            expect_pictures(shape_of(picture, {m, block == 16, block, 1, 2}), tails[next % 4]);
          }
          ++next;
        }
      }
    }
  }
}

TEST_F(CpuTest, ConvolutionsOf3x3InBFloat16RunAsWinograd) {
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  for (const char* threads : {"1", "2"}) {
    ModelMaker maker;
    Value* x = maker.input({1, 64, 33, 30});
    Value* a = maker.op("Relu", {maker.conv(x, 64, 72, 3)});
    Value* b = maker.conv(a, 72, 72, 3);
    b = maker.op("Mul", {b, maker.op("Sigmoid", {b})});
    Value* c = maker.op("Relu", {maker.op("Add", {maker.conv(b, 72, 72, 3), a})});
    maker.output(maker.op("GlobalAveragePool", {c}));
    const auto rows = compare(maker.model(), 2e-2f,
                              {{"INFERENCE_NUM_THREADS", threads},
                               {"NUM_STREAMS", "1"},
                               {"INFERENCE_PRECISION_HINT", "bf16"}});
    size_t found = 0;
    for (const ProfileRow& row : rows) {
      found += row.exec_type.rfind("winograd_f4", 0) == 0 ? 1 : 0;
    }
    // Tiles of AMX are faster than any of it.
    EXPECT_EQ(found, cpu::bfloat16_speed() > 2.0 ? 0u : 3u);
  }
}

TEST_F(CpuTest, ConvolutionsOf3x3RunAsWinograd) {
  for (const char* threads : {"1", "2"}) {
    ModelMaker maker;
    Value* x = maker.input({2, 20, 27, 29});
    Value* a = maker.op("Relu", {maker.conv(x, 20, 72, 3)});
    Value* b = maker.op("Sigmoid", {maker.conv(a, 72, 72, 3)});
    Value* c = maker.op("Relu", {maker.op("Add", {maker.conv(b, 72, 72, 3), a})});
    maker.output(c);
    maker.output(maker.op("GlobalAveragePool", {b}));
    const Properties properties = {{"INFERENCE_NUM_THREADS", threads}, {"NUM_STREAMS", "1"}};
    const auto rows = compare(maker.model(), 2e-5f, properties);
    EXPECT_EQ(count_type(rows, "Conv"), 3u);
    for (const ProfileRow& row : rows) {
      if (row.layer_type != "Conv" || row.status != ProfileStatus::Executed) continue;
      EXPECT_EQ(row.exec_type.rfind("winograd_f", 0), 0u) << row.node_name << " " << row.exec_type;
    }
  }
}

TEST_F(CpuTest, AccuracyKeepsTheDirectConvolutionAndTheGraph) {
  ModelMaker maker;
  Value* x = maker.input({1, 64, 28, 28});
  maker.output(maker.op("Relu", {maker.conv(x, 64, 64, 3)}));
  const auto fast = compare(maker.model());
  const auto accurate = compare(maker.model(), 2e-6f, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  ASSERT_EQ(fast.size(), accurate.size());
  for (size_t i = 0; i < fast.size(); ++i) {
    EXPECT_EQ(fast[i].node_name, accurate[i].node_name);
    EXPECT_EQ(fast[i].layer_type, accurate[i].layer_type);
    EXPECT_EQ(fast[i].status, accurate[i].status);
    EXPECT_EQ(accurate[i].exec_type.find("winograd"), std::string::npos);
  }
  EXPECT_TRUE(std::any_of(fast.begin(), fast.end(), [](const ProfileRow& row) {
    return row.exec_type.rfind("winograd_f4", 0) == 0;
  }));
}

TEST_F(CpuTest, OtherConvolutionsAreNoWinogradOnes) {
  struct Window {
    Ints kernel, strides, dilations;
    int64_t group;
  };
  for (const Window& w : {Window{{3, 3}, {2, 1}, {1, 1}, 1}, Window{{3, 3}, {1, 1}, {1, 2}, 1},
                          Window{{3, 3}, {1, 1}, {1, 1}, 2}, Window{{3, 5}, {1, 1}, {1, 1}, 1}}) {
    ModelMaker maker;
    Value* x = maker.input({1, 64, 28, 28});
    maker.output(maker.op(
        "Conv", {x, maker.random({64, 64 / w.group, w.kernel[0], w.kernel[1]}, 0.05f)},
        make_attributes({{"strides", w.strides}, {"dilations", w.dilations}, {"group", w.group}})));
    EXPECT_EQ(implementation(compare(maker.model()), "Conv0").rfind("jit", 0), 0u);
  }
}

TEST(WinogradChoice, FollowsTheSizeOfTheLayer) {
  const auto choice = [](int64_t channels, int64_t size) {
    return cpu::choose_winograd(
        shape_of({1, channels, size, size, channels, 1, 1, 1, 1}, {2, false, 16, 1}));
  };
  // One tile of 4 x 4 costs 36 products for at most 9 of the direct algorithm.
  EXPECT_FALSE(choice(64, 1));
  // Weights of 0.15 MB stay transformed in any second-level cache, those of 9.4 MB in none.
  ASSERT_TRUE(choice(32, 56));
  EXPECT_EQ(choice(32, 56)->m, 4);
  EXPECT_FALSE(choice(32, 56)->late_weights);
  ASSERT_TRUE(choice(256, 14));
  EXPECT_EQ(choice(256, 14)->m, 4);
  EXPECT_TRUE(choice(256, 14)->late_weights);
}

TEST(WinogradChoice, FollowsTheSpeedOfTheDirectAlgorithm) {
  WinogradShape shape = shape_of({1, 128, 56, 56, 32, 1, 1, 1, 1}, {2, false, 16, 1});
  shape.src = {ElementType::BFloat16, true};
  shape.dst = shape.src;
  ASSERT_TRUE(cpu::choose_winograd(shape, 2.0));
  EXPECT_EQ(cpu::choose_winograd(shape, 2.0)->m, 4);
  EXPECT_EQ(cpu::choose_winograd(shape, 2.0)->src, shape.src);
  EXPECT_FALSE(cpu::choose_winograd(shape, 16.0));
  // Too few channels for their transformation.
  shape.ic = 16;
  shape.oc = 16;
  EXPECT_TRUE(cpu::choose_winograd(shape));
  EXPECT_FALSE(cpu::choose_winograd(shape, 2.0));
}

}  // namespace
}  // namespace het
