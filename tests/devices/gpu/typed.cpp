#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuTyped : public GpuTest {
 protected:
  static constexpr int64_t kInt32 = 6;
  static constexpr int64_t kInt64 = 7;
  static Value* cast(ModelMaker& maker, Value* x, int64_t onnx_type) {
    return maker.op("Cast", {x}, make_attributes({{"to", onnx_type}}));
  }
};

TEST_F(GpuTyped, MasksChooseBetweenBroadcastValues) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    ModelMaker maker;
    Value* x = maker.input({2, 6, 33});
    Value* mask = maker.op("Greater", {x, maker.constant(Tensor::scalar(0.25f))});
    Value* other = maker.op("And", {mask, maker.op("Not", {maker.op("IsNaN", {x})})});
    maker.output(maker.op("Where", {other, x, maker.random({6, 1})}));
    compare(maker.model(), properties.empty() ? 0.0f : 1e-3f, properties);
  }
}

TEST_F(GpuTyped, IntegersWrapAndDivideAsOnnxSays) {
  for (const int64_t type : {kInt32, kInt64}) {
    ModelMaker maker;
    Value* scaled = maker.op("Mul", {maker.input({300}), maker.constant(Tensor::scalar(5.0f))});
    Value* x = cast(maker, scaled, type);
    Value* y = cast(
        maker, maker.op("Mul", {maker.input({300}), maker.constant(Tensor::scalar(2.0f))}), type);
    for (const char* op : {"Add", "Sub", "Mul", "Div", "Mod", "Max", "Min", "BitwiseXor", "Pow"}) {
      maker.output(maker.op(op, {x, y}));
    }
    maker.output(maker.op("Neg", {maker.op("Abs", {x})}));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuTyped, ChannelsLastOperandsStaySo) {
  ModelMaker maker;
  Value* x = maker.op("MaxPool", {maker.input({1, 12, 5, 5})},
                      make_attributes({{"kernel_shape", Ints{1, 1}}}));
  Value* y = maker.op("Mean", {maker.op("Sin", {x}), x, maker.random({12, 1, 1})});
  maker.output(maker.op("MaxPool", {y}, make_attributes({{"kernel_shape", Ints{2, 2}}})));
  const auto rows = compare(maker.model());
  // The picture on its way in and the result on its way out.
  EXPECT_EQ(count_type(rows, "Reorder"), 2u);
}

TEST_F(GpuTyped, ScalesOfChannelsInBothFormats) {
  ModelMaker maker;
  Value* x = maker.input({1, 5, 4, 6});
  Value* scale = maker.constant(
      Tensor::from<float>({5}, std::vector<float>{0.01f, 0.02f, 0.03f, 0.05f, 0.1f}));
  Value* zero =
      maker.constant(Tensor::from<uint8_t>({5}, std::vector<uint8_t>{128, 0, 3, 255, 77}));
  Value* last = maker.op("MaxPool", {x}, make_attributes({{"kernel_shape", Ints{1, 1}}}));
  for (Value* from : {x, last}) {
    Value* bytes = maker.op("QuantizeLinear", {from, scale, zero});
    maker.output(bytes);
    maker.output(maker.op("DequantizeLinear", {bytes, scale, zero}));
  }
  compare(maker.model(), 0.0f);
}

}  // namespace
}  // namespace het::gpu_testing
