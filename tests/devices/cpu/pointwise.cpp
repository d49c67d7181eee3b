/// 1x1 convolutions in float32 over blocked pictures (devices/cpu/products/pointwise.h).

#include <cmath>
#include <limits>

#include "devices/cpu/loops/pointwise_loops.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/products/pointwise.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/special_values.h"

namespace het {
namespace {

using cpu::PointwiseShape;
using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_tensor;

using device_testing::kNan;

/// [channels,pixels] in blocks; what fills up the last block is `pad`.
std::vector<float> in_blocks(const std::vector<float>& plain, int64_t channels, int64_t pixels,
                             int64_t block, float pad) {
  const int64_t blocks = (channels + block - 1) / block;
  std::vector<float> result(static_cast<size_t>(blocks * block * pixels), pad);
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t p = 0; p < pixels; ++p) {
      result[static_cast<size_t>((c / block * pixels + p) * block + c % block)] =
          plain[static_cast<size_t>(c * pixels + p)];
    }
  }
  return result;
}

/// One part of the pixels and one of the panels after the other, as threads do.
void expect_product(const PointwiseShape& shape, bool with_sum, bool with_limits) {
  SCOPED_TRACE(fmt::format("{} pixels, {} -> {}, sum {}, limits {}", shape.pixels, shape.ic,
                           shape.oc, with_sum, with_limits));
  std::vector<float> src, weights, sum;
  for (int64_t i = 0; i < shape.ic * shape.pixels; ++i) {
    src.push_back(static_cast<float>(i * 29 % 61) / 30.0f - 1.0f);
  }
  for (int64_t i = 0; i < shape.ic * shape.oc; ++i) {
    weights.push_back(static_cast<float>(i * 17 % 53) / 26.0f - 1.0f);
  }
  for (int64_t i = 0; i < shape.oc * shape.pixels; ++i) {
    sum.push_back(static_cast<float>(i % 11) - 5.0f);
  }
  // Nothing may read what fills up a block of src.
  const auto blocked_src = in_blocks(src, shape.ic, shape.pixels, shape.block, kNan);
  auto dst = in_blocks(sum, shape.oc, shape.pixels, shape.block, with_sum ? 0.0f : kNan);
  // Aligned, as kernels have them.
  const auto count = static_cast<int64_t>(cpu::pointwise_weights_count(shape));
  Tensor packed = *Tensor::allocate({ElementType::Float32, {count}});
  cpu::pack_pointwise_panels(shape, weights.data(), 0, shape.panels(),
                             packed.values<float>().data());
  std::vector<float> bias(cpu::pointwise_bias_count(shape), 0.0f);
  for (int64_t o = 0; o < shape.oc; ++o) bias[static_cast<size_t>(o)] = static_cast<float>(o % 7);
  cpu::PointwiseTail tail;
  if (with_sum) tail.sum = dst.data();
  tail.clip = with_limits;
  tail.low = -2.0f;
  tail.high = 3.0f;
  const int64_t middle = shape.pixels / 2;
  const int64_t panel = shape.panels() / 2;
  for (const auto& [pixels_begin, pixels_end] :
       {std::pair(int64_t{0}, middle), std::pair(middle, shape.pixels)}) {
    for (const auto& [begin, end] :
         {std::pair(int64_t{0}, panel), std::pair(panel, shape.panels())}) {
      cpu::multiply_pointwise(shape, {pixels_begin, pixels_end, begin, end}, blocked_src.data(),
                              packed.values<float>().data(), bias.data(), tail, dst.data());
    }
  }
  std::vector<float> wanted;
  for (int64_t o = 0; o < shape.oc; ++o) {
    for (int64_t p = 0; p < shape.pixels; ++p) {
      double value = bias[static_cast<size_t>(o)];
      for (int64_t i = 0; i < shape.ic; ++i) {
        value += static_cast<double>(src[static_cast<size_t>(i * shape.pixels + p)]) *
                 static_cast<double>(weights[static_cast<size_t>(o * shape.ic + i)]);
      }
      if (with_sum) value += sum[static_cast<size_t>(o * shape.pixels + p)];
      wanted.push_back(static_cast<float>(with_limits ? std::clamp(value, -2.0, 3.0) : value));
    }
  }
  const auto blocked = in_blocks(wanted, shape.oc, shape.pixels, shape.block, 0.0f);
  const float bound = 1e-6f * static_cast<float>(shape.ic + 8);
  for (size_t i = 0; i < blocked.size(); ++i) ASSERT_NEAR(dst[i], blocked[i], bound) << i;
}

TEST(CpuPointwiseLoops, EveryInstructionSetAndSize) {
  cpu_testing::on_each_instruction_set([] {
    for (const int64_t pixels : {1, 2, 5, 13, 15, 28, 29, 49}) {
      for (const int64_t ic : {1, 8, 24, 37}) {
        for (const int64_t oc : {3, 16, 24, 32, 50}) {
          PointwiseShape shape;
          shape.pixels = pixels;
          shape.ic = ic;
          shape.oc = oc;
          shape.block = cpu::pointwise_block();
          expect_product(shape, pixels % 2 == 0, oc % 3 == 0);
        }
      }
    }
    for (const int64_t ic : {PointwiseShape::kMostDepth + 1, 2 * PointwiseShape::kMostDepth + 24}) {
      PointwiseShape shape;
      shape.pixels = 17;
      shape.ic = ic;
      shape.oc = 70;
      shape.block = cpu::pointwise_block();
      expect_product(shape, true, true);
      expect_product(shape, false, false);
    }
  });
}

class CpuPointwise : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (cpu::pointwise_block() != 16 || !cpu::has_bfloat16()) {
      GTEST_SKIP() << "no AVX-512 (or ONEDNN_MAX_CPU_ISA hides it): 1x1 convolutions are oneDNN's";
    }
  }

  void expect_own(ModelMaker& maker, const Value* value, float tolerance = 2e-5f) {
    for (const char* threads : {"1", "2", "3"}) {
      const auto rows = compare(maker.model(), tolerance,
                                {{"INFERENCE_NUM_THREADS", threads}, {"CACHE_DIR", ""}});
      EXPECT_EQ(implementation(rows, value->producer()->name()),
                std::string("own_1x1_") + cpu::simd_target());
    }
  }
};

TEST_F(CpuPointwise, ChannelsThatDoNotFillABlockAndFewPixels) {
  struct Case {
    int64_t n, ic, oc, height, width;
  };
  for (const Case& c : {Case{1, 24, 72, 23, 19}, Case{2, 40, 120, 9, 7}, Case{1, 64, 30, 7, 7},
                        Case{3, 16, 16, 1, 1}, Case{1, 1100, 50, 3, 5}, Case{1, 8, 48, 130, 110},
                        Case{2, 72, 33, 61, 64}}) {
    SCOPED_TRACE(fmt::format("{}x{}x{}x{} -> {}", c.n, c.ic, c.height, c.width, c.oc));
    ModelMaker maker;
    Value* y = maker.conv(maker.input({c.n, c.ic, c.height, c.width}), c.ic, c.oc);
    maker.output(y);
    expect_own(maker, y);
  }
}

TEST_F(CpuPointwise, TailsInRegistersAndInTheCaches) {
  for (const char* kind : {"Relu", "Clip", "Sigmoid", "HardSwish", "Swish", "Tanh", "Gelu"}) {
    for (const bool with_sum : {false, true}) {
      SCOPED_TRACE(kind);
      ModelMaker maker;
      Value* x = maker.input({2, 24, 15, 13});
      Value* conv = maker.conv(x, 24, 40);
      Value* y = conv;
      if (with_sum) y = maker.op("Add", {y, maker.input({2, 40, 15, 13})});
      if (std::string_view(kind) == "Clip") {
        y = maker.op("Clip", {y, maker.constant(Tensor::scalar(-0.5f)),
                              maker.constant(Tensor::scalar(1.5f))});
      } else if (std::string_view(kind) == "Swish") {
        y = maker.op("Mul", {y, maker.op("Sigmoid", {y})});
      } else if (std::string_view(kind) == "Gelu") {
        y = maker.op("Gelu", {y});
      } else {
        y = maker.op(kind, {y});
      }
      // The reader of padded channels, and one of the result as it is.
      maker.output(maker.conv(y, 40, 8, 3));
      maker.output(y);
      expect_own(maker, conv, 5e-5f);
      EXPECT_EQ(count_type(compare(maker.model(), 5e-5f), "Add"), 0u) << "added in registers";
    }
  }
}

TEST_F(CpuPointwise, NanAndInfinitiesStayInTheirPixels) {
  ModelMaker maker;
  Value* y = maker.conv(maker.input({1, 24, 9, 9}), 24, 50);
  maker.output(y);
  Tensor src = random_tensor({1, 24, 9, 9}, 3);
  src.values<float>()[5] = kNan;
  src.values<float>()[81 + 40] = std::numeric_limits<float>::infinity();
  src.values<float>()[23 * 81 + 80] = -std::numeric_limits<float>::infinity();
  expect_own(maker, y);
  const auto compiled = compile(maker.model(), {{"CACHE_DIR", ""}});
  ASSERT_NE(compiled, nullptr);
  const Tensor got = infer(*compiled, {src})[0];
  for (int64_t i = 0; i < 50 * 81; ++i) {
    const float value = got.values<float>()[static_cast<size_t>(i)];
    const int64_t pixel = i % 81;
    EXPECT_EQ(std::isnan(value), pixel == 5) << i;
    EXPECT_EQ(std::isinf(value), pixel == 40 || pixel == 80) << i;
  }
}

TEST_F(CpuPointwise, WholeBlocksOfLargePicturesStayWithOneDnn) {
  ModelMaker maker;
  Value* y = maker.conv(maker.input({1, 32, 20, 20}), 32, 48);
  maker.output(y);
  const auto rows = compare(maker.model(), 2e-5f, {{"CACHE_DIR", ""}});
  EXPECT_NE(implementation(rows, y->producer()->name()).find("jit"), std::string::npos);
}

}  // namespace
}  // namespace het
