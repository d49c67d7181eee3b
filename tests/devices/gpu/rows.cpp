#include <limits>

#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

/// Softmax, reductions and normalisations over rows of a tensor's memory.
class GpuRows : public GpuTest {
 protected:
  static constexpr float kHalf = 3e-3f;

  /// A value that lies in memory with channels last: these axes lie together that way only.
  static Value* channels_last(ModelMaker& maker, const Shape& shape) {
    return maker.op("MeanVarianceNormalization", {maker.input(shape)});
  }
  /// In float32 and in float16.
  void compare_both(const Model& model) {
    compare(model);
    compare(model, kHalf, {{"INFERENCE_PRECISION_HINT", "f16"}});
  }
};

TEST_F(GpuRows, SoftmaxAlongEveryAxis) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    for (const int64_t axis : {0, 1, 3}) {
      ModelMaker maker;
      maker.output(
          maker.op(type, {maker.input({3, 21, 5, 37})}, make_attributes({{"axis", axis}})));
      compare_both(maker.model());
    }
  }
}

TEST_F(GpuRows, LongRowsAreReducedInStages) {
  for (const char* type : {"ReduceMean", "ReduceL2", "ReduceLogSumExp", "ReduceMax"}) {
    ModelMaker maker;
    maker.output(maker.op(type, {maker.input({2, 3, 90, 110}), maker.ints({1, 2, 3})}));
    compare_both(maker.model());
  }
}

TEST_F(GpuRows, DimensionsApartAreReducedOneAfterTheOther) {
  for (const char* type : {"ReduceMean", "ReduceProd", "ReduceSumSquare"}) {
    ModelMaker maker;
    maker.output(maker.op(type, {maker.input({3, 4, 5, 6, 2}), maker.ints({0, 2, 4})},
                          make_attributes({{"keepdims", int64_t{0}}})));
    compare(maker.model());
  }
}

TEST_F(GpuRows, ManyEqualNumbersAddUpExactlyEnough) {
  ModelMaker maker;
  Value* x = maker.input({1, 1, 1021, 1021});  // a prime: no stages
  maker.output(maker.op(
      "ReduceMean",
      {maker.op("Add", {x, maker.constant(Tensor::from<float>({1}, std::vector<float>{1e3f}))}),
       maker.ints({2, 3})}));
  compare(maker.model(), 1e-6f);
}

/// What rounding leaves of a large mean would be a thousandth here.
TEST_F(GpuRows, NormalisationsOfEqualNumbersAreZero) {
  for (const Shape& shape : {Shape{2, 3, 45}, Shape{2, 45, 21}}) {
    ModelMaker maker;
    const auto number = [&](float value) {
      return maker.constant(Tensor::from<float>({1}, std::vector<float>{value}));
    };
    Value* x = maker.op("Mul", {maker.input(shape), number(0.0f)});
    x = maker.op("Add", {x, number(12345.678f)});
    maker.output(
        maker.op("LayerNormalization", {x, number(1.0f)}, make_attributes({{"epsilon", 0.125f}})));
    maker.output(maker.op("MeanVarianceNormalization", {x}, make_attributes({{"axes", Ints{1}}})));
    compare(maker.model(), 1e-6f);
  }
}

/// NaN is larger than every number, in a row and over rows.
TEST_F(GpuRows, HardmaxTakesTheFirstNan) {
  Tensor x = random_tensor({6, 37}, 1);
  for (const size_t at : {0, 37 + 20, 37 + 30, 5 * 37 + 36}) {
    x.values<float>()[at] = std::numeric_limits<float>::quiet_NaN();
  }
  for (const int64_t axis : {0, 1}) {
    ModelMaker maker;
    maker.output(maker.op("Hardmax", {maker.input({6, 37})}, make_attributes({{"axis", axis}})));
    const auto expected = infer(*ref_->compile_model(maker.model(), {}, nullptr).value(), {x});
    const auto got = infer(*compile(maker.model()), {x});
    EXPECT_EQ(*to_float_vector(got[0]), *to_float_vector(expected[0])) << axis;
  }
}

TEST_F(GpuRows, NormalisationsHaveParametersPerElementChannelOrGroup) {
  for (const Shape& shape : {Shape{2, 12, 7, 5}, Shape{2, 12, 4, 8}}) {
    ModelMaker maker;
    Value* x = maker.input(shape);
    const auto groups = make_attributes({{"num_groups", int64_t{3}}});
    maker.output(
        maker.op("GroupNormalization", {x, maker.random({12}), maker.random({12})}, groups));
    maker.output(maker.op("InstanceNormalization", {x, maker.random({12}), maker.random({12})}));
    const int64_t width = shape[3];
    maker.output(maker.op("LayerNormalization",
                          {x, maker.random({shape[2], width}), maker.random({shape[2], width})},
                          make_attributes({{"axis", int64_t{2}}})));
    maker.output(maker.op("RMSNormalization", {x, maker.random({1})}));
    maker.output(maker.op("LpNormalization", {x},
                          make_attributes({{"axis", int64_t{1}}, {"p", int64_t{1}}})));
    compare_both(maker.model());
  }
}

TEST_F(GpuRows, ChannelsLastStaysAsItIs) {
  ModelMaker maker;
  Value* x = channels_last(maker, {2, 18, 5, 6});
  maker.output(maker.op("InstanceNormalization", {x, maker.random({18}), maker.random({18})}));
  maker.output(maker.op("Softmax", {x}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(maker.op("Softmax", {x}, make_attributes({{"axis", int64_t{2}}})));
  maker.output(maker.op("GlobalAveragePool", {x}));
  maker.output(maker.op("ReduceMax", {x, maker.ints({1})}));
  maker.output(
      maker.op("ReduceMean", {x, maker.ints({1, 3})}, make_attributes({{"keepdims", int64_t{0}}})));
  maker.output(
      maker.op("ReduceMean", {x, maker.ints({0})}, make_attributes({{"keepdims", int64_t{0}}})));
  maker.output(maker.op("LRN", {x}, make_attributes({{"size", int64_t{5}}})));
  maker.output(maker.op("ArgMax", {x}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(
      maker.op("ArgMin", {x}, make_attributes({{"axis", int64_t{2}}, {"keepdims", int64_t{0}}})));
  for (Value* value :
       maker.split("TopK", {x, maker.ints({3})}, 2, make_attributes({{"axis", int64_t{1}}}))) {
    maker.output(value);
  }
  maker.output(maker.op("CumSum", {x, maker.ints({1})}));
  compare(maker.model());
}

TEST_F(GpuRows, TopKOfLongRowsTakesRounds) {
  for (const int64_t k : {1, 40, 700}) {
    ModelMaker maker;
    for (Value* value : maker.split("TopK", {maker.input({2, 9001}), maker.ints({k})}, 2)) {
      maker.output(value);
    }
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuRows, EqualValuesKeepTheirOrder) {
  ModelMaker maker;
  // Few different values.
  Value* x = maker.op("Round", {maker.input({3, 5000})});
  for (Value* value :
       maker.split("TopK", {x, maker.ints({300})}, 2, make_attributes({{"largest", int64_t{0}}}))) {
    maker.output(value);
  }
  maker.output(maker.op("ArgMax", {x}, make_attributes({{"axis", int64_t{1}}})));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuRows, WideIntegersAreComparedWithAllBits) {
  for (const int64_t largest : {0, 1}) {
    for (const ElementType type : {ElementType::Int64, ElementType::UInt64}) {
      ModelMaker maker;
      // Differences in the upper half, in the lower half, and none.
      Value* x = maker.op("Round", {maker.input({2, 3000})});
      Value* upper = maker.op("Cast", {x}, cast_to(type));
      Value* lower = maker.op("Cast", {maker.op("Round", {maker.input({2, 3000})})}, cast_to(type));
      Value* factor = maker.constant(Tensor::from<int64_t>({1}, {int64_t{1} << 40}));
      Value* sum = maker.op(
          "Add", {maker.op("Mul", {upper, maker.op("Cast", {factor}, cast_to(type))}), lower});
      for (Value* value : maker.split("TopK", {sum, maker.ints({700})}, 2,
                                      make_attributes({{"largest", largest}}))) {
        maker.output(value);
      }
      compare(maker.model(), 0.0f);
    }
  }
}

TEST_F(GpuRows, RefusalsSayWhy) {
  const auto refusal_of = [&](ModelMaker& maker, Value* result) {
    maker.output(result);
    const auto compiled = device_->compile_model(maker.model(), {}, nullptr);
    return compiled ? std::string() : compiled.error().message();
  };
  ModelMaker statistics;
  Value* x = statistics.input({2, 8});
  const auto results = statistics.split("LayerNormalization", {x, statistics.random({8})}, 3);
  EXPECT_NE(refusal_of(statistics, results[1]).find("mean and deviation are outputs"),
            std::string::npos);
  ModelMaker apart;
  x = apart.input({2, 3, 4, 5}, ElementType::Int32);
  EXPECT_NE(
      refusal_of(apart, apart.op("ReduceSum", {x, apart.ints({0, 3})})).find("do not lie together"),
      std::string::npos);
}

}  // namespace
}  // namespace het::gpu_testing
