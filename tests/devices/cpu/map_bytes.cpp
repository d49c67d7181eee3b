/// Functions of one byte as tables (inference/passes/fusions/int8/map_bytes.cpp).

#include <numeric>

#include "devices/cpu/loops/byte_map_loop.h"
#include "devices/cpu/plan/fuse.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/int8_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

TEST(CpuByteMap, EveryByteOnEveryInstructionSet) {
  std::vector<uint8_t> map(256);
  std::vector<uint8_t> src(700);
  for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<uint8_t>(i * 167 + 13);
  for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<uint8_t>(i * 101 + i / 256);
  cpu_testing::on_each_instruction_set([&] {
    for (const size_t count : {0, 1, 15, 16, 31, 33, 64, 127, 200, 699}) {
      std::vector<uint8_t> wanted = src;
      for (size_t i = 0; i < count; ++i) wanted[i] = map[src[i]];
      std::vector<uint8_t> got = src;
      cpu::map_byte_row(src.data(), map.data(), count, got.data());
      EXPECT_EQ(got, wanted) << count;
      got = src;
      cpu::map_byte_row(got.data(), map.data(), count, got.data());
      EXPECT_EQ(got, wanted) << count << " in place";
    }
  });
}

class CpuMapBytes : public device_testing::Int8Test<CpuTest> {
 protected:
  std::string fused_graph() {
    const std::unique_ptr<Model> model = maker_.model().clone();
    EXPECT_TRUE(prepare_model(*model).ok());
    EXPECT_TRUE(cpu::fuse(*model, true).ok());
    return "\n" + print_model(*model);
  }
  Value* swish(Value* x) { return maker_.op("Mul", {x, maker_.op("Sigmoid", {x})}); }
};

TEST_F(CpuMapBytes, FunctionsOfOneByte) {
  const auto apply = [&](const std::string& type, Value* x) {
    if (type == "Swish") return swish(x);
    if (type == "RoundedSwish") {  // as quantisers write it
      Value* gate =
          dequantise(quantise(maker_.op("Sigmoid", {x}), 1.0f / 255.0f, 0), 1.0f / 255.0f, 0);
      return maker_.op("Mul", {x, gate});
    }
    if (type == "Scale") return x;
    if (type == "Sums") {
      return maker_.op("Add", {maker_.op("Mul", {scale(0.7f), maker_.op("Abs", {x})}),
                               maker_.constant(Tensor::from<float>({1, 1, 1}, {-0.3f}))});
    }
    return maker_.op(type, {x});
  };
  for (const char* type : {"Swish", "RoundedSwish", "Scale", "Sums", "HardSwish", "Tanh", "Gelu",
                           "Log", "Exp", "Mish"}) {
    for (const bool is_signed : {false, true}) {
      SCOPED_TRACE(fmt::format("{} of {}", type, is_signed ? "int8" : "uint8"));
      maker_ = ModelMaker();
      Value* bytes =
          maker_.input({1, 5, 40, 7}, is_signed ? ElementType::Int8 : ElementType::UInt8);
      Value* point = is_signed ? maker_.constant(Tensor::scalar(int8_t{-8})) : zero(120);
      Value* x = maker_.op("DequantizeLinear", {bytes, scale(0.03f), point});
      Value* y = apply(type, x);
      maker_.output(quantise(y, 0.031f, 110));
      maker_.output(maker_.op("QuantizeLinear",
                              {y, scale(0.05f), maker_.constant(Tensor::scalar(int8_t{-9}))}));
      const auto rows = compare_steps();
      EXPECT_EQ(count_type(rows, "MapBytes"), 2u);
      EXPECT_EQ(count_type(rows, "Elementwise") + count_type(rows, "Sigmoid"), 0u);
    }
  }
}

/// Each is a table of the first bytes, whatever they were rounded to on the way.
TEST_F(CpuMapBytes, RoundingsInBetween) {
  Value* x = stored_input({1, 8, 9, 6}, 0.02f, 131);
  Value* y = dequantise(quantise(swish(x), 0.04f, 20), 0.04f, 20);
  Value* z = dequantise(quantise(maker_.op("Tanh", {y}), 0.01f, 100), 0.01f, 100);
  maker_.output(quantise(y, 0.03f, 7));
  maker_.output(quantise(maker_.op("Sub", {maker_.op("Mul", {y, scale(1.5f)}), z}), 0.05f, 9));
  maker_.output(quantise(maker_.op("Mul", {y, stored_input({1, 8, 9, 6}, 0.02f, 3)}), 0.1f, 40));
  EXPECT_EQ(fused_graph(), R"(
input x0 : uint8[1,8,9,6]
input x1 : uint8[1,8,9,6]
QuantizeLinear3_y_2 = het.MapBytes(x0, QuantizeLinear3/map=uint8[256]) : uint8[1,8,9,6]
QuantizeLinear8_y_2 = het.MapBytes(x0, QuantizeLinear8/map=uint8[256]) : uint8[1,8,9,6]
QuantizeLinear11_y_2 = het.MapBytes(x0, QuantizeLinear11/map=uint8[256]) : uint8[1,8,9,6]
QuantizeLinear14_y_2 = het.ElementwiseBytes(QuantizeLinear3_y_2, x1) {alphas=[0] betas=[0] dst_scale=0.1 dst_zero=40 program=[Mul 0 1] src_scales=[0.04,0.02] src_zeros=[20,3]} : uint8[1,8,9,6]
output y0 = QuantizeLinear8_y_2
output y1 = QuantizeLinear11_y_2
output y2 = QuantizeLinear14_y_2
)");
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "MapBytes"), 3u);
}

/// As quantisers write Gelu: its numbers are quantised, too.
TEST_F(CpuMapBytes, QuantisedNumbers) {
  const auto rounded = [&](Value* x, float step, int point) {
    return dequantise(quantise(x, step, point), step, point);
  };
  const auto number = [&](int byte, float step) { return dequantise(zero(byte), step, 0); };
  Value* x = stored_input({1, 8, 9, 6}, 0.02f, 131);
  Value* part = rounded(maker_.op("Erf", {maker_.op("Div", {x, scale(1.41421f)})}), 0.008f, 128);
  part = rounded(maker_.op("Add", {part, number(255, 1.0f / 255.0f)}), 0.008f, 0);
  part = rounded(maker_.op("Mul", {x, part}), 0.02f, 100);
  maker_.output(quantise(maker_.op("Mul", {number(128, 0.5f / 128.0f), part}), 0.011f, 20));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "MapBytes"), 1u);
  EXPECT_EQ(count_type(rows, "ElementwiseBytes"), 0u);
}

/// However long it is.
TEST_F(CpuMapBytes, AChainOfManyNodes) {
  Value* x = stored_input({1, 8, 9, 6}, 0.02f, 131);
  for (int i = 0; i < 20000; ++i) x = maker_.op("Neg", {x});
  maker_.output(quantise(x, 0.03f, 120));
  const std::unique_ptr<Model> model = maker_.model().clone();
  ASSERT_TRUE(prepare_model(*model).ok());
  ASSERT_TRUE(cpu::map_bytes(*model).ok());
  model->remove_unused();
  EXPECT_EQ(model->nodes().size(), 1u);
}

TEST_F(CpuMapBytes, OthersMayReadWhatLiesBetween) {
  Value* x = stored_input({1, 8, 4, 6}, 0.02f, 131);
  Value* y = maker_.op("Tanh", {x});
  maker_.output(quantise(y, 0.01f, 128));
  maker_.output(y);
  EXPECT_EQ(fused_graph(), R"(
input x0 : uint8[1,8,4,6]
QuantizeLinear2_y_2 = het.MapBytes(x0, QuantizeLinear2/map=uint8[256]) : uint8[1,8,4,6]
Tanh1_y_2 = het.ElementwiseBytes(x0) {alphas=[0] betas=[0] program=[Tanh 0] src_scales=[0.02] src_zeros=[131]} : float32[1,8,4,6]
output y0 = QuantizeLinear2_y_2
output y1 = Tanh1_y_2
)");
  compare_steps();
}

TEST_F(CpuMapBytes, WhatIsNoFunctionOfOneByteStays) {
  Value* x = stored_input({1, 8, 4, 6}, 0.02f, 131);
  Value* other = stored_input({1, 8, 4, 6}, 0.02f, 131);
  Value* row = stored_input({1, 8, 1, 6}, 0.02f, 131);
  maker_.output(quantise(maker_.op("Mul", {x, maker_.op("Tanh", {other})}), 0.01f, 128));
  maker_.output(quantise(maker_.op("Mul", {x, maker_.random({1, 8, 1, 1})}), 0.01f, 128));
  maker_.output(quantise(maker_.op("Sub", {x, maker_.input({1, 8, 4, 6})}), 0.01f, 128));
  // One byte of those that are repeated, but more values.
  maker_.output(quantise(maker_.op("Add", {row, maker_.constant(Tensor::from<float>(
                                                    {4, 1}, {0.1f, 0.2f, 0.3f, 0.4f}))}),
                         0.03f, 128));
  EXPECT_EQ(count_type(compare_steps(), "MapBytes"), 0u);
}

TEST_F(CpuMapBytes, PicturesStayWhereConvolutionsPutThem) {
  Value* x = stored_input({2, 16, 9, 8}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights({24, 16, 3, 3}, 0), maker_.random({24})});
  Value* y = dequantise(quantise(c, 0.05f, 100), 0.05f, 100);
  y = dequantise(quantise(swish(y), 0.04f, 10), 0.04f, 10);
  maker_.output(quantise(maker_.op("Conv", {y, weights({8, 24, 3, 3}, 0)}), 0.05f, 120));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "MapBytes"), 1u);
  EXPECT_EQ(count_type(rows, "Reorder"), 2u) << "of the input and the output";
  for (const ProfileRow& row : rows) {
    if (row.layer_type == "MapBytes") {
      EXPECT_EQ(row.layout, "channels_last");
    }
  }
}

}  // namespace
}  // namespace het
