/// Chains of expressions with bytes at their ends
/// (inference/passes/fusions/int8/byte_elementwise.h).

#include "devices/cpu/loops/elementwise_loop.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/int8_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_bytes;
using cpu_testing::random_tensor;

/// What the loops of DequantizeLinear and QuantizeLinear around the same code give, bit by bit, on
/// every instruction set and wherever a call begins and ends.
TEST(CpuByteElementwise, ValuesAreThoseOfStepsInBetween) {
  const ElementwiseProgram program = {
      3, {{ElementwiseKind::Mul, 0, 1}, {ElementwiseKind::Sub, 3, 2}, {ElementwiseKind::Tanh, 4}}};
  const cpu::ElementwiseCode code = cpu::make_elementwise_code(program);
  constexpr size_t kCount = 700;
  const Tensor a = random_bytes<uint8_t>({kCount}, 3);
  const Tensor b = random_bytes<int8_t>({kCount}, 4);
  const Tensor c = random_tensor({kCount}, 5);
  const cpu::ByteScale a_scale = {0.02f, 131.0f, false};
  const cpu::ByteScale b_scale = {0.013f, -5.0f, true};
  for (const cpu::ByteScale& dst_scale :
       {cpu::ByteScale{0.008f, 128.0f, false}, cpu::ByteScale{0.009f, -3.0f, true}}) {
    cpu_testing::on_each_instruction_set([&] {
      for (const size_t count : {size_t{1}, size_t{15}, size_t{64}, size_t{129}, kCount}) {
        std::vector<float> x(count);
        std::vector<float> y(count);
        dequantise_row(a.bytes(), a_scale, count, x.data());
        dequantise_row(b.bytes(), b_scale, count, y.data());
        const std::vector<cpu::ElementwiseSource> floats = {
            {x.data()}, {y.data()}, {c.data<float>()}};
        std::vector<float> result(count);
        run_elementwise(code, floats.data(), result.data(), count);
        std::vector<std::byte> wanted(count);
        quantise_row(result.data(), dst_scale, count, wanted.data());

        const std::vector<cpu::ElementwiseSource> bytes = {
            {a.bytes(), ElementType::UInt8, false, a_scale.scale, a_scale.zero},
            {b.bytes(), ElementType::Int8, false, b_scale.scale, b_scale.zero},
            {c.data<float>()}};
        std::vector<std::byte> got(count);
        run_elementwise(code, bytes.data(), dst_scale, got.data(), count);
        EXPECT_EQ(got, wanted) << count;
        std::vector<float> real(count);
        run_elementwise(code, bytes.data(), real.data(), count);
        EXPECT_EQ(real, result) << count;
      }
    });
  }
}

class CpuByteExpressions : public device_testing::Int8Test<CpuTest> {
 protected:
  size_t count_byte_expressions() {
    const auto rows = compare_steps();
    EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
    // The factors of channels are floats there.
    const size_t gates = count_type(rows, "GateBytes");
    EXPECT_EQ(count_type(rows, "DequantizeLinear"), gates);
    return count_type(rows, "ElementwiseBytes") + gates;
  }
};

TEST_F(CpuByteExpressions, OperandsOfAllKinds) {
  for (const Shape& shape : {Shape{2, 24, 9, 8}, Shape{3, 50}, Shape{40}}) {
    SCOPED_TRACE(testing::Message() << shape.size() << " dimensions");
    maker_ = ModelMaker();
    Shape channels(shape.size(), 1);
    channels[shape.size() > 1 ? 1 : 0] = shape[shape.size() > 1 ? 1 : 0];
    Value* x = stored_input(shape, 0.02f, 131);
    Value* y = stored_input(shape, 0.03f, 7);
    Value* row = stored_input(channels, 0.01f, 100);
    Value* one = stored_input(Shape(shape.size(), 1), 0.01f, 200);
    Value* real = maker_.input(shape);
    maker_.output(quantise(maker_.op("Mul", {x, y}), 0.06f, 120));
    maker_.output(quantise(maker_.op("Sub", {x, y}), 0.05f, 120));
    maker_.output(quantise(maker_.op("Mul", {x, row}), 0.02f, 120));
    maker_.output(quantise(maker_.op("Add", {one, x}), 0.03f, 120));
    maker_.output(quantise(maker_.op("Add", {x, real}), 0.03f, 120));
    maker_.output(quantise(maker_.op("Mul", {real, maker_.random(channels)}), 0.02f, 120));
    maker_.output(maker_.op("Max", {x, y}));
    EXPECT_EQ(count_byte_expressions(), 7u);
  }
}

TEST_F(CpuByteExpressions, SignedBytesAndOthers) {
  Value* stored = maker_.input({1, 8, 9, 6}, ElementType::Int8);
  Value* x = maker_.op("DequantizeLinear",
                       {stored, scale(0.02f), maker_.constant(Tensor::scalar(int8_t{-9}))});
  Value* y = stored_input({1, 8, 9, 6}, 0.03f, 120);
  maker_.output(quantise(maker_.op("Mul", {x, y}), 0.05f, 120));
  maker_.output(maker_.op("QuantizeLinear", {maker_.op("Sub", {x, y}), scale(0.04f),
                                             maker_.constant(Tensor::scalar(int8_t{3}))}));
  EXPECT_EQ(count_byte_expressions(), 2u);
}

/// As quantize_dynamic writes them: sums in 32 bits, scaled, with a bias.
TEST_F(CpuByteExpressions, SumsOfIntegerProducts) {
  Value* x = maker_.input({2, 5, 37}, ElementType::UInt8);
  Value* w = maker_.constant(random_bytes<int8_t>({37, 50}, 5));
  Value* sums = maker_.op("MatMulInteger", {x, w, zero(120)});
  Value* real = maker_.op("Cast", {sums}, make_attributes({{"to", int64_t{1}}}));
  Value* scaled = maker_.op("Mul", {real, maker_.op("Abs", {maker_.input({1})})});
  maker_.output(maker_.op("Add", {scaled, maker_.random({50})}));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Cast"), 0u);
  EXPECT_EQ(count_type(rows, "ElementwiseBytes"), 1u);
}

/// Between convolutions, whose pictures have the channels last, and floats that may lie in blocks.
TEST_F(CpuByteExpressions, PicturesStayWhereConvolutionsPutThem) {
  Value* x = stored_input({2, 16, 9, 8}, 0.02f, 120);
  const auto conv = [&](Value* from, int64_t oc, unsigned seed) {
    return maker_.op("Conv", {from, weights({oc, from == x ? 16 : 24, 1, 1}, 0, seed)});
  };
  Value* a = dequantise(quantise(conv(x, 24, 5), 0.05f, 100), 0.05f, 100);
  Value* b = dequantise(quantise(conv(x, 24, 6), 0.05f, 110), 0.05f, 110);
  Value* product = dequantise(quantise(maker_.op("Mul", {a, b}), 0.3f, 120), 0.3f, 120);
  maker_.output(quantise(conv(product, 8, 7), 0.2f, 120));
  const auto rows = compare_steps();
  const auto row = std::ranges::find(rows, "ElementwiseBytes", &ProfileRow::layer_type);
  ASSERT_NE(row, rows.end());
  EXPECT_EQ(row->layout, "channels_last");
  EXPECT_EQ(count_type(rows, "Reorder"), 2u) << "of the input and the output";
}

TEST_F(CpuByteExpressions, FloatConvolutionsLieInBlocks) {
  Value* x = maker_.input({1, 20, 9, 8});
  Value* y = stored_input({1, 30, 9, 8}, 0.02f, 120);
  Value* c = maker_.conv(x, 20, 30, 3);
  maker_.output(quantise(maker_.op("Mul", {c, y}), 0.03f, 120));
  maker_.output(maker_.conv(maker_.op("Sub", {y, c}), 30, 20, 3));
  EXPECT_EQ(count_type(compare_steps(), "ElementwiseBytes"), 2u);
}

}  // namespace
}  // namespace het
