#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

TEST_F(CpuTest, MatMulBroadcasts) {
  const std::vector<std::pair<Shape, Shape>> cases = {{{5, 7}, {7, 9}},
                                                      {{2, 3, 5, 7}, {7, 9}},
                                                      {{2, 3, 5, 7}, {2, 3, 7, 4}},
                                                      {{2, 1, 5, 7}, {3, 7, 4}},
                                                      {{5, 7}, {4, 7, 3}},
                                                      {{7}, {7, 3}},
                                                      {{4, 5, 7}, {7}},
                                                      {{7}, {7}}};
  for (const bool constant : {false, true}) {
    for (const auto& [a, b] : cases) {
      SCOPED_TRACE(to_string(a) + " x " + to_string(b) + (constant ? " constant" : ""));
      ModelMaker maker;
      Value* left = maker.input(a);
      Value* right = constant ? maker.random(b) : maker.input(b);
      maker.output(maker.op("MatMul", {left, right}));
      compare(maker.model());
    }
  }
}

TEST_F(CpuTest, GemmWithTransposesAndBias) {
  for (const int64_t trans_a : {0, 1}) {
    for (const int64_t trans_b : {0, 1}) {
      for (const Shape& bias : {Shape{6}, Shape{1, 6}, Shape{5, 1}, Shape{}}) {
        ModelMaker maker;
        Value* a = maker.input(trans_a ? Shape{8, 5} : Shape{5, 8});
        Value* b = maker.random(trans_b ? Shape{6, 8} : Shape{8, 6});
        Value* y = maker.op("Gemm", {a, b, maker.random(bias)},
                            make_attributes({{"transA", trans_a}, {"transB", trans_b}}));
        maker.output(maker.op("Relu", {y}));
        compare(maker.model());
      }
    }
  }
}

TEST_F(CpuTest, PoolingInPlainAndBlockedFormats) {
  struct Case {
    const char* type;
    Ints kernel, strides, pads;
    int64_t ceil_mode, count_include_pad;
  };
  for (const Case& c : {Case{"MaxPool", {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0},
                        Case{"MaxPool", {3, 3}, {2, 2}, {0, 0, 0, 0}, 1, 0},
                        Case{"MaxPool", {5, 5}, {1, 1}, {2, 2, 2, 2}, 0, 0},
                        Case{"AveragePool", {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 0},
                        Case{"AveragePool", {3, 3}, {2, 2}, {1, 1, 1, 1}, 0, 1},
                        Case{"AveragePool", {3, 2}, {2, 2}, {0, 1, 0, 0}, 1, 0},
                        Case{"AveragePool", {3, 3}, {2, 2}, {1, 1, 1, 1}, 1, 1}}) {
    for (const bool blocked : {false, true}) {
      SCOPED_TRACE(std::string(c.type) + (blocked ? " blocked" : " plain"));
      ModelMaker maker;
      Value* x = maker.input({1, 20, 14, 15});
      Value* src = blocked ? maker.conv(x, 20, 20) : x;
      Attributes attributes = make_attributes({{"kernel_shape", c.kernel},
                                               {"strides", c.strides},
                                               {"pads", c.pads},
                                               {"ceil_mode", c.ceil_mode}});
      if (c.count_include_pad) attributes.set("count_include_pad", c.count_include_pad);
      maker.output(maker.op(c.type, {src}, attributes));
      compare(maker.model());
    }
  }
}

TEST_F(CpuTest, GlobalPoolingAndOneDimension) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({2, 16, 9, 7}), 16, 24);
  maker.output(maker.op("GlobalAveragePool", {x}));
  maker.output(maker.op("GlobalMaxPool", {x}));
  Value* line = maker.input({1, 6, 31});
  maker.output(maker.op("MaxPool", {line},
                        make_attributes({{"kernel_shape", Ints{3}}, {"strides", Ints{2}}})));
  compare(maker.model());
}

TEST_F(CpuTest, BinaryBroadcastsOnBlockedTensors) {
  // 20 channels leave 12 of the second block unused: what is there must not spread.
  for (const int64_t channels : {16, 20}) {
    for (const Shape& other :
         {Shape{1, channels, 6, 5}, Shape{1, channels, 1, 1}, Shape{channels, 1, 1}, Shape{1},
          Shape{}, Shape{5}, Shape{6, 1}, Shape{1, 1, 6, 5}, Shape{2, 1, 1, 1}}) {
      for (const bool constant : {false, true}) {
        SCOPED_TRACE(to_string(other) + (constant ? " constant" : " computed"));
        ModelMaker maker;
        Value* x = maker.conv(maker.input({2, channels, 6, 5}), channels, channels);
        Value* right = constant ? maker.random(other) : maker.input(other);
        for (const char* type : {"Add", "Mul", "Sub", "Div", "Max"}) {
          // The convolution after it reads the padding too.
          maker.output(maker.conv(maker.op(type, {x, right}), channels, channels));
        }
        compare(maker.model(), 1e-4f);
      }
    }
  }
}

TEST_F(CpuTest, OneValuePerChannelOverManyPixels) {
  // Chunks repeat the same values until the next block or picture; 300 channels are more than one.
  for (const int64_t channels : {3, 16, 20, 48, 300}) {
    for (const Shape& other : {Shape{1, channels, 1, 1}, Shape{2, channels, 1, 1}}) {
      SCOPED_TRACE(to_string(other));
      ModelMaker maker;
      Value* plain = maker.input({2, channels, 13, 11});
      Value* last = maker.op("Transpose", {maker.input({2, 13, 11, channels})},
                             make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
      Value* blocked = maker.conv(plain, channels, channels);
      Value* gate = maker.input(other);
      for (Value* x : {plain, last, blocked}) {
        maker.output(maker.op("PRelu", {x, gate}));
        maker.output(maker.conv(maker.op("Mul", {maker.op("Add", {gate, x}), x}), channels, 4));
      }
      compare(maker.model(), 1e-4f);
    }
  }
}

TEST_F(CpuTest, UnaryExpressionsOnBlockedTensors) {
  for (const char* type :
       {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "Exp", "Abs",
        "Neg", "Floor", "Ceil", "Round", "Erf", "Softplus", "Mish", "Gelu", "Reciprocal"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    // Two readers keep the expression out of the convolution.
    Value* x = maker.conv(maker.input({1, 20, 6, 5}), 20, 20);
    Value* y = maker.op(type, {x});
    if (y->producer()->op() == nullptr) continue;  // not in this build's registry
    maker.output(x);
    maker.output(maker.conv(y, 20, 20));
    compare(maker.model(), 1e-4f);
  }
}

TEST_F(CpuTest, ExpressionsAtTheirLimits) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor values = Tensor::from<float>(
      {13}, {-inf, -200, -89, -88, -20, -1, -0.0f, 1e-30f, 1, 20, 88, 200, inf});
  for (const char* type : {"Sigmoid", "Tanh", "Exp", "Softplus", "Elu", "Erf", "Log", "Sqrt"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    maker.output(maker.op(type, {maker.input({13})}));
    const auto got = infer(*compile(maker.model()), {values});
    const auto reference = ref_->compile_model(maker.model(), {}, nullptr);
    const auto wanted = infer(**reference, {values});
    for (size_t i = 0; i < 13; ++i) {
      const float a = got[0].values<float>()[i];
      const float b = wanted[0].values<float>()[i];
      if (std::isnan(b)) {
        EXPECT_TRUE(std::isnan(a)) << i;
      } else if (std::isinf(b)) {
        EXPECT_EQ(a, b) << i;
      } else {
        EXPECT_NEAR(a, b, 1e-5f * std::max(1.0f, std::abs(b))) << i;
      }
    }
  }
}

TEST_F(CpuTest, ConcatWithOddChannels) {
  for (const Ints& channels : {Ints{16, 32}, Ints{16, 20, 16}, Ints{3, 5, 24}, Ints{7, 16}}) {
    ModelMaker maker;
    std::vector<Value*> parts;
    int64_t sum = 0;
    for (const int64_t c : channels) {
      parts.push_back(maker.conv(maker.input({2, 16, 5, 4}), 16, c));
      sum += c;
    }
    Value* y = maker.op("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
    maker.output(maker.conv(y, sum, 16));
    compare(maker.model(), 1e-4f);
  }
}

TEST_F(CpuTest, ConcatAlongOtherAxesAndOfOneValueTwice) {
  for (const int64_t axis : {0, 2, 3, -1}) {
    ModelMaker maker;
    Value* a = maker.conv(maker.input({1, 16, 5, 4}), 16, 20);
    Value* b = maker.conv(maker.input({1, 16, 5, 4}), 16, 20);
    maker.output(maker.op("Concat", {a, b, a}, make_attributes({{"axis", axis}})));
    compare(maker.model());
  }
  ModelMaker nested;
  Value* a = nested.conv(nested.input({1, 16, 5, 4}), 16, 16);
  Value* b = nested.conv(a, 16, 16);
  const Attributes channels = make_attributes({{"axis", int64_t{1}}});
  Value* inner = nested.op("Concat", {a, b}, channels);
  Value* outer = nested.op("Concat", {inner, a, b}, channels);
  nested.output(nested.op("Relu", {nested.conv(outer, 64, 16)}));
  nested.output(inner);
  compare(nested.model(), 1e-4f);
}

TEST_F(CpuTest, SlicesAndSplitsAreViewsWhereTheyCan) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 16, 6, 6}), 16, 64);
  const std::vector<Value*> halves =
      maker.split("Split", {x, maker.ints({32, 32})}, 2, make_attributes({{"axis", int64_t{1}}}));
  maker.output(maker.conv(halves[0], 32, 16));
  maker.output(maker.conv(halves[1], 32, 16));
  const auto rows = compare(maker.model(), 1e-4f);
  EXPECT_EQ(count_type(rows, "Split"), 0u) << "32 channels are two whole blocks";

  ModelMaker odd;
  Value* y = odd.conv(odd.input({2, 16, 6, 6}), 16, 20);
  const std::vector<Value*> parts =
      odd.split("Split", {y, odd.ints({7, 13})}, 2, make_attributes({{"axis", int64_t{1}}}));
  odd.output(odd.op("Relu", {parts[0]}));
  odd.output(odd.op("Relu", {parts[1]}));
  odd.output(odd.op(
      "Slice", {y, odd.ints({1, 5}), odd.ints({6, -100}), odd.ints({2, 3}), odd.ints({2, -1})}));
  odd.output(odd.op("Gather", {y, odd.constant(Tensor::scalar<int64_t>(-1))},
                    make_attributes({{"axis", int64_t{2}}})));
  compare(odd.model(), 1e-4f);
}

TEST_F(CpuTest, TransposesReadBlockedTensors) {
  for (const int64_t channels : {16, 20}) {
    for (const Ints& perm : {Ints{0, 2, 3, 1}, Ints{0, 3, 1, 2}, Ints{3, 2, 1, 0}, Ints{1, 0, 3, 2},
                             Ints{0, 2, 1, 3}}) {
      for (const bool blocked : {false, true}) {
        ModelMaker maker;
        Value* x = maker.input({2, channels, 5, 7});
        Value* src = blocked ? maker.conv(x, channels, channels) : x;
        maker.output(maker.op("Transpose", {src}, make_attributes({{"perm", perm}})));
        compare(maker.model());
      }
    }
  }
  ModelMaker shuffle;
  Value* x = shuffle.conv(shuffle.input({1, 16, 5, 7}), 16, 32);
  Value* a = shuffle.op("Reshape", {x, shuffle.ints({1, 2, 16, 5, 7})});
  Value* b = shuffle.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
  Value* c = shuffle.op("Reshape", {b, shuffle.ints({1, 32, 5, 7})});
  shuffle.output(shuffle.conv(c, 32, 16));
  compare(shuffle.model(), 1e-4f);
}

TEST_F(CpuTest, PadThatRepeatsOrCuts) {
  for (const char* mode : {"reflect", "edge", "wrap"}) {
    for (const Ints& pads : {Ints{0, 0, 2, 3, 0, 0, 1, 2}, Ints{1, 0, 0, 0, 0, 1, 0, 0},
                             Ints{0, 1, -1, 2, 1, 0, 2, -3}, Ints{0, 0, 0, 0, 0, 0, 0, 0}}) {
      ModelMaker maker;
      Value* x = maker.conv(maker.input({2, 3, 5, 6}), 3, 3);
      Value* y = maker.op("Pad", {x, maker.ints(pads)}, make_attributes({{"mode", mode}}));
      maker.output(maker.op("Relu", {y}));
      SCOPED_TRACE(mode);
      const std::vector<ProfileRow> rows = compare(maker.model());
      EXPECT_NE(implementation(rows, y->producer()->name()), "ref");
    }
  }
  // Many rows, several threads.
  ModelMaker maker;
  Value* x = maker.input({1, 8, 200, 120});
  maker.output(maker.op("Pad", {x, maker.ints({0, 0, 7, 7, 0, 0, 7, 7})},
                        make_attributes({{"mode", "reflect"}})));
  compare(maker.model(), 0.0f, {{"INFERENCE_NUM_THREADS", "2"}});
}

TEST_F(CpuTest, PadTileExpand) {
  for (const float fill : {0.0f, 2.5f}) {
    for (const int64_t channels : {16, 20}) {
      ModelMaker maker;
      Value* x = maker.conv(maker.input({1, channels, 5, 4}), channels, channels);
      Value* y = maker.op(
          "Pad", {x, maker.ints({0, 0, 1, 2, 0, 0, 0, 3}), maker.constant(Tensor::scalar(fill))});
      maker.output(maker.op("Relu", {y}));
      maker.output(maker.op("Pad", {x, maker.ints({0, 2, 0, 0, 1, 0, 0, 0})}));
      maker.output(maker.op("Tile", {x, maker.ints({2, 1, 3, 1})}));
      compare(maker.model());
    }
  }
  ModelMaker maker;
  maker.output(maker.op("Expand", {maker.input({3, 1, 4}), maker.ints({2, 1, 5, 1})}));
  compare(maker.model());
}

TEST_F(CpuTest, Reductions) {
  for (const char* type :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceProd"}) {
    for (const Ints& axes : {Ints{2, 3}, Ints{1}, Ints{3}, Ints{0, 1, 2, 3}, Ints{1, 3}}) {
      for (const int64_t keepdims : {0, 1}) {
        SCOPED_TRACE(type);
        ModelMaker maker;
        Value* x = maker.conv(maker.input({2, 20, 5, 7}), 20, 20);
        Value* last = maker.op("Transpose", {maker.input({2, 5, 7, 20})},
                               make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
        for (Value* src : {x, last}) {
          maker.output(
              maker.op(type, {src, maker.ints(axes)}, make_attributes({{"keepdims", keepdims}})));
        }
        compare(maker.model(), 1e-4f);
      }
    }
  }
}

TEST_F(CpuTest, SoftmaxAlongEveryAxis) {
  // Channels: less than half a block, nearly two blocks, too many for short rows.
  for (const int64_t channels : {4, 20, 40}) {
    for (const int64_t axis : {0, 1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} channels, axis {}", channels, axis));
      ModelMaker maker;
      Value* x = maker.input({2, channels, 5, 70});
      Value* blocked = maker.conv(x, channels, channels);
      Value* scaled = maker.op("Mul", {blocked, maker.constant(Tensor::scalar(10.0f))});
      Value* last = maker.op("Transpose", {maker.input({2, 5, 70, channels})},
                             make_attributes({{"perm", Ints{0, 3, 1, 2}}}));
      for (Value* value : {x, scaled, last}) {
        maker.output(maker.op("Softmax", {value}, make_attributes({{"axis", axis}})));
        maker.output(maker.op("LogSoftmax", {value}, make_attributes({{"axis", axis}})));
      }
      for (const ProfileRow& row : compare(maker.model())) {
        EXPECT_EQ(row.exec_type.find("ref"), std::string::npos) << row.node_name;
      }
    }
  }
}

TEST_F(CpuTest, SoftmaxOfInfinitiesAndNaN) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const Shape& shape : {Shape{4, 3}, Shape{1, 4, 3}}) {
    for (const char* type : {"Softmax", "LogSoftmax"}) {
      ModelMaker maker;
      const int64_t axis = shape.size() == 2 ? 1 : 2;
      maker.output(maker.op(type, {maker.input(shape)}, make_attributes({{"axis", axis}})));
      const auto compiled = compile(maker.model());
      ASSERT_NE(compiled, nullptr);
      const Tensor x = Tensor::from<float>(shape, {-kInf, 0.0f, 0.0f, 200.0f, -200.0f, 200.0f,  //
                                                   -kInf, -kInf, -kInf, 1.0f, kNaN, 1.0f});
      const std::vector<Tensor> outputs = infer(*compiled, {x});
      const auto y = outputs[0].values<float>();
      const bool log = std::string(type) == "LogSoftmax";
      EXPECT_EQ(y[0], log ? -kInf : 0.0f);
      EXPECT_NEAR(y[1], log ? -0.69314718f : 0.5f, 1e-6f);
      EXPECT_NEAR(y[3], log ? -0.69314718f : 0.5f, 1e-6f);
      EXPECT_NEAR(y[4], log ? -400.693f : 0.0f, 1e-3f);
      for (size_t i = 6; i < 12; ++i) EXPECT_TRUE(std::isnan(y[i])) << i;
    }
  }
}

TEST_F(CpuTest, LstmInAllDirections) {
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    for (const bool states : {false, true}) {
      SCOPED_TRACE(direction);
      const int64_t d = std::string(direction) == "bidirectional" ? 2 : 1;
      ModelMaker maker;
      Value* x = maker.input({9, 2, 12});
      std::vector<Value*> inputs = {x, maker.random({d, 4 * 20, 12}, 0.3f),
                                    maker.random({d, 4 * 20, 20}, 0.3f),
                                    maker.random({d, 8 * 20}, 0.3f)};
      if (states) {
        inputs.insert(inputs.end(), {nullptr, maker.input({d, 2, 20}), maker.random({d, 2, 20})});
      }
      const std::vector<Value*> y =
          maker.split("LSTM", inputs, 3,
                      make_attributes({{"hidden_size", int64_t{20}}, {"direction", direction}}));
      ASSERT_NE(y[0]->producer()->op(), nullptr);
      for (Value* output : y) maker.output(output);
      const auto rows = compare(maker.model());
      EXPECT_NE(implementation(rows, "LSTM0"), "ref");
    }
  }
}

TEST_F(CpuTest, GridSampleBilinear) {
  for (const int64_t align_corners : {0, 1}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({2, 16, 7, 9}), 16, 20);
    // Normal values: about a third of the positions lie outside.
    Value* grid = maker.input({2, 5, 6, 2});
    Value* y = maker.op("GridSample", {x, grid},
                        make_attributes({{"mode", "bilinear"}, {"align_corners", align_corners}}));
    ASSERT_NE(y->producer()->op(), nullptr);
    maker.output(y);
    const auto rows = compare(maker.model());
    EXPECT_EQ(implementation(rows, "GridSample1"), "own");
  }
}

TEST_F(CpuTest, ValuesSizedAtRunTime) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 4, 5, 7}), 4, 4);
  Value* indices = maker.op("NonZero", {maker.op("Relu", {x})});
  maker.output(maker.op("Transpose", {indices}, make_attributes({{"perm", Ints{1, 0}}})));
  maker.output(indices);
  maker.output(x);
  const auto rows = compare(maker.model());
  EXPECT_EQ(implementation(rows, "NonZero2"), "ref");
}

TEST_F(CpuTest, TensorsWithoutElements) {
  ModelMaker maker;
  Value* x = maker.input({0, 3, 4, 4});
  maker.output(maker.op("Relu", {maker.op("Add", {x, x})}));
  maker.output(maker.op("Concat", {x, x}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(maker.op("Transpose", {x}));
  compare(maker.model());
}

TEST_F(CpuTest, OutputsThatAreInputsConstantsOrEqual) {
  ModelMaker maker;
  Value* x = maker.input({1, 4});
  Value* y = maker.op("Relu", {x});
  maker.output(x);
  maker.output(maker.random({3}));
  maker.output(y);
  maker.output(y);
  maker.output(maker.op("Reshape", {y, maker.ints({2, 2})}));
  compare(maker.model());
}

}  // namespace
}  // namespace het
