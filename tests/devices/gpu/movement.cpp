#include <numeric>

#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuMovement : public GpuTest {
 protected:
  /// The same values channels last: pooling leaves them so.
  static Value* channels_last(ModelMaker& maker, Value* x) {
    return maker.op("MaxPool", {x}, make_attributes({{"kernel_shape", Ints{1, 1}}}));
  }
  static Value* transposed(ModelMaker& maker, Value* x, const Ints& perm) {
    return maker.op("Transpose", {x}, make_attributes({{"perm", perm}}));
  }
  static Value* cast(ModelMaker& maker, Value* x, int64_t onnx_type) {
    return maker.op("Cast", {x}, make_attributes({{"to", onnx_type}}));
  }
  std::string refusal(const Model& model) {
    const auto compiled = device_->compile_model(model, {}, nullptr);
    return compiled ? "" : compiled.error().message();
  }

  static constexpr int64_t kUInt8 = 2;
  static constexpr int64_t kInt32 = 6;
  static constexpr int64_t kInt64 = 7;
  static constexpr int64_t kFloat64 = 11;
};

TEST_F(GpuMovement, ConcatTakesAnyAxisAndFormat) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    ModelMaker maker;
    Value* a = maker.input({2, 5, 3, 7});
    Value* b = maker.input({2, 16, 3, 7});
    Value* c = maker.input({2, 5, 3, 7});
    const auto concat = [&](std::vector<Value*> parts, int64_t axis) {
      maker.output(maker.op("Concat", std::move(parts), make_attributes({{"axis", axis}})));
    };
    concat({a, b, c}, 1);
    concat({channels_last(maker, a), channels_last(maker, b), c}, 1);
    concat({channels_last(maker, a), c}, -1);
    concat({a, c, a}, 0);
    concat({channels_last(maker, a), channels_last(maker, c)}, 2);
    compare(maker.model(), properties.empty() ? 0.0f : 1e-3f, properties);
  }
}

TEST_F(GpuMovement, EveryPermutationInBothFormats) {
  ModelMaker maker;
  Value* x = maker.input({2, 9, 5, 6});
  Value* last = channels_last(maker, x);
  Ints perm(4);
  std::iota(perm.begin(), perm.end(), 0);
  do {
    maker.output(maker.op("Neg", {transposed(maker, x, perm)}));
    maker.output(maker.op("Neg", {transposed(maker, last, perm)}));
  } while (std::next_permutation(perm.begin(), perm.end()));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuMovement, TransposesBetweenTheFormatsCostNothing) {
  ModelMaker maker;
  Value* x = maker.input({1, 6, 7, 20});
  Value* y = channels_last(maker, transposed(maker, x, {0, 3, 1, 2}));
  maker.output(maker.op("Relu", {transposed(maker, y, {0, 2, 3, 1})}));
  const auto rows = compare(maker.model(), 0.0f);
  EXPECT_EQ(count_type(rows, "Transpose"), 0u);
  EXPECT_EQ(count_type(rows, "Reorder"), 0u);
}

TEST_F(GpuMovement, SlicesAndSplitsOfChannels) {
  ModelMaker maker;
  Value* x = channels_last(maker, maker.input({1, 23, 9, 11}));
  maker.output(maker.op("Slice", {x, maker.ints({20, 8, 1}), maker.ints({-24, 0, 11}),
                                  maker.ints({1, 2, 3}), maker.ints({-3, -1, 2})}));
  for (Value* part : maker.split("Split", {x, maker.ints({16, 4, 3})}, 3,
                                 make_attributes({{"axis", int64_t{1}}}))) {
    maker.output(maker.op("Abs", {part}));
  }
  compare(maker.model(), 0.0f);
}

TEST_F(GpuMovement, ElementsOfEverySize) {
  for (const int64_t type : {kUInt8, kInt32, kInt64}) {
    ModelMaker maker;
    Value* x = cast(maker, maker.input({3, 130, 70}), type);
    Value* y =
        maker.op("Concat", {transposed(maker, x, {0, 2, 1}), transposed(maker, x, {0, 2, 1})},
                 make_attributes({{"axis", int64_t{1}}}));
    Value* z = maker.op("Tile", {y, maker.ints({1, 1, 2})});
    maker.output(z);
    maker.output(maker.op("Expand", {maker.op("Gather", {z, maker.ints({1})},
                                              make_attributes({{"axis", int64_t{0}}})),
                                     maker.ints({2, 1, 1})}));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuMovement, PaddingOfEveryMode) {
  for (const char* mode : {"constant", "reflect", "edge", "wrap"}) {
    ModelMaker maker;
    Value* x = maker.input({1, 17, 6, 5});
    const Ints pads{0, 0, 3, -1, 0, 0, 2, 4};
    const auto attributes = make_attributes({{"mode", std::string(mode)}});
    Value* fill = maker.constant(Tensor::scalar(1.5f));
    maker.output(maker.op("Pad", {x, maker.ints(pads), fill}, attributes));
    maker.output(maker.op("Pad", {channels_last(maker, x), maker.ints(pads), fill}, attributes));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuMovement, ShuffledChannelsAreOneCopy) {
  ModelMaker maker;
  Value* x = channels_last(maker, maker.input({1, 24, 7, 9}));
  Value* parts = maker.op("Reshape", {x, maker.ints({1, 2, 12, 7, 9})});
  Value* swapped = transposed(maker, parts, {0, 2, 1, 3, 4});
  maker.output(maker.op("Abs", {maker.op("Reshape", {swapped, maker.ints({1, 24, 7, 9})})}));
  const auto rows = compare(maker.model(), 0.0f);
  EXPECT_EQ(count_type(rows, "ChannelShuffle"), 1u);
  EXPECT_EQ(count_type(rows, "Transpose"), 0u);
}

TEST_F(GpuMovement, DepthAndSpaceInBothFormats) {
  for (const char* mode : {"DCR", "CRD"}) {
    ModelMaker maker;
    Value* x = maker.input({2, 36, 6, 3});
    for (Value* from : {x, channels_last(maker, x)}) {
      const auto attributes =
          make_attributes({{"blocksize", int64_t{3}}, {"mode", std::string(mode)}});
      Value* wide = maker.op("DepthToSpace", {from}, attributes);
      maker.output(wide);
      maker.output(maker.op("SpaceToDepth", {wide}, attributes));
    }
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuMovement, UpdatesOfOneElementAddUpInOrder) {
  ModelMaker maker;
  Value* x = maker.input({4, 6});
  Value* places = maker.constant(Tensor::from<int64_t>({5, 1}, Ints{2, -1, 2, 0, 2}));
  const auto add = make_attributes({{"reduction", std::string("add")}});
  maker.output(maker.op("ScatterND", {x, places, maker.random({5, 6})}, add));
  Value* rows = maker.constant(Tensor::from<int64_t>({3, 2}, Ints{1, 1, 1, 0, 3, 1}));
  maker.output(maker.op("ScatterElements", {x, rows, maker.random({3, 2})}, add));
  maker.output(maker.op("ScatterElements", {x, rows, maker.random({3, 2})}));
  compare(maker.model());
}

TEST_F(GpuMovement, ComputedPlacesOutsideAreMovedInside) {
  ModelMaker maker;
  Value* table = maker.constant(Tensor::from<float>({4}, std::vector<float>{1, 2, 3, 4}));
  Value* places = maker.input({3}, ElementType::Int64);
  maker.output(maker.op("Gather", {table, places}));
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const auto got = infer(*compiled, {Tensor::from<int64_t>({3}, Ints{-2, 99, -99})});
  EXPECT_EQ(*to_float_vector(got[0]), (std::vector<float>{3, 4, 1}));
}

TEST_F(GpuMovement, WhatIsRefusedSaysWhy) {
  ModelMaker doubles;
  doubles.output(doubles.op("Add", {cast(doubles, doubles.input({3}), kFloat64),
                                    cast(doubles, doubles.input({3}), kFloat64)}));
  EXPECT_NE(refusal(doubles.model()).find("no GPU kernel computes with float64"),
            std::string::npos);
  ModelMaker places;
  places.output(places.op("Gather", {places.input({3, 4}), places.ints({5})}));
  EXPECT_NE(refusal(places.model()).find("index 5 is outside [-3, 3)"), std::string::npos);
}

TEST_F(GpuMovement, CentresAreCutOutAndPadded) {
  ModelMaker maker;
  Value* x = maker.input({2, 5, 8, 7});
  maker.output(maker.op("CenterCropPad", {x, maker.ints({2, 5, 5, 10})}));
  maker.output(maker.op("CenterCropPad", {channels_last(maker, x), maker.ints({9, 4})},
                        make_attributes({{"axes", Ints{1, -1}}})));
  maker.output(maker.op("CenterCropPad", {cast(maker, x, kInt64), maker.ints({3, 6, 7, 8})}));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuMovement, BitsAreOtherNumbers) {
  for (const Properties& properties :
       {Properties{}, Properties{{"INFERENCE_PRECISION_HINT", "f16"}}}) {
    ModelMaker maker;
    // Powers of two: exact as float16 too.
    Value* powers =
        maker.constant(Tensor::from<float>({2, 3}, {0.5f, -1.0f, 2.0f, 4.0f, 0.0f, 8.0f}));
    Value* x = maker.op("Mul", {maker.op("Sign", {maker.input({2, 3})}), powers});
    Value* bits = maker.op("BitCast", {x}, make_attributes({{"to", kInt32}}));
    Value* exponents = maker.op("BitShift",
                                {maker.op("BitCast", {bits}, cast_to(ElementType::UInt32)),
                                 maker.constant(Tensor::scalar(uint32_t{23}))},
                                make_attributes({{"direction", std::string("RIGHT")}}));
    maker.output(exponents);
    maker.output(maker.op("BitCast", {bits}, cast_to(ElementType::Float32)));
    compare(maker.model(), 0.0f, properties);
  }
}

}  // namespace
}  // namespace het::gpu_testing
