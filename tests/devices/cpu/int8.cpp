#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/plan/fuse.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/int8_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_bytes;

using Pass = Status (*)(Model& model);

/// Models between QuantizeLinear and DequantizeLinear on int8 kernels.
class CpuInt8 : public device_testing::Int8Test<CpuTest> {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::computes_int8()) GTEST_SKIP() << "no AVX2: quantised models compute in float";
  }

  Value* conv(Value* x, int64_t oc, int64_t kernel, int64_t group = 1, unsigned seed = 5) {
    const int64_t ic = x->desc().shape.empty() ? 20 : x->desc().shape[1];
    return maker_.op("Conv",
                     {x, weights({oc, ic / group, kernel, kernel}, 0, seed), maker_.random({oc})},
                     make_attributes({{"group", group}, {"pads", Ints(4, kernel / 2)}}));
  }

  static void run(Model& model, Pass pass) {
    const Status status = pass(model);
    ASSERT_TRUE(status.ok()) << status.message();
    model.remove_unused();
    ASSERT_TRUE(model.sort().ok());
  }

  /// The graph before and after.
  void expect_graphs(std::initializer_list<Pass> passes, const std::string& before,
                     const std::string& after) {
    const std::unique_ptr<Model> model = maker_.model().clone();
    ASSERT_TRUE(prepare_model(*model).ok());
    EXPECT_EQ("\n" + print_model(*model), before);
    for (const Pass pass : passes) run(*model, pass);
    EXPECT_EQ("\n" + print_model(*model), after);
  }
};

TEST_F(CpuInt8, AConvolutionBetweenBytes) {
  Value* x = stored_input({1, 20, 9, 8}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights({24, 20, 3, 3}, 0), maker_.random({24})},
                       make_attributes({{"pads", Ints{1, 1, 1, 1}}}));
  maker_.output(quantise(maker_.op("Relu", {c}), 0.05f, 0));
  expect_graphs({cpu::quantise_products}, R"(
input x0 : uint8[1,20,9,8]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=120) : float32[1,20,9,8]
DequantizeLinear1_y = DequantizeLinear(c2=int8[24,20,3,3], c3=float32[24], c4=int8[24]) {axis=0} : float32[24,20,3,3]
Conv2_y = Conv(DequantizeLinear0_y, DequantizeLinear1_y, c5=float32[24]) {pads=[1,1,1,1]} : float32[1,24,9,8]
Relu3_y = Relu(Conv2_y) : float32[1,24,9,8]
QuantizeLinear4_y = QuantizeLinear(Relu3_y, c6=0.05, c7=0) : uint8[1,24,9,8]
output y0 = QuantizeLinear4_y
)",
                R"(
input x0 : uint8[1,20,9,8]
Conv2_y_2 = het.Int8Conv(x0, DequantizeLinear1_y/int8=int8[24,20,3,3], Conv2/bias=float32[24], -, Conv2/scales=float32[24]) {pads=[1,1,1,1] src_zero=120} : float32[1,24,9,8]
Relu3_y = Relu(Conv2_y_2) : float32[1,24,9,8]
QuantizeLinear4_y = QuantizeLinear(Relu3_y, c6=0.05, c7=0) : uint8[1,24,9,8]
output y0 = QuantizeLinear4_y
)");
  expect_graphs({cpu::quantise_products, cpu::fuse_int8_activations, cpu::fuse_requantisation}, R"(
input x0 : uint8[1,20,9,8]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=120) : float32[1,20,9,8]
DequantizeLinear1_y = DequantizeLinear(c2=int8[24,20,3,3], c3=float32[24], c4=int8[24]) {axis=0} : float32[24,20,3,3]
Conv2_y = Conv(DequantizeLinear0_y, DequantizeLinear1_y, c5=float32[24]) {pads=[1,1,1,1]} : float32[1,24,9,8]
Relu3_y = Relu(Conv2_y) : float32[1,24,9,8]
QuantizeLinear4_y = QuantizeLinear(Relu3_y, c6=0.05, c7=0) : uint8[1,24,9,8]
output y0 = QuantizeLinear4_y
)",
                R"(
input x0 : uint8[1,20,9,8]
QuantizeLinear4_y_2 = het.Int8Conv(x0, DequantizeLinear1_y/int8=int8[24,20,3,3], Conv2/bias=float32[24], -, Conv2/scales=float32[24]) {dst_scale=0.05 pads=[1,1,1,1] src_zero=120 tail=[Relu] tail_alphas=[0] tail_betas=[0]} : uint8[1,24,9,8]
output y0 = QuantizeLinear4_y_2
)");
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 1u);
  EXPECT_EQ(count_type(rows, "Conv"), 0u);
}

TEST_F(CpuInt8, ConvolutionsOfAllKinds) {
  for (const int64_t group : {int64_t{1}, int64_t{2}, int64_t{32}}) {
    for (const int64_t kernel : {int64_t{1}, int64_t{3}}) {
      for (const int src_zero : {0, 99}) {
        for (const int dst_zero : {0, 131}) {
          SCOPED_TRACE(testing::Message() << "group " << group << " kernel " << kernel << " zeros "
                                          << src_zero << " and " << dst_zero);
          maker_ = ModelMaker();
          Value* x = stored_input({1, 32, 9, 8}, 0.02f, src_zero);
          Value* c = maker_.op(
              "Conv", {x, weights({32, 32 / group, kernel, kernel}, 0), maker_.random({32})},
              make_attributes({{"group", group}, {"pads", Ints(4, kernel / 2)}}));
          maker_.output(quantise(c, 0.06f, dst_zero));
          Value* clipped = maker_.op("Clip", {c, scale(-1.0f), scale(2.5f)});
          maker_.output(quantise(clipped, 0.02f, dst_zero));
          compare_steps();
        }
      }
    }
  }
}

/// Each channel meets filters of its own; oneDNN has no kernel for several of them.
TEST_F(CpuInt8, SeveralFiltersForEachChannel) {
  for (const int64_t filters : {int64_t{2}, int64_t{3}}) {
    for (const int64_t kernel : {int64_t{1}, int64_t{3}, int64_t{7}}) {
      for (const int src_zero : {0, 99}) {
        SCOPED_TRACE(testing::Message()
                     << filters << " filters of " << kernel << ", zero point " << src_zero);
        maker_ = ModelMaker();
        Value* x = stored_input({2, 24, 9, 8}, 0.02f, src_zero);
        Value* c = maker_.op(
            "Conv",
            {x, weights({24 * filters, 1, kernel, kernel}, 0), maker_.random({24 * filters})},
            make_attributes(
                {{"group", int64_t{24}}, {"pads", Ints(4, kernel / 2)}, {"strides", Ints{2, 2}}}));
        maker_.output(quantise(maker_.op("Relu", {c}), 0.06f, 0));
        const auto rows = compare_steps();
        EXPECT_EQ(count_type(rows, "ChannelGather"), 1u);
        EXPECT_EQ(count_type(rows, "Int8Conv"), 1u);
        const auto row = std::ranges::find(rows, "Int8Conv", &ProfileRow::layer_type);
        ASSERT_NE(row, rows.end());
        EXPECT_EQ(row->exec_type.find("gemm"), std::string::npos) << row->exec_type;
      }
    }
  }
}

/// oneDNN 3 offers kernels first that fill up blocks of channels.
TEST_F(CpuInt8, PicturesRunOnKernelsForFewChannels) {
  for (const int64_t kernel : {int64_t{3}, int64_t{7}}) {
    for (const int src_zero : {0, 114}) {
      SCOPED_TRACE(testing::Message() << "kernel " << kernel << " zero " << src_zero);
      maker_ = ModelMaker();
      Value* x = stored_input({1, 3, 40, 40}, 0.02f, src_zero);
      Value* c =
          maker_.op("Conv", {x, weights({16, 3, kernel, kernel}, 0), maker_.random({16})},
                    make_attributes({{"pads", Ints(4, kernel / 2)}, {"strides", Ints{2, 2}}}));
      maker_.output(quantise(maker_.op("Relu", {c}), 0.05f, 0));
      const auto rows = compare_steps();
      const auto row = std::ranges::find(rows, "Int8Conv", &ProfileRow::layer_type);
      ASSERT_NE(row, rows.end());
      EXPECT_FALSE(row->exec_type.starts_with("brg_conv_fwd:avx512") ||
                   row->exec_type.starts_with("brg_conv_fwd:avx10"))
          << row->exec_type;
    }
  }
}

TEST_F(CpuInt8, ActivationsInRealValues) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 7);
  Value* c = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  maker_.output(quantise(maker_.op("Mul", {c, maker_.op("Sigmoid", {c})}), 0.03f, 12));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 1u);
  EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
}

TEST_F(CpuInt8, RoundingToWholeNumbers) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 7);
  Value* c = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  maker_.output(quantise(maker_.op("Round", {c}), 1.0f, 128));
  compare_steps();
}

TEST_F(CpuInt8, ConvolutionsAlongOneDimension) {
  Value* x = stored_input({2, 16, 30}, 0.02f, 7);
  Value* c =
      maker_.op("Conv", {x, weights({32, 16, 3}, 0)}, make_attributes({{"pads", Ints{1, 1}}}));
  maker_.output(quantise(c, 0.03f, 128));
  EXPECT_EQ(count_type(compare_steps(), "Int8Conv"), 1u);
}

TEST_F(CpuInt8, ASumBehindTwoConvolutions) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 128);
  Value* a = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  Value* b = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0, 6)});
  // Most of the first lies beyond the limits of its rounding, -1 and 1.55.
  Value* left = dequantise(quantise(a, 0.01f, 100), 0.01f, 100);
  Value* right = dequantise(quantise(b, 0.02f, 90), 0.02f, 90);
  Value* sum = maker_.op("Add", {left, right});
  maker_.output(quantise(maker_.op("Relu", {sum}), 0.015f, 0));
  expect_graphs({cpu::quantise_products, cpu::fuse_int8_sums, cpu::fuse_requantisation}, R"(
input x0 : uint8[1,32,9,8]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=128) : float32[1,32,9,8]
DequantizeLinear1_y = DequantizeLinear(c2=int8[32,32,1,1], c3=float32[32], c4=int8[32]) {axis=0} : float32[32,32,1,1]
Conv2_y = Conv(DequantizeLinear0_y, DequantizeLinear1_y) : float32[1,32,9,8]
DequantizeLinear3_y = DequantizeLinear(c5=int8[32,32,1,1], c6=float32[32], c7=int8[32]) {axis=0} : float32[32,32,1,1]
Conv4_y = Conv(DequantizeLinear0_y, DequantizeLinear3_y) : float32[1,32,9,8]
QuantizeLinear5_y = QuantizeLinear(Conv2_y, c8=0.01, c9=100) : uint8[1,32,9,8]
DequantizeLinear6_y = DequantizeLinear(QuantizeLinear5_y, c10=0.01, c11=100) : float32[1,32,9,8]
QuantizeLinear7_y = QuantizeLinear(Conv4_y, c12=0.02, c13=90) : uint8[1,32,9,8]
DequantizeLinear8_y = DequantizeLinear(QuantizeLinear7_y, c14=0.02, c15=90) : float32[1,32,9,8]
Add9_y = Add(DequantizeLinear6_y, DequantizeLinear8_y) : float32[1,32,9,8]
Relu10_y = Relu(Add9_y) : float32[1,32,9,8]
QuantizeLinear11_y = QuantizeLinear(Relu10_y, c16=0.015, c17=0) : uint8[1,32,9,8]
output y0 = QuantizeLinear11_y
)",
                R"(
input x0 : uint8[1,32,9,8]
QuantizeLinear7_y_2 = het.Int8Conv(x0, DequantizeLinear3_y/int8=int8[32,32,1,1], -, -, Conv4/scales=float32[32]) {dst_scale=0.02 dst_zero=90 src_zero=128} : uint8[1,32,9,8]
QuantizeLinear11_y_2 = het.Int8Conv(x0, DequantizeLinear1_y/int8=int8[32,32,1,1], -, QuantizeLinear7_y_2, Conv2/scales=float32[32]) {dst_scale=0.015 src_zero=128 sum_scale=0.02 sum_zero=90 tail=[Round,Clip,Sum,Relu] tail_alphas=[0.01,-1,0,0] tail_betas=[0,1.55,0,0]} : uint8[1,32,9,8]
output y0 = QuantizeLinear11_y_2
)");
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "QLinearAdd"), 0u);
}

TEST_F(CpuInt8, ASumWithAValueThatIsReadLater) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 128);
  Value* c = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  maker_.output(quantise(maker_.op("Add", {x, c}), 0.03f, 100));
  maker_.output(quantise(maker_.op("Relu", {x}), 0.01f, 3));
  EXPECT_EQ(count_type(compare_steps(), "QLinearAdd"), 0u);
}

TEST_F(CpuInt8, ProductsWithRows) {
  Value* x = stored_input({3, 40}, 0.02f, 131);
  Value* g = maker_.op("Gemm", {x, weights({12, 40}, 0), maker_.random({12})},
                       make_attributes({{"transB", int64_t{1}}}));
  maker_.output(g);
  Value* m = maker_.op("MatMul", {stored_input({2, 5, 40}, 0.02f, 131), weights({40, 12}, 1)});
  maker_.output(quantise(m, 0.03f, 128));
  expect_graphs({cpu::quantise_products, cpu::fuse_requantisation}, R"(
input x0 : uint8[3,40]
input x1 : uint8[2,5,40]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=131) : float32[3,40]
DequantizeLinear1_y = DequantizeLinear(c2=int8[12,40], c3=float32[12], c4=int8[12]) {axis=0} : float32[12,40]
Gemm2_y = Gemm(DequantizeLinear0_y, DequantizeLinear1_y, c5=float32[12]) {transB=1} : float32[3,12]
DequantizeLinear3_y = DequantizeLinear(x1, c6=0.02, c7=131) : float32[2,5,40]
DequantizeLinear4_y = DequantizeLinear(c8=int8[40,12], c9=float32[12], c10=int8[12]) {axis=1} : float32[40,12]
MatMul5_y = MatMul(DequantizeLinear3_y, DequantizeLinear4_y) : float32[2,5,12]
QuantizeLinear6_y = QuantizeLinear(MatMul5_y, c11=0.03, c12=128) : uint8[2,5,12]
output y0 = Gemm2_y
output y1 = QuantizeLinear6_y
)",
                R"(
input x0 : uint8[3,40]
input x1 : uint8[2,5,40]
Gemm2_y_2 = het.Int8MatMul(x0, DequantizeLinear1_y/int8=int8[40,12], Gemm2/bias=float32[12], -, Gemm2/scales=float32[12]) {src_zero=131} : float32[3,12]
QuantizeLinear6_y_2 = het.Int8MatMul(x1, DequantizeLinear4_y/int8=int8[40,12], -, -, MatMul5/scales=float32[12]) {dst_scale=0.03 dst_zero=128 src_zero=131} : uint8[2,5,12]
output y0 = Gemm2_y_2
output y1 = QuantizeLinear6_y_2
)");
  EXPECT_EQ(count_type(compare_steps(), "Int8MatMul"), 2u);
}

TEST_F(CpuInt8, MovesOfBytes) {
  Value* x = stored_input({1, 16, 4, 6}, 0.02f, 131);
  Value* pool = maker_.op("MaxPool", {x},
                          make_attributes({{"kernel_shape", Ints{3, 3}}, {"pads", Ints(4, 1)}}));
  Value* turned = maker_.op("Transpose", {pool}, make_attributes({{"perm", Ints{0, 2, 3, 1}}}));
  maker_.output(quantise(maker_.op("Flatten", {turned}), 0.02f, 131));
  expect_graphs({move_quantisation}, R"(
input x0 : uint8[1,16,4,6]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=131) : float32[1,16,4,6]
MaxPool1_y = MaxPool(DequantizeLinear0_y) {kernel_shape=[3,3] pads=[1,1,1,1]} : float32[1,16,4,6]
Transpose2_y = Transpose(MaxPool1_y) {perm=[0,2,3,1]} : float32[1,4,6,16]
Flatten3_y = Flatten(Transpose2_y) : float32[1,384]
QuantizeLinear4_y = QuantizeLinear(Flatten3_y, c2=0.02, c3=131) : uint8[1,384]
output y0 = QuantizeLinear4_y
)",
                R"(
input x0 : uint8[1,16,4,6]
MaxPool1_y/stored = MaxPool(x0) {kernel_shape=[3,3] pads=[1,1,1,1]} : uint8[1,16,4,6]
Transpose2_y/stored = Transpose(MaxPool1_y/stored) {perm=[0,2,3,1]} : uint8[1,4,6,16]
Flatten3_y/stored = Flatten(Transpose2_y/stored) : uint8[1,384]
output y0 = Flatten3_y/stored
)");
  EXPECT_EQ(count_type(compare_steps(), "DequantizeLinear"), 0u);
}

/// Of any number of channels, as planes and as pixels, behind bytes and behind a product. What
/// interpolates computes in float.
TEST_F(CpuInt8, ResizesOfBytes) {
  for (const int64_t channels : {3, 7, 16, 40}) {
    for (const char* mode : {"nearest", "linear"}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, " << mode);
      maker_ = ModelMaker();
      Value* scales = maker_.constant(Tensor::from<float>({4}, {1, 1, 2, 1.5f}));
      const auto attributes = make_attributes(
          {{"mode", mode}, {"coordinate_transformation_mode", std::string("asymmetric")}});
      Value* x = stored_input({2, channels, 4, 6}, 0.02f, 131);
      maker_.output(quantise(maker_.op("Resize", {x, nullptr, scales}, attributes), 0.02f, 131));
      const auto stored = [&](Value* value) {
        return dequantise(quantise(value, 0.05f, 120), 0.05f, 120);
      };
      Value* product = stored(maker_.op("Conv", {x, weights({channels, channels, 1, 1}, 0)}));
      Value* larger = stored(maker_.op("Resize", {product, nullptr, scales}, attributes));
      maker_.output(
          quantise(maker_.op("Conv", {larger, weights({8, channels, 3, 3}, 0)}), 0.1f, 120));
      const auto rows = compare_steps();
      EXPECT_EQ(count_type(rows, "Resize"), 2u);
      const bool stays = mode == std::string("nearest");
      EXPECT_EQ(count_type(rows, "DequantizeLinear"), stays ? 0u : 2u);
    }
  }
}

/// The parts of a Split stay bytes, of the same steps and of others.
TEST_F(CpuInt8, SplitsOfBytes) {
  Value* x = stored_input({1, 16, 4, 6}, 0.02f, 131);
  const auto parts =
      maker_.split("Split", {x, maker_.ints({6, 10})}, 2, make_attributes({{"axis", int64_t{1}}}));
  maker_.output(quantise(parts[0], 0.02f, 131));
  maker_.output(quantise(parts[1], 0.03f, 120));
  maker_.output(parts[1]);
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Split"), 1u);
  EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
  EXPECT_EQ(count_type(rows, "DequantizeLinear"), 1u);
}

/// Channels in turn, as ShuffleNet's quantisers write them: behind a Concat and in front of a
/// Split.
TEST_F(CpuInt8, ShufflesOfBytes) {
  Value* a = stored_input({1, 20, 9, 8}, 0.02f, 131);
  Value* b = stored_input({1, 20, 9, 8}, 0.02f, 131);
  Value* both = maker_.op("Concat", {conv(a, 24, 1), conv(b, 24, 1, 1, 6)},
                          make_attributes({{"axis", int64_t{1}}}));
  both = dequantise(quantise(both, 0.05f, 120), 0.05f, 120);
  Value* parts = maker_.op("Reshape", {both, maker_.ints({1, 2, 24, 9, 8})});
  Value* turned = maker_.op("Transpose", {parts}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
  Value* joined = maker_.op("Reshape", {turned, maker_.ints({1, 48, 9, 8})});
  const auto halves = maker_.split("Split", {joined}, 2, make_attributes({{"axis", int64_t{1}}}));
  for (Value* half : halves) maker_.output(quantise(half, 0.05f, 120));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "ChannelGather"), 1u);
  for (const char* type : {"QuantizeLinear", "DequantizeLinear", "Transpose", "Concat"}) {
    EXPECT_EQ(count_type(rows, type), 0u) << type;
  }
}

TEST_F(CpuInt8, PoolsWhoseIndicesNobodyReads) {
  Value* x = stored_input({1, 16, 4, 6}, 0.02f, 131);
  Value* pool = maker_.split("MaxPool", {x}, 2, make_attributes({{"kernel_shape", Ints{2, 2}}}))[0];
  maker_.output(quantise(pool, 0.02f, 131));
  EXPECT_EQ(count_type(compare_steps(), "DequantizeLinear"), 0u);
}

/// With numbers that a byte says exactly, or those in front of QuantizeLinear.
TEST_F(CpuInt8, PadsWorkOnBytes) {
  const auto pad = [&](Value* x, const char* mode, float value) {
    std::vector<Value*> inputs = {x, maker_.ints({0, 0, 1, 2, 0, 0, 2, 0})};
    if (mode == std::string("constant") && value != 0.0f) inputs.push_back(scale(value));
    return maker_.op("Pad", inputs, make_attributes({{"mode", std::string(mode)}}));
  };
  for (const auto& [mode, value] : {std::pair{"constant", 0.0f},
                                    {"constant", 0.5f},
                                    {"constant", 0.51f},
                                    {"constant", -100.0f},
                                    {"reflect", 0.0f},
                                    {"edge", 0.0f}}) {
    SCOPED_TRACE(testing::Message() << mode << ' ' << value);
    maker_ = ModelMaker();
    Value* x = stored_input({1, 16, 7, 9}, 0.25f, 131);
    Value* pool = maker_.op("MaxPool", {pad(x, mode, value)},
                            make_attributes({{"kernel_shape", Ints{2, 2}}}));
    maker_.output(quantise(pool, 0.25f, 131));
    const auto rows = compare_steps();
    // In front of QuantizeLinear any number is a byte, between floats what a byte says exactly.
    EXPECT_EQ(count_type(rows, "DequantizeLinear"), 0u);
    EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
    maker_ = ModelMaker();
    x = stored_input({1, 16, 7, 9}, 0.25f, 131);
    maker_.output(maker_.op("Relu", {pad(x, mode, value)}));
    compare_steps(0.0f);
  }
}

TEST_F(CpuInt8, PadsOfZerosGoIntoConvolutions) {
  for (const int zero_point : {0, 131}) {
    maker_ = ModelMaker();
    Value* x = stored_input({1, 16, 7, 9}, 0.02f, zero_point);
    Value* padded = maker_.op("Pad", {x, maker_.ints({0, 0, 1, 1, 0, 0, 1, 1})});
    Value* stored = dequantise(quantise(padded, 0.02f, zero_point), 0.02f, zero_point);
    for (const unsigned seed : {5u, 6u}) {
      // The second one is behind a Pad of its own.
      Value* read =
          seed == 5 ? stored : maker_.op("Pad", {x, maker_.ints({0, 0, 1, 0, 0, 0, 0, 1})});
      maker_.output(
          quantise(maker_.op("Conv", {read, weights({24, 16, 3, 3}, 0, seed)}), 0.05f, 120));
    }
    const auto rows = compare_steps();
    EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
    EXPECT_EQ(count_type(rows, "Pad"), zero_point == 0 ? 0u : 2u);
  }
}

TEST_F(CpuInt8, QuantisationInFrontOfAConcatenation) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 128);
  Value* a = maker_.op("Conv", {x, weights({16, 32, 1, 1}, 0)});
  Value* b = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0, 6)});
  Value* both = maker_.op("Concat", {a, b}, make_attributes({{"axis", int64_t{1}}}));
  maker_.output(quantise(both, 0.05f, 100));
  expect_graphs({cpu::quantise_products, move_quantisation, cpu::fuse_requantisation}, R"(
input x0 : uint8[1,32,9,8]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=128) : float32[1,32,9,8]
DequantizeLinear1_y = DequantizeLinear(c2=int8[16,32,1,1], c3=float32[16], c4=int8[16]) {axis=0} : float32[16,32,1,1]
Conv2_y = Conv(DequantizeLinear0_y, DequantizeLinear1_y) : float32[1,16,9,8]
DequantizeLinear3_y = DequantizeLinear(c5=int8[32,32,1,1], c6=float32[32], c7=int8[32]) {axis=0} : float32[32,32,1,1]
Conv4_y = Conv(DequantizeLinear0_y, DequantizeLinear3_y) : float32[1,32,9,8]
Concat5_y = Concat(Conv2_y, Conv4_y) {axis=1} : float32[1,48,9,8]
QuantizeLinear6_y = QuantizeLinear(Concat5_y, c8=0.05, c9=100) : uint8[1,48,9,8]
output y0 = QuantizeLinear6_y
)",
                R"(
input x0 : uint8[1,32,9,8]
Conv2_y_2/stored_2 = het.Int8Conv(x0, DequantizeLinear1_y/int8=int8[16,32,1,1], -, -, Conv2/scales=float32[16]) {dst_scale=0.05 dst_zero=100 src_zero=128} : uint8[1,16,9,8]
Conv4_y_2/stored_2 = het.Int8Conv(x0, DequantizeLinear3_y/int8=int8[32,32,1,1], -, -, Conv4/scales=float32[32]) {dst_scale=0.05 dst_zero=100 src_zero=128} : uint8[1,32,9,8]
Concat5_y/stored = Concat(Conv2_y_2/stored_2, Conv4_y_2/stored_2) {axis=1} : uint8[1,48,9,8]
output y0 = Concat5_y/stored
)");
  EXPECT_EQ(count_type(compare_steps(), "QuantizeLinear"), 0u);
}

TEST_F(CpuInt8, SumsAndPoolsOfBytes) {
  Value* a = stored_input({1, 16, 4, 6}, 0.02f, 131);
  Value* b = stored_input({1, 16, 4, 6}, 0.01f, 7);
  Value* sum = quantise(maker_.op("Relu", {maker_.op("Add", {a, b})}), 0.02f, 0);
  Value* pool = maker_.op("GlobalAveragePool", {dequantise(sum, 0.02f, 0)});
  maker_.output(quantise(pool, 0.01f, 0));
  expect_graphs({cpu::quantise_operators}, R"(
input x0 : uint8[1,16,4,6]
input x1 : uint8[1,16,4,6]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=131) : float32[1,16,4,6]
DequantizeLinear1_y = DequantizeLinear(x1, c2=0.01, c3=7) : float32[1,16,4,6]
Add2_y = Add(DequantizeLinear0_y, DequantizeLinear1_y) : float32[1,16,4,6]
Relu3_y = Relu(Add2_y) : float32[1,16,4,6]
QuantizeLinear4_y = QuantizeLinear(Relu3_y, c4=0.02, c5=0) : uint8[1,16,4,6]
DequantizeLinear5_y = DequantizeLinear(QuantizeLinear4_y, c6=0.02, c7=0) : float32[1,16,4,6]
GlobalAveragePool6_y = GlobalAveragePool(DequantizeLinear5_y) : float32[1,16,1,1]
QuantizeLinear7_y = QuantizeLinear(GlobalAveragePool6_y, c8=0.01, c9=0) : uint8[1,16,1,1]
output y0 = QuantizeLinear7_y
)",
                R"(
input x0 : uint8[1,16,4,6]
input x1 : uint8[1,16,4,6]
QuantizeLinear4_y_2 = com.microsoft.QLinearAdd(x0, Add2/scale=0.02, Add2/zero=131, x1, Add2/scale_2=0.01, Add2/zero_2=7, Add2/scale_3=0.02, Add2/zero_3=0) : uint8[1,16,4,6]
QuantizeLinear7_y_2 = com.microsoft.QLinearGlobalAveragePool(QuantizeLinear4_y_2, GlobalAveragePool6/scale=0.02, GlobalAveragePool6/zero=0, GlobalAveragePool6/scale_2=0.01, GlobalAveragePool6/zero_2=0) : uint8[1,16,1,1]
output y0 = QuantizeLinear7_y_2
)");
  compare_steps();
}

TEST_F(CpuInt8, GatesAndMeansOfBytes) {
  Value* x = stored_input({2, 20, 4, 6}, 0.02f, 131);
  Value* mean = maker_.op("ReduceMean", {x, maker_.ints({2, 3})});
  Value* gated = maker_.op("Mul", {maker_.op("Sigmoid", {mean}), x});
  maker_.output(quantise(maker_.op("Relu", {gated}), 0.01f, 0));
  expect_graphs({cpu::quantise_operators}, R"(
input x0 : uint8[2,20,4,6]
DequantizeLinear0_y = DequantizeLinear(x0, c0=0.02, c1=131) : float32[2,20,4,6]
ReduceMean1_y = ReduceMean(DequantizeLinear0_y, c2=[2,3]) : float32[2,20,1,1]
Sigmoid2_y = Sigmoid(ReduceMean1_y) : float32[2,20,1,1]
Mul3_y = Mul(Sigmoid2_y, DequantizeLinear0_y) : float32[2,20,4,6]
Relu4_y = Relu(Mul3_y) : float32[2,20,4,6]
QuantizeLinear5_y = QuantizeLinear(Relu4_y, c3=0.01, c4=0) : uint8[2,20,4,6]
output y0 = QuantizeLinear5_y
)",
                R"(
input x0 : uint8[2,20,4,6]
ReduceMean1_y_2 = het.MeanOfBytes(x0) {src_scale=0.02 src_zero=131} : float32[2,20,1,1]
Sigmoid2_y = Sigmoid(ReduceMean1_y_2) : float32[2,20,1,1]
QuantizeLinear5_y_2 = het.GateBytes(x0, Sigmoid2_y) {dst_scale=0.01 dst_zero=0 src_scale=0.02 src_zero=131} : uint8[2,20,4,6]
output y0 = QuantizeLinear5_y_2
)");
  compare_steps();
}

TEST_F(CpuInt8, GatesOfAllKindsOfPictures) {
  // Channels: fewer than a vector has, whole vectors, some more; one row and many.
  for (const int64_t channels : {1, 3, 16, 37, 100}) {
    for (const int64_t gates : {1, 2}) {
      for (const bool is_signed : {false, true}) {
        SCOPED_TRACE(fmt::format("{} channels, gates of {}, {}", channels, gates, is_signed));
        maker_ = ModelMaker();
        const ElementType type = is_signed ? ElementType::Int8 : ElementType::UInt8;
        Value* point = is_signed ? maker_.constant(Tensor::scalar(int8_t{-3})) : zero(5);
        Value* bytes = maker_.input({2, 5, 7, channels}, type);
        Value* last =
            maker_.op("Transpose", {bytes}, make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
        Value* plain = maker_.input({2, channels, 5, 7}, type);
        Value* gate = maker_.input({gates, channels, 1, 1});
        Value* x = nullptr;
        for (Value* stored : {plain, last}) {
          x = maker_.op("DequantizeLinear", {stored, scale(0.004f), point});
          maker_.output(quantise(maker_.op("Mul", {x, gate}), 0.02f, 120));
        }
        maker_.output(maker_.op("ReduceMean", {x, maker_.ints({-1, -2})}));
        std::vector<std::string> ran;
        for (const ProfileRow& row : compare_steps()) ran.push_back(row.layer_type);
        EXPECT_EQ(std::ranges::count(ran, "GateBytes"), 2);
        EXPECT_EQ(std::ranges::count(ran, "MeanOfBytes"), 1);
      }
    }
  }
}

TEST_F(CpuInt8, AReluThatStoringDoesIsDropped) {
  for (const int low : {0, 1}) {
    maker_ = ModelMaker();
    Value* x = maker_.op("Relu", {maker_.input({1, 16, 4, 6})});
    maker_.output(quantise(x, 0.02f, low));
    size_t relus = 0;
    for (const ProfileRow& row : compare_steps()) {
      relus += row.layer_type == "ElementwiseBytes" ? 1 : 0;
    }
    // With zero stored as 1 a negative value would become 0.
    EXPECT_EQ(relus, low == 0 ? 0u : 1u);
  }
}

TEST_F(CpuInt8, FakeQuantizeBecomesBytes) {
  Value* x = maker_.input({1, 8, 4, 6});
  // A step of 0.02 and 50 steps below zero.
  const auto fake = [&](Value* value, float low, float high) {
    return maker_.op("FakeQuantize", {value, scale(low), scale(high), scale(low), scale(high)},
                     make_attributes({{"levels", 256}}), "het");
  };
  maker_.output(fake(x, -1.0f, 4.1f));
  maker_.output(fake(x, -1.01f, 4.09f));  // no level at zero
  expect_graphs({split_fake_quantize}, R"(
input x0 : float32[1,8,4,6]
FakeQuantize0_y = het.FakeQuantize(x0, c0=-1, c1=4.1, c2=-1, c3=4.1) {levels=256} : float32[1,8,4,6]
FakeQuantize1_y = het.FakeQuantize(x0, c4=-1.01, c5=4.09, c6=-1.01, c7=4.09) {levels=256} : float32[1,8,4,6]
output y0 = FakeQuantize0_y
output y1 = FakeQuantize1_y
)",
                R"(
input x0 : float32[1,8,4,6]
FakeQuantize1_y = het.FakeQuantize(x0, c4=-1.01, c5=4.09, c6=-1.01, c7=4.09) {levels=256} : float32[1,8,4,6]
FakeQuantize0_y/stored = QuantizeLinear(x0, FakeQuantize0/scale=0.02, FakeQuantize0/zero=50) : uint8[1,8,4,6]
FakeQuantize0_y_2 = DequantizeLinear(FakeQuantize0_y/stored, FakeQuantize0/scale_2=0.02, FakeQuantize0/zero=50) : float32[1,8,4,6]
output y0 = FakeQuantize0_y_2
output y1 = FakeQuantize1_y
)");
  compare(maker_.model());
}

TEST_F(CpuInt8, ModelsOfOpenVino) {
  Value* x = maker_.input({1, 32, 9, 8});
  const auto fake = [&](Value* value, float low, float high) {
    return maker_.op("FakeQuantize", {value, scale(low), scale(high), scale(low), scale(high)},
                     make_attributes({{"levels", 256}}), "het");
  };
  const auto stored = [&](const Shape& shape, unsigned seed) {
    std::vector<float> scales;
    for (int64_t c = 0; c < shape[0]; ++c)
      scales.push_back(0.002f + 0.0001f * static_cast<float>(c));
    Shape scale_shape(shape.size(), 1);
    scale_shape[0] = shape[0];
    Value* cast = maker_.op("Cast", {maker_.constant(random_bytes<int8_t>(shape, seed))},
                            make_attributes({{"to", int64_t{1}}}));
    return maker_.op("Mul", {cast, maker_.constant(Tensor::from<float>(scale_shape, scales))});
  };
  Value* c = maker_.op("Conv", {fake(x, -2.56f, 2.54f), stored({24, 32, 1, 1}, 5)});
  c = maker_.op("Relu", {maker_.op("Add", {c, maker_.random({1, 24, 1, 1})})});
  Value* w = maker_.op("Reshape", {stored({24, 1, 1, 3, 3}, 6), maker_.ints({24, 1, 3, 3})});
  Value* d = maker_.op("Conv", {fake(c, 0.0f, 5.1f), w},
                       make_attributes({{"group", 24}, {"pads", Ints(4, 1)}}));
  maker_.output(maker_.op("Add", {d, maker_.random({1, 24, 1, 1})}));
  const std::unique_ptr<Model> model = maker_.model().clone();
  run(*model, restore_dequantisation);
  ASSERT_TRUE(prepare_model(*model).ok());
  for (const Pass pass : {split_fake_quantize, cpu::quantise_products, cpu::fold_int8_affine,
                          cpu::fuse_int8_activations, cpu::fuse_requantisation}) {
    run(*model, pass);
  }
  EXPECT_EQ("\n" + print_model(*model), R"(
input x0 : float32[1,32,9,8]
FakeQuantize0_y/stored = QuantizeLinear(x0, FakeQuantize0/scale=0.02, FakeQuantize0/zero=128) : uint8[1,32,9,8]
FakeQuantize9_y/stored_2 = het.Int8Conv(FakeQuantize0_y/stored, Mul2_y_2/int8=int8[24,32,1,1], Conv3/bias=float32[24], -, Conv3/scales_2=float32[24]) {dst_scale=0.02 src_zero=128 tail=[Relu] tail_alphas=[0] tail_betas=[0]} : uint8[1,24,9,8]
Add11_y_2 = het.Int8Conv(FakeQuantize9_y/stored_2, Reshape8_y/int8=int8[24,1,3,3], Conv10/bias=float32[24], -, Conv10/scales_2=float32[24]) {group=24 pads=[1,1,1,1]} : float32[1,24,9,8]
output y0 = Add11_y_2
)");
  // The second convolution sees values of the first that may lie a step of 0.02 apart, times
  // weights of 0.55 at most.
  const auto rows = compare_steps(9 * 0.02f * 0.55f);
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  const auto exact = compare_steps(1e-3f, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  EXPECT_EQ(count_type(exact, "Conv"), 2u);
}

TEST_F(CpuInt8, LevelsPerChannelInFrontOfDepthwiseConvolutions) {
  Value* x = maker_.input({1, 32, 9, 8});
  const auto fake = [&](Value* value, Value* low, Value* high) {
    return maker_.op("FakeQuantize", {value, low, high, low, high},
                     make_attributes({{"levels", 256}}), "het");
  };
  Value* a = fake(x, scale(-2.56f), scale(2.54f));
  Value* c = maker_.op("Conv", {a, weights({24, 32, 1, 1}, 0)});
  std::vector<float> highs;
  for (int k = 0; k < 24; ++k) highs.push_back(2.55f + 0.051f * static_cast<float>(k));
  Value* high = maker_.constant(Tensor::from<float>({1, 24, 1, 1}, highs));
  c = fake(maker_.op("Clip", {c, scale(0.0f), scale(6.0f)}), scale(0.0f), high);
  Value* d = maker_.op("Conv", {c, weights({24, 1, 3, 3}, 0)},
                       make_attributes({{"group", 24}, {"pads", Ints(4, 1)}}));
  maker_.output(d);
  const std::unique_ptr<Model> model = maker_.model().clone();
  ASSERT_TRUE(prepare_model(*model).ok());
  for (const Pass pass : {split_fake_quantize, cpu::quantise_products, cpu::fuse_int8_activations,
                          cpu::fuse_requantisation}) {
    run(*model, pass);
  }
  EXPECT_EQ("\n" + print_model(*model), R"(
input x0 : float32[1,32,9,8]
FakeQuantize0_y/stored = QuantizeLinear(x0, FakeQuantize0/scale=0.02, FakeQuantize0/zero=128) : uint8[1,32,9,8]
FakeQuantize4_y/stored_2 = het.Int8Conv(FakeQuantize0_y/stored, DequantizeLinear1_y/int8=int8[24,32,1,1], -, -, Conv2/scales=float32[24]) {dst_scales=[0.01,0.010199999,0.0104,0.010600001,0.010799999,0.010999999,0.0112,0.0114,0.0116,0.0117999995,0.012,0.012200001,0.012399999,0.012599999,0.0128,0.013,0.0132,0.0134,0.0136,0.0138,0.0139999995,0.014199999,0.0144,0.0146] src_zero=128 tail=[Clip] tail_alphas=[0] tail_betas=[6]} : uint8[1,24,9,8]
Conv6_y_2 = het.Int8Conv(FakeQuantize4_y/stored_2, DequantizeLinear5_y/int8=int8[24,1,3,3], -, -, Conv6/scales=float32[24]) {group=24 pads=[1,1,1,1]} : float32[1,24,9,8]
output y0 = Conv6_y_2
)");
  // One level of the source, 0.015 at most, is 0.64 times that in each of 9 products at most; a few
  // values lie beside a half.
  const auto rows = compare_steps(9 * 0.015f * 0.64f);
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "Elementwise"), 0u);
}

TEST_F(CpuInt8, AccuracyKeepsFloat) {
  Value* x = stored_input({1, 20, 9, 8}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights({24, 20, 3, 3}, 0), maker_.random({24})});
  maker_.output(dequantise(quantise(c, 0.05f, 120), 0.05f, 120));
  EXPECT_EQ(count_type(compare_steps(0.051f), "Int8Conv"), 1u);
  const auto rows = compare_steps(1e-4f, {{"EXECUTION_MODE_HINT", "ACCURACY"}});
  EXPECT_EQ(count_type(rows, "Int8Conv"), 0u);
  EXPECT_EQ(count_type(rows, "Conv"), 1u);
}

TEST_F(CpuInt8, WeightsBeyondInt8KeepAZeroPoint) {
  // Values of 0 to 255 around 100 do not fit; the largest and the least are there.
  const auto weights_around_100 = [&](const Shape& shape) {
    Tensor bytes = random_bytes<uint8_t>(shape, 5);
    bytes.data<uint8_t>()[0] = 0;
    bytes.data<uint8_t>()[1] = 255;
    return maker_.op("DequantizeLinear", {maker_.constant(bytes), scale(0.002f), zero(100)});
  };
  // Not a whole number of vectors or blocks; a sum in the tail; three dimensions; a matrix.
  Value* x = stored_input({2, 19, 9, 7}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights_around_100({21, 19, 1, 1}), maker_.random({21})});
  Value* stored = quantise(c, 0.05f, 120);
  maker_.output(stored);
  Value* second =
      maker_.op("Conv", {dequantise(stored, 0.05f, 120), weights_around_100({21, 21, 1, 1})});
  Value* sum = maker_.op("Add", {second, dequantise(stored, 0.05f, 120)});
  maker_.output(quantise(maker_.op("Relu", {sum}), 0.05f, 0));
  Value* line = stored_input({1, 40, 12}, 0.02f, 120);
  maker_.output(maker_.op("Conv", {line, weights_around_100({16, 40, 1})}));
  Value* row = stored_input({3, 40}, 0.02f, 0);
  maker_.output(quantise(maker_.op("MatMul", {row, weights_around_100({40, 18})}), 0.05f, 120));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 3u);
  EXPECT_EQ(count_type(rows, "Int8MatMul"), 1u);
  EXPECT_EQ(count_type(rows, "Conv") + count_type(rows, "MatMul"), 0u);
}

TEST_F(CpuInt8, DepthwiseWithAZeroPointOfWeightsBetweenProducts) {
  // oneDNN has no product of one channel on its own with a zero point of weights.
  const auto weights_around_100 = [&](const Shape& shape) {
    return maker_.op("DequantizeLinear",
                     {maker_.constant(random_bytes<uint8_t>(shape, 5)), scale(0.002f), zero(100)});
  };
  const auto stored = [&](Value* value) {
    return dequantise(quantise(value, 0.05f, 120), 0.05f, 120);
  };
  Value* x = stored_input({1, 20, 9, 8}, 0.02f, 120);
  Value* first = stored(maker_.op("Conv", {x, weights_around_100({48, 20, 1, 1})}));
  Value* second =
      stored(maker_.op("Conv", {first, weights_around_100({48, 1, 3, 3})},
                       make_attributes({{"group", int64_t{48}}, {"pads", Ints(4, 1)}})));
  maker_.output(
      quantise(maker_.op("Conv", {second, weights_around_100({20, 48, 1, 1})}), 0.05f, 120));
  // A level of the second, of 48, that rounds to the other side is worth 0.015.
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 3u);
  EXPECT_EQ(count_type(rows, "Conv"), 0u);
  // Of the model's input and output only.
  EXPECT_EQ(count_type(rows, "Reorder"), 2u);
}

TEST_F(CpuInt8, PlacesWithAZeroPointOfWeights) {
  // Border pixels, steps and groups are a convolution's: oneDNN's have no zero point of weights, so
  // our own loops compute them.
  Value* x = stored_input({1, 20, 9, 8}, 0.02f, 120);
  const auto add = [&](const Shape& shape, Attributes attributes) {
    Value* w = maker_.op("DequantizeLinear", {maker_.constant(random_bytes<uint8_t>(shape, 5)),
                                              scale(0.002f), zero(100)});
    Value* c = maker_.op("Conv", {x, w}, std::move(attributes));
    maker_.output(quantise(c, 0.05f, 120));
  };
  add({8, 20, 3, 3}, {});
  add({8, 20, 1, 1}, make_attributes({{"pads", Ints{1, 1, 0, 0}}}));
  add({8, 20, 1, 1}, make_attributes({{"strides", Ints{2, 2}}}));
  add({20, 5, 1, 1}, make_attributes({{"group", int64_t{4}}}));
  EXPECT_EQ(count_type(compare_steps(), "Int8Conv"), 4u);
}

}  // namespace
}  // namespace het
