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
    {ElementwiseKind::Relu, 0.0f, [](double x) { return x < 0 ? 0 : x; }},
    {ElementwiseKind::Relu, 0.25f, [](double x) { return x < 0 ? x / 4 : x; }},
    {ElementwiseKind::Sigmoid, 0.0f, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {ElementwiseKind::Tanh, 0.0f, [](double x) { return std::tanh(x); }},
    {ElementwiseKind::Swish, 1.0f, swish},
    {ElementwiseKind::Swish, 2.0f, [](double x) { return swish(2 * x) / 2; }},
    {ElementwiseKind::HardSwish, 0.0f,
     [](double x) { return x * std::min(std::max(x / 6 + 0.5, 0.0), 1.0); }},
    {ElementwiseKind::GeluErf, 0.0f, [](double x) { return x / 2 * (1 + std::erf(x / M_SQRT2)); }},
    {ElementwiseKind::GeluTanh, 0.0f,
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
};

/// Rows as they lie in dst, and what a tail makes of them.
class DenseCase {
 public:
  DenseCase(ElementType type, int64_t rows, int64_t k, int64_t n, int64_t block) {
    shape_.rows = rows;
    shape_.k = k;
    shape_.n = n;
    shape_.src = shape_.dst = type;
    const int64_t k_blocks = (k + 15) / 16;
    const int64_t n_blocks = (n + 15) / 16;
    if (block > 0) {
      shape_.block = block;
      shape_.src_row = shape_.dst_row = block;
      shape_.src_block = shape_.dst_block = rows * block;
      shape_.fills_blocks = true;
    } else {
      shape_.src_row = k;
      shape_.dst_row = n;
      shape_.src_block = shape_.dst_block = shape_.block;
    }
    src_.resize(static_cast<size_t>(rows * (k_blocks + 1) * 16));
    dst_.resize(static_cast<size_t>(rows * (n_blocks + 1) * 16));
    sum_ = random_values(dst_.size(), 3);
    weights_ = random_values(static_cast<size_t>(k * n), 2);
    bias_ = random_values(static_cast<size_t>(cpu::dense_panels(shape_) * cpu::dense_panel()), 4);
    const std::vector<float> values = random_values(static_cast<size_t>(rows * k), 1);
    // What no row has must not count.
    std::ranges::fill(src_, std::numeric_limits<float>::quiet_NaN());
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < k; ++i) {
        src_[at(r, i, shape_.src_row, shape_.src_block)] = values[static_cast<size_t>(r * k + i)];
      }
    }
  }

  /// Largest distance from the definition, over max(1, |result|).
  double error(const cpu::DenseTail& tail, const Activation* activation) {
    std::vector<std::byte> packed(cpu::dense_weights_bytes(shape_) + 64);
    auto* const weights =
        reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(packed.data()) + 63) / 64 * 64);
    cpu::pack_dense_panels(shape_, weights_.data(), shape_.n, 1, 0, cpu::dense_panels(shape_),
                           weights);
    std::vector<std::byte> src = stored(src_);
    std::vector<std::byte> sum = stored(sum_);
    std::vector<std::byte> dst = stored(std::vector<float>(dst_.size(), 77.0f));
    cpu::DenseOperands operands;
    operands.src = src.data();
    operands.weights = weights;
    operands.bias = bias_.data();
    operands.sum = sum.data();
    operands.dst = dst.data();
    // In parts, as threads take them.
    const int64_t blocks = cpu::dense_row_blocks(shape_);
    const int64_t panels = cpu::dense_panels(shape_);
    cpu::multiply_dense(shape_, tail, operands, {0, blocks / 2, 0, panels});
    cpu::multiply_dense(shape_, tail, operands, {blocks / 2, blocks, 0, panels / 2});
    cpu::multiply_dense(shape_, tail, operands, {blocks / 2, blocks, panels / 2, panels});
    double worst = 0.0;
    std::vector<bool> written(dst_.size());
    for (int64_t r = 0; r < shape_.rows; ++r) {
      for (int64_t c = 0; c < shape_.n; ++c) {
        const size_t place = at(r, c, shape_.dst_row, shape_.dst_block);
        written[place] = true;
        double x = bias_[static_cast<size_t>(c)];
        for (int64_t i = 0; i < shape_.k; ++i) {
          x += static_cast<double>(value(src, at(r, i, shape_.src_row, shape_.src_block))) *
               rounded(weights_[static_cast<size_t>(i * shape_.n + c)]);
        }
        if (tail.adds_before) x += value(sum, place);
        if (activation != nullptr) x = activation->reference(x);
        if (tail.adds_behind) x += value(sum, place);
        const double difference = std::abs(x - value(dst, place)) / std::max(1.0, std::abs(x));
        if (!(difference <= worst)) worst = difference;  // NaN is the worst
      }
      for (int64_t c = shape_.n; shape_.fills_blocks && c % shape_.block != 0; ++c) {
        const size_t place = at(r, c, shape_.dst_row, shape_.dst_block);
        written[place] = true;
        EXPECT_EQ(value(dst, place), 0.0f) << "row " << r << ", padded column " << c;
      }
    }
    for (size_t i = 0; i < written.size(); ++i) {
      if (!written[i]) {
        EXPECT_EQ(value(dst, i), 77.0f) << "value " << i << " was overwritten";
      }
    }
    return worst;
  }

 private:
  static std::vector<float> random_values(size_t count, uint32_t seed) {
    const Tensor tensor = random_tensor({static_cast<int64_t>(count)}, seed);
    const auto values = tensor.values<float>();
    return {values.begin(), values.end()};
  }
  size_t at(int64_t row, int64_t column, int64_t row_step, int64_t block_step) const {
    return static_cast<size_t>(row * row_step + column / shape_.block * block_step +
                               column % shape_.block);
  }
  float rounded(float x) const {
    return shape_.src == ElementType::BFloat16 ? static_cast<float>(BFloat16(x)) : x;
  }
  std::vector<std::byte> stored(const std::vector<float>& values) const {
    const size_t width = byte_width(shape_.src);
    std::vector<std::byte> bytes(values.size() * width);
    for (size_t i = 0; i < values.size(); ++i) {
      const BFloat16 narrow(values[i]);
      std::memcpy(bytes.data() + i * width,
                  width == 2 ? static_cast<const void*>(&narrow) : &values[i], width);
    }
    return bytes;
  }
  float value(const std::vector<std::byte>& bytes, size_t index) const {
    if (shape_.src == ElementType::BFloat16) {
      return static_cast<float>(reinterpret_cast<const BFloat16*>(bytes.data())[index]);
    }
    return reinterpret_cast<const float*>(bytes.data())[index];
  }

  DenseShape shape_;
  std::vector<float> src_, dst_, sum_, weights_, bias_;
};

std::vector<ElementType> dense_types() {
  std::vector<ElementType> types = {ElementType::Float32};
  if (cpu::has_dense_bfloat16()) types.push_back(ElementType::BFloat16);
  return types;
}

double tolerance(ElementType type) {
  return type == ElementType::BFloat16 ? 5e-3 : 8e-6;
}

TEST(DenseLoops, EveryTailIsNearItsDefinition) {
  for (const ElementType type : dense_types()) {
    DenseCase rows(type, 37, 24, 50, 0);
    EXPECT_LE(rows.error({}, nullptr), tolerance(type));
    EXPECT_LE(rows.error({true, false, std::nullopt}, nullptr), tolerance(type));
    for (const Activation& activation : kActivations) {
      SCOPED_TRACE(std::string(to_string(activation.kind)) + " " + std::string(to_string(type)));
      ElementwiseInstruction op;
      op.kind = activation.kind;
      op.alpha = activation.alpha;
      EXPECT_LE(rows.error({false, false, op}, &activation), tolerance(type));
      EXPECT_LE(rows.error({true, false, op}, &activation), tolerance(type));
      EXPECT_LE(rows.error({false, true, op}, &activation), tolerance(type));
    }
  }
}

TEST(DenseLoops, AnyNumberOfRowsAndColumnsInEveryFormat) {
  ElementwiseInstruction op;
  op.kind = ElementwiseKind::Swish;
  op.alpha = 1.0f;
  for (const ElementType type : dense_types()) {
    for (const int64_t block : {0, 8, 16}) {
      if (block > 0 && (type == ElementType::BFloat16 || block % (cpu::dense_panel() / 2) != 0)) {
        continue;
      }
      for (const int64_t rows : {1, 5, 13, 14, 15, 28, 45, 130}) {
        for (const int64_t k : {2, 6, 16, 22, 64}) {
          for (const int64_t n : {1, 7, 16, 24, 32, 40, 49, 96}) {
            SCOPED_TRACE(
                fmt::format("{} {}x{}x{} in blocks of {}", to_string(type), rows, k, n, block));
            DenseCase rows_of(type, rows, k, n, block);
            EXPECT_LE(rows_of.error({true, false, op}, &kActivations[4]), tolerance(type));
          }
        }
      }
    }
  }
}

TEST(DenseLoops, TailsOfOtherKindsAreRefused) {
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
  EXPECT_FALSE(cpu::dense_tail({step(ElementwiseKind::Swish), step(ElementwiseKind::Relu)}));
  EXPECT_FALSE(cpu::dense_tail({step(ElementwiseKind::Swish), sum, step(ElementwiseKind::Relu)}));
}

class CpuDense : public CpuTest {
 protected:
  /// Compares with REF and expects this kernel for `node` with any number of threads.
  void expect_own(ModelMaker& maker, const std::string& node, const char* precision = "f32") {
    if (precision != std::string("f32") && !cpu::has_dense_bfloat16()) return;
    for (const char* threads : {"1", "2"}) {
      const auto rows =
          compare(maker.model(), precision == std::string("f32") ? 1e-5f : 0.05f,
                  {{"INFERENCE_NUM_THREADS", threads}, {"INFERENCE_PRECISION_HINT", precision}});
      EXPECT_EQ(implementation(rows, node), std::string("own_dense_") + cpu::simd_target());
    }
  }
};

TEST_F(CpuDense, ConvolutionsWithSlowActivations) {
  for (const char* precision : {"f32", "bf16"}) {
    for (const auto& [batch, channels, filters] :
         {std::tuple(1, 16, 32), std::tuple(2, 24, 40), std::tuple(1, 40, 24)}) {
      SCOPED_TRACE(fmt::format("{} {}->{}", precision, channels, filters));
      ModelMaker maker;
      Value* x = maker.conv(maker.input({batch, 8, 9, 11}), 8, channels, 3);
      Value* y = maker.conv(x, channels, filters);
      Value* swish = maker.op("Mul", {y, maker.op("Sigmoid", {y})});
      maker.output(maker.conv(swish, filters, 8));
      expect_own(maker, y->producer()->name(), precision);
    }
  }
}

TEST_F(CpuDense, ASumComesBeforeTheActivation) {
  for (const char* precision : {"f32", "bf16"}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({1, 8, 9, 11}), 8, 32, 3);
    Value* y = maker.conv(x, 32, 32);
    Value* sum = maker.op("Add", {y, x});
    maker.output(maker.conv(maker.op("Mul", {sum, maker.op("Sigmoid", {sum})}), 32, 8));
    expect_own(maker, y->producer()->name(), precision);
  }
}

TEST_F(CpuDense, ProductsOfMatricesWithGelu) {
  for (const char* precision : {"f32", "bf16"}) {
    for (const bool transposed : {false, true}) {
      ModelMaker maker;
      Value* x = maker.input({50, 48});
      const Tensor weights = random_tensor(transposed ? Shape{72, 48} : Shape{48, 72}, 1, 0.2f);
      Value* y = transposed ? maker.op("Gemm", {x, maker.constant(weights), maker.random({72})},
                                       make_attributes({{"transB", int64_t{1}}}))
                            : maker.op("Add", {maker.op("MatMul", {x, maker.constant(weights)}),
                                               maker.random({72})});
      const Node* product = transposed ? y->producer() : y->producer()->input(0)->producer();
      Value* half = maker.op("Mul", {y, maker.constant(Tensor::from<float>({}, {0.5f}))});
      Value* scaled = maker.op("Div", {y, maker.constant(Tensor::from<float>({}, {1.41421356f}))});
      Value* erf = maker.op(
          "Add", {maker.op("Erf", {scaled}), maker.constant(Tensor::from<float>({}, {1.0f}))});
      maker.output(maker.op("Mul", {half, erf}));
      expect_own(maker, product->name(), precision);
    }
  }
}

TEST_F(CpuDense, NanAndInfinitiesStayInTheirPixel) {
  ModelMaker maker;
  Value* y = maker.conv(maker.input({1, 20, 9, 11}), 20, 40);
  maker.output(maker.op("Mul", {y, maker.op("Sigmoid", {y})}));
  Tensor x = random_tensor({1, 20, 9, 11}, 1);
  x.values<float>()[3 * 99 + 17] = std::numeric_limits<float>::quiet_NaN();
  const auto compiled = compile(maker.model(), {});
  ASSERT_TRUE(compiled);
  const std::vector<Tensor> outputs = infer(*compiled, {x});
  const auto values = outputs.at(0).values<float>();
  for (size_t c = 0; c < 40; ++c) {
    for (size_t p = 0; p < 99; ++p) EXPECT_EQ(std::isnan(values[c * 99 + p]), p == 17) << c;
  }
}

}  // namespace
}  // namespace het::cpu_testing
