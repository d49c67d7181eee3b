#include "inference/ops/generators/random.h"

#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments moments(const Tensor& tensor) {
  const std::vector<float> values = *to_float_vector(tensor);
  Moments result;
  for (const float v : values) result.mean += v / static_cast<double>(values.size());
  for (const float v : values) {
    result.deviation += (v - result.mean) * (v - result.mean) / static_cast<double>(values.size());
  }
  result.deviation = std::sqrt(result.deviation);
  return result;
}

OpCall call(const char* type, Attributes attributes) {
  attributes.set("shape", Ints{100, 100});
  return {type, {}, std::move(attributes)};
}

TEST(Random, DistributionsHaveTheirMoments) {
  Moments found = moments(
      run_op_single(call("RandomNormal", make_attributes({{"mean", 3.0f}, {"scale", 2.0f}}))));
  EXPECT_NEAR(found.mean, 3, 0.1);
  EXPECT_NEAR(found.deviation, 2, 0.1);
  found = moments(
      run_op_single(call("RandomUniform", make_attributes({{"low", -1.0f}, {"high", 5.0f}}))));
  EXPECT_NEAR(found.mean, 2, 0.1);
  EXPECT_NEAR(found.deviation, 6 / std::sqrt(12.0), 0.1);
}

TEST(Random, RunsRepeatAndSeedsDiffer) {
  const auto values = [](Attributes attributes) {
    return *to_float_vector(run_op_single(call("RandomUniform", std::move(attributes))));
  };
  EXPECT_EQ(values({}), values({}));
  EXPECT_EQ(values(make_attributes({{"seed", 1.0f}})), values(make_attributes({{"seed", 1.0f}})));
  EXPECT_NE(values(make_attributes({{"seed", 1.0f}})), values(make_attributes({{"seed", 2.0f}})));
}

TEST(Random, SplitMix64) {
  // The first values of the generator started with 0, as published with it.
  Model model;
  Node* node = model.add_node("n", "RandomNormal", "", {}, {"y"},
                              make_attributes({{"seed", 0.0f}, {"shape", Ints{1}}}));
  RandomSequence random(*node);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4u);
  EXPECT_TRUE(is_random(*node));
}

TEST(Random, LikeTakesShapeAndType) {
  const Tensor like = make_tensor<double>({2, 3}, std::vector<double>(6));
  EXPECT_EQ(to_string(run_op_single({"RandomNormalLike", {like}}).desc()), "float64[2,3]");
  EXPECT_EQ(
      to_string(
          run_op_single({"RandomUniformLike", {like}, make_attributes({{"dtype", 1}})}).desc()),
      "float32[2,3]");
  expect_op_error({"RandomNormalLike", {make_tensor<int32_t>({1}, {1})}}, "int32 are not defined");
}

TEST(Random, BernoulliAndMultinomialFollowTheirProbabilities) {
  expect_values<bool>(
      run_op_single(
          {"Bernoulli", {make_tensor<float>({4}, {0, 1, 0, 1})}, make_attributes({{"dtype", 9}})}),
      {4}, {0, 1, 0, 1});
  const Tensor even = make_ramp<float>({10000}, 0.25, 0);
  EXPECT_NEAR(moments(run_op_single({"Bernoulli", {even}})).mean, 0.25, 0.02);
  // Classes 0 and 2 with 1/4 and 3/4.
  const double none = -std::numeric_limits<double>::infinity();
  const Tensor drawn =
      run_op_single({"Multinomial",
                     {make_tensor<float>({2, 3}, {0, none, std::log(3.0), none, 0, none})},
                     make_attributes({{"sample_size", 5000}})});
  EXPECT_EQ(to_string(drawn.desc()), "int32[2,5000]");
  double twos = 0;
  for (int64_t i = 0; i < 5000; ++i) {
    EXPECT_NE(drawn.data<int32_t>()[i], 1);
    twos += drawn.data<int32_t>()[i] == 2 ? 1 : 0;
    EXPECT_EQ(drawn.data<int32_t>()[5000 + i], 1);
  }
  EXPECT_NEAR(twos / 5000, 0.75, 0.03);
}

TEST(Random, Refusals) {
  expect_op_error({"RandomNormal", {}}, "'shape'");
  expect_op_error(
      {"Multinomial", {make_tensor<float>({1, 0}, {})}, make_attributes({{"sample_size", 1}})},
      "1 samples of a distribution of shape [1,0]");
}

}  // namespace
}  // namespace het
