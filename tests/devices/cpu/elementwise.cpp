/// Chains of scalar expressions: their code, the loops that run it, and how operands are walked.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>

#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/moves/broadcast_walk.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu::BroadcastReader;
using cpu::BroadcastSpace;
using cpu::BroadcastWalk;
using cpu::ElementwiseCode;
using cpu::ElementwiseSource;
using cpu::Format;
using cpu::kElementwisePeriod;
using cpu::make_elementwise_code;
using cpu::TensorSpec;
using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::on_each_instruction_set;
using K = ElementwiseKind;

constexpr float kNotANumber = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// One instruction by the definition.
double value_of(const ElementwiseInstruction& op, double a, double b) {
  const double alpha = op.alpha;
  const double beta = op.beta;
  const auto sigmoid = [](double x) { return 1.0 / (1.0 + std::exp(-x)); };
  const auto clip = [](double x, double low, double high) {
    return std::isnan(x) ? x : std::min(std::max(x, low), high);
  };
  switch (op.kind) {
    case K::Add:
      return a + b;
    case K::Sub:
      return a - b;
    case K::Mul:
      return a * b;
    case K::Div:
      return a / b;
    case K::Max:
      return std::isnan(a) || std::isnan(b) ? kNotANumber : std::max(a, b);
    case K::Min:
      return std::isnan(a) || std::isnan(b) ? kNotANumber : std::min(a, b);
    case K::Pow:
      return std::pow(a, b);
    case K::PRelu:
      return a < 0 ? a * b : a;
    case K::Relu:
      return a < 0 ? (alpha == 0 ? 0 : alpha * a) : a;
    case K::Clip:
      return clip(a, alpha, beta);
    case K::Linear:
      return alpha * a + beta;
    case K::Sigmoid:
      return sigmoid(a);
    case K::Tanh:
      return std::tanh(a);
    case K::Swish:
      return a * sigmoid(alpha * a);
    case K::HardSigmoid:
      return clip(alpha * a + beta, 0, 1);
    case K::HardSwish:
      return a * clip(a / 6 + 0.5, 0, 1);
    case K::Elu:
      return a < 0 ? alpha * std::expm1(a) : a;
    case K::GeluErf:
      return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0)));
    case K::GeluTanh:
      return 0.5 * a * (1 + std::tanh(std::sqrt(2 / M_PI) * (a + 0.044715 * a * a * a)));
    case K::Exp:
      return std::exp(a);
    case K::Log:
      return std::log(a);
    case K::Sqrt:
      return std::sqrt(a);
    case K::Reciprocal:
      return 1 / a;
    case K::Abs:
      return std::abs(a);
    case K::Neg:
      return -a;
    case K::Square:
      return a * a;
    case K::Floor:
      return std::floor(a);
    case K::Ceil:
      return std::ceil(a);
    case K::Round:
      return std::nearbyint(a);
    case K::Erf:
      return std::erf(a);
    case K::SoftPlus:
      return std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a)));
    case K::Mish:
      return a * std::tanh(std::max(a, 0.0) + std::log1p(std::exp(-std::abs(a))));
    case K::ReplaceNaN:
      return std::isnan(a) ? static_cast<double>(op.alpha) : a;
  }
  return 0;
}

double value_of(const ElementwiseProgram& program, std::vector<double> registers) {
  for (const ElementwiseInstruction& op : program.instructions) {
    registers.push_back(value_of(op, registers[op.a], registers[op.b]));
  }
  return registers.back();
}

/// Operands of a call, in memory that ends where they do.
struct Operands {
  std::vector<std::vector<float>> floats;
  std::vector<std::vector<BFloat16>> halves;
  std::vector<ElementwiseSource> sources;

  /// `kinds`: 0 float, 1 bfloat16; + 2: repeated.
  Operands(const std::vector<int>& kinds, size_t count, unsigned seed, float scale = 6.0f) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-scale, scale);
    floats.resize(kinds.size());
    halves.resize(kinds.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
      const bool repeats = kinds[i] >= 2;
      const bool half = kinds[i] % 2 == 1;
      for (size_t k = 0; k < (repeats ? kElementwisePeriod : count); ++k) {
        const BFloat16 value(uniform(random));
        half ? halves[i].push_back(value) : floats[i].push_back(uniform(random));
      }
      const void* values = half ? static_cast<const void*>(halves[i].data()) : floats[i].data();
      sources.push_back({values, half ? ElementType::BFloat16 : ElementType::Float32, repeats});
    }
  }

  double at(size_t operand, size_t k) const {
    if (sources[operand].repeats) k %= kElementwisePeriod;
    return static_cast<double>(sources[operand].type == ElementType::BFloat16
                                   ? static_cast<float>(halves[operand][k])
                                   : floats[operand][k]);
  }
  std::vector<double> all_at(size_t k) const {
    std::vector<double> result;
    for (size_t i = 0; i < sources.size(); ++i) result.push_back(at(i, k));
    return result;
  }
};

void expect_near(double got, double wanted, double tolerance, size_t at) {
  if (std::isnan(wanted) || std::isinf(wanted)) {
    const auto same = static_cast<float>(wanted);
    EXPECT_TRUE(std::isnan(wanted) ? std::isnan(got) : static_cast<float>(got) == same)
        << "value " << at << ": " << got << " instead of " << wanted;
    return;
  }
  EXPECT_NEAR(got, wanted, tolerance * std::max(1.0, std::abs(wanted))) << "value " << at;
}

/// Programs that take registers in all the ways there are.
std::vector<ElementwiseProgram> programs() {
  return {
      {1, {{K::Relu, 0}}},
      {1, {{K::Sqrt, 0}, {K::ReplaceNaN, 1, 0, 7.0f}}},
      {3, {{K::Mul, 0, 1}, {K::Add, 3, 2}, {K::Relu, 4}}},
      {2, {{K::Sub, 0, 1}, {K::Sub, 0, 2}, {K::Max, 1, 3}}},       // reversed
      {2, {{K::Add, 0, 1}, {K::Sigmoid, 2}, {K::Mul, 2, 3}}},      // the sum is saved
      {1, {{K::Abs, 0}, {K::Add, 1, 1}, {K::Mul, 2, 2}}},          // both operands are one
      {2, {{K::Neg, 1}, {K::Swish, 0, 0, 1.0f}, {K::Add, 2, 3}}},  // starts anew, saved
      {2, {{K::Add, 0, 0}, {K::Div, 1, 2}, {K::PRelu, 0, 3}}},
      {1,
       {{K::Linear, 0, 0, 2.0f, -0.5f},
        {K::Square, 1},
        {K::Linear, 2, 0, 1.0f, 1.0f},
        {K::Reciprocal, 3},
        {K::Mul, 4, 1},
        {K::Add, 5, 2},
        {K::Min, 6, 4}}},
      {4,
       {{K::Add, 0, 1},
        {K::Add, 2, 3},
        {K::Mul, 4, 5},
        {K::Add, 4, 6},
        {K::Clip, 7, 0, -9.0f, 9.0f}}},
  };
}

void expect_programs() {
  for (const ElementwiseProgram& program : programs()) {
    const ElementwiseCode code = make_elementwise_code(program);
    for (const int type : {0, 1, 2, 3, 4}) {
      std::vector<int> kinds;
      for (size_t i = 0; i < program.operands; ++i) {
        kinds.push_back(type < 4 ? type : static_cast<int>(i) % 4);
      }
      for (const size_t count : {1, 3, 16, 31, 127, 128, 129, 300, 1027}) {
        const Operands operands(kinds, count, static_cast<unsigned>(count));
        std::vector<float> results(count + 1, -77.0f);
        std::vector<BFloat16> halves(count + 1, BFloat16(-77.0f));
        run_elementwise(code, operands.sources.data(), results.data(), count);
        run_elementwise(code, operands.sources.data(), halves.data(), count);
        for (size_t k = 0; k < count; ++k) {
          expect_near(results[k], value_of(program, operands.all_at(k)), 4e-6, k);
          const auto half = static_cast<float>(halves[k]);
          EXPECT_EQ(half, static_cast<float>(BFloat16(results[k]))) << "value " << k;
        }
        EXPECT_EQ(results[count], -77.0f);
        EXPECT_EQ(static_cast<float>(halves[count]), -77.0f);
      }
    }
  }
}

TEST(CpuElementwise, CodeComputesThePrograms) {
  on_each_instruction_set(expect_programs);
}

TEST(CpuElementwise, ChainsStayInTheAccumulator) {
  // One load, and a step for each instruction: nothing is saved.
  const ElementwiseCode code =
      make_elementwise_code({3, {{K::Mul, 0, 1}, {K::Sub, 2, 3}, {K::Relu, 4}}});
  EXPECT_EQ(code.saved, 0u);
  EXPECT_EQ(code.steps.size(), 4u);
  EXPECT_TRUE(code.steps[2].reversed);
  EXPECT_TRUE(make_elementwise_code({}).steps.empty());
}

void expect_all_kinds() {
  const std::vector<float> special = {0.0f,   -0.0f,       1.0f,      -1.0f,     0.5f,    2.5f,
                                      -3.5f,  89.0f,       -89.0f,    300.0f,    -300.0f, 1e30f,
                                      -1e30f, kNotANumber, kInfinite, -kInfinite};
  for (int number = 0; number <= static_cast<int>(K::Mish); ++number) {
    const auto kind = static_cast<K>(number);
    SCOPED_TRACE(to_string(kind));
    std::vector<float> a;
    std::vector<float> b;
    for (const float x : special) {
      for (const float y : special) {
        if (kind == K::PRelu && std::isnan(y)) continue;
        a.push_back(x);
        b.push_back(y);
      }
    }
    for (int i = 0; i < 1000; ++i) {
      a.push_back(static_cast<float>(i - 500) / 41.0f);
      b.push_back(static_cast<float>(i % 77 - 38) / 9.0f);
    }
    ElementwiseInstruction op{kind, 0, 1, 0.75f, 2.0f};
    if (kind == K::Swish) op.alpha = 1.5f;
    const ElementwiseProgram program{2, {op}};
    const ElementwiseSource sources[] = {{a.data()}, {b.data()}};
    std::vector<float> got(a.size());
    run_elementwise(make_elementwise_code(program), sources, got.data(), got.size());
    for (size_t i = 0; i < a.size(); ++i) {
      double wanted = value_of(program, {a[i], b[i]});
      // An infinity times what is 0 in float32, as the smallest numbers are here, may be either.
      const bool gate = kind == K::Swish || kind == K::GeluErf || kind == K::GeluTanh ||
                        kind == K::Mish || kind == K::HardSwish;
      if (gate && a[i] == -kInfinite) continue;
      if (std::abs(wanted) > 3.4e38) wanted = std::copysign(kInfinite, wanted);
      expect_near(got[i], wanted, 3e-6, i);
    }
  }
  // Infinity times 0 in front of the sigmoid.
  const std::vector<float> x(20, kInfinite);
  std::vector<float> got(20);
  const ElementwiseSource source{x.data()};
  run_elementwise(make_elementwise_code({1, {{K::Swish, 0, 0, 0.0f}}}), &source, got.data(), 20);
  for (const float value : got) EXPECT_TRUE(std::isnan(value));
}

TEST(CpuElementwise, AllKindsWithSpecialValues) {
  on_each_instruction_set(expect_all_kinds);
}

void expect_same_in_parts() {
  constexpr size_t kCount = 700;
  for (const ElementwiseProgram& program : programs()) {
    const ElementwiseCode code = make_elementwise_code(program);
    const Operands operands(std::vector<int>(program.operands, 0), kCount, 5);
    std::vector<float> whole(kCount);
    run_elementwise(code, operands.sources.data(), whole.data(), kCount);
    for (const size_t step : {1, 7, 16, 48, 130}) {
      std::vector<float> parts(kCount);
      for (size_t at = 0; at < kCount; at += step) {
        std::vector<ElementwiseSource> sources;
        for (const auto& values : operands.floats) sources.push_back({values.data() + at});
        run_elementwise(code, sources.data(), parts.data() + at, std::min(step, kCount - at));
      }
      EXPECT_EQ(whole, parts) << step;
    }
    // In place of the first operand.
    std::vector<float> place = operands.floats[0];
    std::vector<ElementwiseSource> sources = operands.sources;
    sources[0].values = place.data();
    run_elementwise(code, sources.data(), place.data(), kCount);
    EXPECT_EQ(whole, place);
  }
}

TEST(CpuElementwise, EveryCountGivesTheSame) {
  on_each_instruction_set(expect_same_in_parts);
}

/// Checks that a reader shows the operand's values beside all parts of the output.
void expect_walk(const TensorSpec& dst, const TensorSpec& operand, BroadcastWalk::Kind kind) {
  SCOPED_TRACE(to_string(operand) + " beside " + to_string(dst));
  const std::vector<int64_t> strides = broadcast_strides(operand, dst);
  ASSERT_FALSE(strides.empty());
  const BroadcastSpace space = make_broadcast_space(
      dst, {strides, broadcast_strides({ElementType::Float32, dst.shape, dst.format}, dst)});
  EXPECT_EQ(space.walks[0].kind, kind);
  const std::vector<int64_t> dims = physical_dims(dst);
  std::vector<float> src(static_cast<size_t>(physical_count(operand)));
  std::vector<BFloat16> half;
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<float>(i % 251);
  for (const float value : src) half.emplace_back(value);
  std::vector<float> wanted;
  for (int64_t i = 0; i < space.count; ++i) {
    int64_t rest = i;
    int64_t offset = 0;
    for (size_t d = dims.size(); d-- > 0;) {
      offset += rest % dims[d] * strides[d];
      rest /= dims[d];
    }
    wanted.push_back(src[static_cast<size_t>(offset)]);
  }
  for (const ElementType type : {ElementType::Float32, ElementType::BFloat16}) {
    const bool is_float = type == ElementType::Float32;
    const auto* from = is_float ? reinterpret_cast<const std::byte*>(src.data())
                                : reinterpret_cast<const std::byte*>(half.data());
    for (const int64_t most : {int64_t{100000}, int64_t{512}, int64_t{77}}) {
      alignas(64) float copies[BroadcastReader::kCopied];
      BroadcastReader reader(space, 0, type, from, reinterpret_cast<std::byte*>(copies));
      const int64_t begin = most == 512 ? std::min<int64_t>(512, space.count - 1) : 0;
      for (int64_t first = begin; first < space.count;) {
        const int64_t count = std::min({most, reader.extent(first), space.count - first});
        ASSERT_GT(count, 0);
        const ElementwiseSource shown = reader.read(first, count);
        for (int64_t k = 0; k < count; ++k) {
          const size_t at =
              shown.repeats ? static_cast<size_t>(k) % kElementwisePeriod : static_cast<size_t>(k);
          const float value =
              is_float ? static_cast<const float*>(shown.values)[at]
                       : static_cast<float>(static_cast<const BFloat16*>(shown.values)[at]);
          ASSERT_EQ(value, wanted[static_cast<size_t>(first + k)]) << first << " + " << k;
        }
        first += count;
      }
    }
  }
}

TEST(CpuElementwise, OperandsAreReadWhereTheyLie) {
  using Kind = BroadcastWalk::Kind;
  const auto f32 = [](Shape shape, Format format = Format::Plain) {
    return TensorSpec{ElementType::Float32, std::move(shape), format};
  };
  const Format last = Format::ChannelsLast;
  const Format blocked = Format::Blocked16;
  expect_walk(f32({2, 40, 9, 7}), f32({2, 40, 9, 7}), Kind::Same);
  expect_walk(f32({2, 40, 9, 7}), f32({1, 1, 1, 1}), Kind::Scalar);
  expect_walk(f32({2, 40, 9, 70}), f32({1, 40, 1, 1}), Kind::Filled);
  expect_walk(f32({2, 40, 9, 7}), f32({2, 40, 1, 1}), Kind::Gathered);
  expect_walk(f32({2, 40, 9, 7}), f32({1, 1, 9, 7}), Kind::Repeated);
  expect_walk(f32({2, 3, 40, 70}), f32({40, 70}), Kind::Rows);
  expect_walk(f32({2, 3, 40, 70}), f32({70}), Kind::Repeated);
  expect_walk(f32({2, 3, 40, 70}), f32({3, 40, 1}), Kind::Gathered);
  for (const int64_t channels : {3, 16, 24, 64, 128, 300, 1000}) {
    expect_walk(f32({2, channels, 11, 7}, last), f32({1, channels, 1, 1}, last), Kind::Repeated);
    expect_walk(f32({2, channels, 11, 13}, last), f32({2, channels, 1, 1}, last), Kind::Repeated);
  }
  expect_walk(f32({2, 1100, 5, 3}, last), f32({2, 1100, 1, 1}, last), Kind::Rows);
  expect_walk(f32({2, 24, 5, 3}, last), f32({2, 1, 5, 3}), Kind::Gathered);
  expect_walk(f32({2, 520, 5, 3}, last), f32({2, 1, 5, 3}), Kind::Filled);
  expect_walk(f32({2, 40, 11, 7}, blocked), f32({1, 40, 1, 1}, blocked), Kind::Repeated);
  expect_walk(f32({2, 40, 50, 47}, blocked), f32({2, 40, 1, 1}, blocked), Kind::Repeated);
  expect_walk(f32({2, 40, 2, 3}, blocked), f32({2, 40, 1, 1}, blocked), Kind::Gathered);
  expect_walk(f32({2, 40, 11, 7}, blocked), f32({2, 1, 11, 7}), Kind::Gathered);
}

using CpuElementwiseModels = CpuTest;

TEST_F(CpuElementwiseModels, BroadcastOperandsOfAllKinds) {
  // Few pixels, and so many that threads share those of each block of channels.
  for (const auto& [channels, height, width] :
       {std::tuple(3, 5, 9), std::tuple(24, 5, 9), std::tuple(130, 5, 9), std::tuple(1030, 5, 9),
        std::tuple(24, 11, 13), std::tuple(130, 12, 16)}) {
    const Shape shape{2, channels, height, width};
    for (const Shape& operand : {Shape{1, channels, 1, 1}, Shape{2, channels, 1, 1},
                                 Shape{2, 1, height, width}, Shape{width}, Shape{height, 1},
                                 Shape{2, channels, height, 1}, Shape{1, 1, 1, 1}, shape}) {
      for (const char* threads : {"1", "2", "3"}) {
        ModelMaker maker;
        Value* x = maker.input(shape);
        Value* y = maker.input(operand);
        Value* z = maker.input(operand);
        Value* sum = maker.op("Sub", {z, maker.op("Mul", {x, y})});
        maker.output(maker.op("Sigmoid", {sum}));
        // Behind a product, in the format that it leaves.
        Value* behind = maker.conv(x, channels, channels);
        maker.output(maker.op("Relu", {maker.op("Mul", {maker.op("Add", {behind, y}), z})}));
        compare(maker.model(), 2e-5f, {{"INFERENCE_NUM_THREADS", threads}, {"CACHE_DIR", ""}});
      }
    }
  }
}

}  // namespace
}  // namespace het
