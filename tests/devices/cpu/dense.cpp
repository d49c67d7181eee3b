/// Dense products whose tails run on sums in the cache (devices/cpu/products/dense.h).

#include <cmath>
#include <limits>

#include "devices/cpu/loops/dense_loops.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het::cpu_testing {
namespace {

using cpu::DenseShape;

struct Activation {
  ElementwiseKind kind;
  float alpha;
  double (*reference)(double);
};

double swish(double x) {
  return x / (1 + std::exp(-x));
}

const Activation kActivations[] = {
    {ElementwiseKind::Sigmoid, 0.0f, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {ElementwiseKind::Tanh, 0.0f, [](double x) { return std::tanh(x); }},
    {ElementwiseKind::Swish, 1.0f, swish},
    {ElementwiseKind::Swish, 2.0f, [](double x) { return swish(2 * x) / 2; }},
    {ElementwiseKind::GeluErf, 0.0f, [](double x) { return x / 2 * (1 + std::erf(x / M_SQRT2)); }},
    {ElementwiseKind::GeluTanh, 0.0f,
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
};

cpu::DenseTail tail_with(const Activation& activation, bool before, bool behind) {
  ElementwiseInstruction op;
  op.kind = activation.kind;
  op.alpha = activation.alpha;
  return {before, behind, op};
}

class DenseLoops : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::has_dense_bfloat16()) GTEST_SKIP() << "this processor does not multiply bfloat16";
  }

  static std::vector<float> random_values(int64_t count, uint32_t seed) {
    const Tensor tensor = random_tensor({count}, seed);
    const auto values = tensor.values<float>();
    return {values.begin(), values.end()};
  }
  static std::vector<BFloat16> narrowed(const std::vector<float>& values) {
    return {values.begin(), values.end()};
  }

  /// Largest distance from the definition, over max(1, |result|).
  template <class T>
  static double error(int64_t rows, int64_t k, int64_t n, const cpu::DenseTail& tail,
                      const Activation* activation) {
    const DenseShape shape{rows, k, n,
                           sizeof(T) == 2 ? ElementType::BFloat16 : ElementType::Float32};
    const std::vector<float> weights = random_values(k * n, 2);
    const std::vector<float> bias = random_values(cpu::dense_panels(shape) * cpu::kDensePanel, 4);
    const std::vector<BFloat16> src = narrowed(random_values(rows * k, 1));
    const std::vector<float> added = random_values(rows * n, 3);
    const std::vector<T> sum(added.begin(), added.end());
    constexpr int64_t kBehind = 40;  // values that nothing may write
    std::vector<T> dst(static_cast<size_t>(rows * n + kBehind), T(77.0f));
    Tensor packed = *Tensor::allocate({ElementType::BFloat16, {cpu::dense_weights_count(shape)}});
    auto* const panels = reinterpret_cast<BFloat16*>(packed.bytes());
    cpu::pack_dense_panels(shape, weights.data(), n, 1, 0, cpu::dense_panels(shape), panels);
    cpu::DenseOperands operands;
    operands.src = src.data();
    operands.weights = panels;
    operands.bias = bias.data();
    if (tail.adds_before || tail.adds_behind) {
      operands.sum = reinterpret_cast<const std::byte*>(sum.data());
    }
    operands.dst = reinterpret_cast<std::byte*>(dst.data());
    // In parts, as threads take them.
    const int64_t blocks = cpu::dense_row_blocks(shape);
    const int64_t half = cpu::dense_panels(shape) / 2;
    cpu::multiply_dense(shape, tail, operands, {0, blocks / 2, 0, cpu::dense_panels(shape)});
    cpu::multiply_dense(shape, tail, operands, {blocks / 2, blocks, 0, half});
    cpu::multiply_dense(shape, tail, operands,
                        {blocks / 2, blocks, half, cpu::dense_panels(shape)});
    double worst = 0.0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < n; ++c) {
        const auto place = static_cast<size_t>(r * n + c);
        double x = bias[static_cast<size_t>(c)];
        for (int64_t i = 0; i < k; ++i) {
          x += static_cast<double>(static_cast<float>(src[static_cast<size_t>(r * k + i)])) *
               static_cast<float>(BFloat16(weights[static_cast<size_t>(i * n + c)]));
        }
        if (tail.adds_before) x += static_cast<float>(sum[place]);
        if (activation != nullptr) x = activation->reference(x);
        if (tail.adds_behind) x += static_cast<float>(sum[place]);
        const double difference =
            std::abs(x - static_cast<float>(dst[place])) / std::max(1.0, std::abs(x));
        if (!(difference <= worst)) worst = difference;  // NaN is the worst
      }
    }
    for (size_t i = static_cast<size_t>(rows * n); i < dst.size(); ++i) {
      EXPECT_EQ(static_cast<float>(dst[i]), 77.0f) << "written behind the end";
    }
    return worst;
  }

  static constexpr double kFloat32 = 8e-6;
  static constexpr double kBfloat16 = 5e-3;
};

TEST_F(DenseLoops, EveryTailIsNearItsDefinition) {
  EXPECT_LE(error<BFloat16>(37, 24, 50, {}, nullptr), kBfloat16);
  EXPECT_LE(error<float>(37, 24, 50, {true, false, std::nullopt}, nullptr), kFloat32);
  for (const Activation& activation : kActivations) {
    for (const auto& [before, behind] :
         {std::pair(false, false), std::pair(true, false), std::pair(false, true)}) {
      SCOPED_TRACE(fmt::format("{} {} {}", to_string(activation.kind), before, behind));
      const cpu::DenseTail tail = tail_with(activation, before, behind);
      EXPECT_LE(error<float>(37, 24, 50, tail, &activation), kFloat32);
      EXPECT_LE(error<BFloat16>(37, 24, 50, tail, &activation), kBfloat16);
    }
  }
}

TEST_F(DenseLoops, AnyNumberOfRowsAndColumns) {
  const cpu::DenseTail tail = tail_with(kActivations[2], true, false);
  for (const int64_t rows : {1, 5, 13, 14, 15, 28, 45, 130}) {
    for (const int64_t k : {2, 6, 16, 22, 64}) {
      for (const int64_t n : {1, 7, 16, 24, 32, 40, 49, 96}) {
        SCOPED_TRACE(fmt::format("{}x{}x{}", rows, k, n));
        EXPECT_LE(error<float>(rows, k, n, tail, &kActivations[2]), kFloat32);
        EXPECT_LE(error<BFloat16>(rows, k, n, tail, &kActivations[2]), kBfloat16);
      }
    }
  }
}

TEST_F(DenseLoops, TailsOfOtherKindsAreRefused) {
  const auto step = [](ElementwiseKind kind) {
    TailStep s;
    s.expression.kind = kind;
    return s;
  };
  TailStep sum;
  sum.sum = true;
  EXPECT_TRUE(cpu::dense_tail({}));
  EXPECT_TRUE(cpu::dense_tail({sum, step(ElementwiseKind::Swish)}));
  EXPECT_TRUE(cpu::dense_tail({step(ElementwiseKind::GeluErf), sum}));
  EXPECT_FALSE(cpu::dense_tail({step(ElementwiseKind::Elu)}));
  EXPECT_FALSE(cpu::dense_tail({sum, sum}));
  EXPECT_FALSE(cpu::dense_tail({step(ElementwiseKind::Swish), step(ElementwiseKind::Tanh)}));
  EXPECT_FALSE(cpu::dense_tail({step(ElementwiseKind::Swish), sum, step(ElementwiseKind::Tanh)}));
}

class CpuDense : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::has_bfloat16()) {
      GTEST_SKIP() << cpu_testing::kNoBfloat16;
    }
  }

  /// Compares with REF and expects this kernel for `node` with any number of threads.
  void expect_own(ModelMaker& maker, const std::string& node) {
    for (const char* threads : {"1", "2"}) {
      const auto rows =
          compare(maker.model(), 0.05f,
                  {{"INFERENCE_NUM_THREADS", threads}, {"INFERENCE_PRECISION_HINT", "bf16"}});
      if (cpu::has_dense_bfloat16()) {
        EXPECT_EQ(implementation(rows, node), std::string("own_dense_") + cpu::simd_target());
      }
    }
  }
};

TEST_F(CpuDense, ConvolutionsWithSlowActivations) {
  for (const auto& [batch, channels, filters] :
       {std::tuple(1, 16, 32), std::tuple(2, 24, 40), std::tuple(1, 40, 24)}) {
    SCOPED_TRACE(fmt::format("{}->{}", channels, filters));
    ModelMaker maker;
    Value* x = maker.conv(maker.input({batch, 8, 9, 11}), 8, channels, 3);
    Value* y = maker.conv(x, channels, filters);
    Value* swish = maker.op("Mul", {y, maker.op("Sigmoid", {y})});
    maker.output(maker.conv(swish, filters, 8));
    expect_own(maker, y->producer()->name());
  }
}

TEST_F(CpuDense, ASumComesBeforeTheActivation) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 8, 9, 11}), 8, 32, 3);
  Value* y = maker.conv(x, 32, 32);
  Value* sum = maker.op("Add", {y, x});
  maker.output(maker.conv(maker.op("Mul", {sum, maker.op("Sigmoid", {sum})}), 32, 8));
  expect_own(maker, y->producer()->name());
}

TEST_F(CpuDense, ProductsOfMatricesWithGelu) {
  for (const bool transposed : {false, true}) {
    SCOPED_TRACE(transposed);
    ModelMaker maker;
    Value* x = maker.input({50, 48});
    const Tensor weights = random_tensor(transposed ? Shape{72, 48} : Shape{48, 72}, 1, 0.2f);
    Value* y = transposed ? maker.op("Gemm", {x, maker.constant(weights), maker.random({72})},
                                     make_attributes({{"transB", int64_t{1}}}))
                          : maker.op("MatMul", {x, maker.constant(weights)});
    maker.output(maker.op("Gelu", {y}));
    expect_own(maker, y->producer()->name());
  }
}

TEST_F(CpuDense, NanStaysInItsPixel) {
  ModelMaker maker;
  Value* y = maker.conv(maker.input({1, 20, 9, 11}), 20, 40);
  maker.output(maker.op("Mul", {y, maker.op("Sigmoid", {y})}));
  Tensor x = random_tensor({1, 20, 9, 11}, 1);
  x.values<float>()[3 * 99 + 17] = std::numeric_limits<float>::quiet_NaN();
  const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
  ASSERT_TRUE(compiled);
  const std::vector<Tensor> outputs = infer(*compiled, {x});
  const auto values = outputs.at(0).values<float>();
  for (size_t c = 0; c < 40; ++c) {
    for (size_t p = 0; p < 99; ++p) EXPECT_EQ(std::isnan(values[c * 99 + p]), p == 17) << c;
  }
}

/// Behind oneDNN's products the same activations are a pass of our own, in one step with the
/// product.
class CpuActivated : public CpuTest {
 protected:
  void check(ModelMaker& maker, const char* type, size_t products, const char* product) {
    for (const char* precision : {"f32", "bf16"}) {
      if (precision == std::string("bf16") && !cpu::has_bfloat16()) continue;
      SCOPED_TRACE(fmt::format("{} {}", type, precision));
      const auto rows = compare(maker.model(), precision == std::string("f32") ? 2e-5f : 0.05f,
                                {{"INFERENCE_PRECISION_HINT", precision}});
      EXPECT_EQ(count_type(rows, product), products);
      for (const char* left : {type, "Swish", "Elementwise", "Mul"}) {
        EXPECT_EQ(count_type(rows, left), 0u) << left;
      }
    }
  }

  static Value* activated(ModelMaker& maker, const std::string& type, Value* y) {
    return type == "Swish" ? maker.op("Mul", {y, maker.op("Sigmoid", {y})}) : maker.op(type, {y});
  }
};

TEST_F(CpuActivated, Convolutions) {
  for (const int64_t filters : {32, 20}) {
    for (const char* type : {"Sigmoid", "Tanh", "Gelu", "Swish"}) {
      SCOPED_TRACE(filters);
      ModelMaker maker;
      Value* x = maker.conv(maker.input({2, 8, 33, 35}), 8, 20);
      Value* y =
          maker.op("Conv", {x, maker.random({filters, 20, 3, 3}, 0.07f), maker.random({filters})},
                   make_attributes({{"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}}));
      maker.output(maker.conv(activated(maker, type, y), filters, 8));
      check(maker, type, 3, "Conv");
    }
  }
}

TEST_F(CpuActivated, ProductsOfMatrices) {
  for (const char* type : {"Sigmoid", "Tanh", "Gelu", "Swish"}) {
    ModelMaker maker;
    Value* y = maker.op("MatMul", {maker.input({3, 17, 24}), maker.random({24, 40}, 0.2f)});
    maker.output(activated(maker, type, y));
    check(maker, type, 1, "MatMul");
  }
}

}  // namespace
}  // namespace het::cpu_testing
