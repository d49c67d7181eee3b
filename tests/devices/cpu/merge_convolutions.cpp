#include "devices/cpu/plan/fuse.h"

#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

/// Convolutions of one source that are added, and what is left of them.
class CpuMergedConvolutions : public CpuTest {
 protected:
  static Value* conv(ModelMaker& maker, Value* x, const Shape& weights, Ints pads, Ints strides,
                     int64_t group, Ints dilations = {1, 1}) {
    return maker.op("Conv", {x, maker.random(weights, 0.3f), maker.random({weights[0]})},
                    make_attributes({{"pads", std::move(pads)},
                                     {"strides", std::move(strides)},
                                     {"dilations", std::move(dilations)},
                                     {"group", group}}));
  }

  static Value* batch_norm(ModelMaker& maker, Value* x, int64_t channels) {
    Tensor variance = cpu_testing::random_tensor({channels}, 3);
    for (float& value : variance.values<float>()) value = 0.5f + std::abs(value);
    return maker.op("BatchNormalization", {x, maker.random({channels}), maker.random({channels}),
                                           maker.random({channels}), maker.constant(variance)});
  }

  /// Nodes behind the passes, by type; the device must compute what REF does.
  void check(const Model& model, const std::vector<std::string>& left) {
    const std::unique_ptr<Model> prepared = model.clone();
    ASSERT_TRUE(prepare_model(*prepared).ok());
    const Status status = run_rewrites(*prepared, {fold_channel_affine, merge_convolutions,
                                                   fold_channel_affine, merge_convolutions});
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<std::string> types;
    for (const auto& node : prepared->nodes()) types.push_back(node->op_type());
    EXPECT_EQ(types, left);
    compare(model, 5e-5f);
  }
};

TEST_F(CpuMergedConvolutions, BranchesOfOneSourceBecomeOne) {
  for (const int64_t group : {int64_t{1}, int64_t{4}, int64_t{12}}) {
    ModelMaker maker;
    Value* x = maker.input({1, 12, 9, 11});
    Value* large = conv(maker, x, {12, 12 / group, 3, 3}, {1, 1, 1, 1}, {1, 1}, group);
    Value* point = conv(maker, x, {12, 12 / group, 1, 1}, {0, 0, 0, 0}, {1, 1}, group);
    Value* y = maker.op("Add", {point, large});
    maker.output(maker.op("Relu", {maker.op("Add", {batch_norm(maker, x, 12), y})}));
    check(maker.model(), {"Conv", "Relu"});
  }
}

TEST_F(CpuMergedConvolutions, DifferencesScalesAndTheSourceItself) {
  ModelMaker maker;
  Value* x = maker.input({2, 10, 8, 7});
  Value* normal = batch_norm(maker, x, 10);
  Value* mixed = maker.op("Add", {conv(maker, x, {10, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, 10), normal});
  Value* rest = maker.op("Sub", {normal, mixed});
  Value* scaled = maker.op("Mul", {rest, maker.random({10, 1, 1})});
  maker.output(maker.op("Add", {x, scaled}));
  check(maker.model(), {"Conv"});
}

TEST_F(CpuMergedConvolutions, WindowsAreMatchedByWhatTheyRead) {
  ModelMaker maker;
  Value* x = maker.input({1, 6, 12, 13});
  // The smaller one lies on every second tap, off the middle; with strides, and more results.
  Value* wide = conv(maker, x, {18, 2, 5, 7}, {2, 3, 2, 3}, {2, 1}, 3);
  Value* other = conv(maker, x, {18, 2, 3, 2}, {2, 1, 2, 3}, {2, 1}, 3, {2, 4});
  maker.output(maker.op("Sub", {other, wide}));
  check(maker.model(), {"Conv"});
}

TEST_F(CpuMergedConvolutions, OthersStay) {
  using Make = std::function<void(ModelMaker&, Value*)>;
  const std::pair<Make, std::vector<std::string>> cases[] = {
      // Each window has taps that the other has not.
      {[](ModelMaker& maker, Value* x) {
         maker.output(maker.op("Add", {conv(maker, x, {8, 1, 1, 3}, {0, 1, 0, 1}, {1, 1}, 8),
                                       conv(maker, x, {8, 1, 3, 1}, {1, 0, 1, 0}, {1, 1}, 8)}));
       },
       {"Conv", "Conv", "Add"}},
      // The middle of the picture's elements is between two taps.
      {[](ModelMaker& maker, Value* x) {
         Value* y = conv(maker, x, {8, 1, 4, 2}, {3, 1, 3, 1}, {1, 1}, 8, {2, 2});
         maker.output(maker.op("Add", {y, x}));
       },
       {"Conv", "Add"}},
      // Another reader needs one of them.
      {[](ModelMaker& maker, Value* x) {
         Value* y = conv(maker, x, {8, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, 8);
         maker.output(y);
         maker.output(maker.op("Add", {y, x}));
       },
       {"Conv", "Add"}},
      // Groups differ.
      {[](ModelMaker& maker, Value* x) {
         maker.output(maker.op("Add", {conv(maker, x, {8, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, 8),
                                       conv(maker, x, {8, 8, 1, 1}, {0, 0, 0, 0}, {1, 1}, 1)}));
       },
       {"Conv", "Conv", "Add"}},
      // What is added to dense convolutions costs next to nothing.
      {[](ModelMaker& maker, Value* x) {
         maker.output(maker.op("Add", {x, conv(maker, x, {8, 8, 3, 3}, {1, 1, 1, 1}, {1, 1}, 1)}));
       },
       {"Conv", "Add"}},
      // The sum has another shape than the convolution.
      {[](ModelMaker& maker, Value* x) {
         maker.output(maker.op("Add", {maker.op("GlobalAveragePool", {x}),
                                       conv(maker, x, {8, 1, 3, 3}, {1, 1, 1, 1}, {1, 1}, 8)}));
       },
       {"GlobalAveragePool", "Conv", "Add"}},
  };
  for (const auto& [make, left] : cases) {
    ModelMaker maker;
    make(maker, maker.input({1, 8, 9, 9}));
    check(maker.model(), left);
  }
}

/// Weights that are no numbers would spoil taps that had none.
TEST_F(CpuMergedConvolutions, WeightsThatAreNotFiniteStayAlone) {
  ModelMaker maker;
  Value* x = maker.input({1, 4, 5, 5});
  Tensor weights = cpu_testing::random_tensor({4, 1, 3, 3}, 1);
  weights.values<float>()[4] = std::numeric_limits<float>::infinity();
  Value* y = maker.op("Conv", {x, maker.constant(weights)},
                      make_attributes({{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{4}}}));
  maker.output(maker.op("Add", {y, x}));
  const std::unique_ptr<Model> prepared = maker.model().clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  ASSERT_TRUE(run_rewrites(*prepared, {merge_convolutions}).ok());
  EXPECT_EQ(prepared->nodes().size(), 2u);
}

/// Values beside the middle of two levels would fall on the other one.
TEST_F(CpuMergedConvolutions, SumsThatAreRoundedToLevelsKeepTheirOrder) {
  for (const bool rounds : {false, true}) {
    ModelMaker maker;
    Value* x = maker.input({1, 4, 5, 5});
    Value* large = conv(maker, x, {4, 4, 3, 3}, {1, 1, 1, 1}, {1, 1}, 1);
    Value* sum = maker.op("Add", {large, conv(maker, x, {4, 4, 1, 1}, {0, 0, 0, 0}, {1, 1}, 1)});
    const auto limit = [&](float value) { return maker.constant(Tensor::scalar(value)); };
    if (rounds) {
      sum = maker.op("FakeQuantize", {sum, limit(-3), limit(3), limit(-3), limit(3)},
                     make_attributes({{"levels", int64_t{256}}}), "het");
    }
    maker.output(sum);
    const std::unique_ptr<Model> prepared = maker.model().clone();
    ASSERT_TRUE(prepare_model(*prepared).ok());
    ASSERT_TRUE(cpu::fuse(*prepared, false).ok());
    EXPECT_EQ(std::ranges::count_if(prepared->nodes(),
                                    [](const auto& node) { return node->op_type() == "Conv"; }),
              rounds ? 2 : 1);
  }
}

}  // namespace
}  // namespace het
