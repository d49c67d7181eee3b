#include "op_testing.h"

/// Operators that keep all elements in their order and only name the dimensions anew.
namespace het::op_testing {
namespace {

OpCall with_axis(const std::string& type, const Shape& shape, int64_t axis) {
  return {type, {make_ramp<float>(shape)}, make_attributes({{"axis", axis}})};
}

TEST(Flatten, EveryAxis) {
  expect_near(run_op_single({"Flatten", {make_ramp<float>({2, 3, 4})}}), make_ramp<float>({2, 12}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, 0)), make_ramp<float>({1, 24}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, 3)), make_ramp<float>({24, 1}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, -1)), make_ramp<float>({6, 4}));
  expect_near(run_op_single(with_axis("Flatten", {}, 0)), make_ramp<float>({1, 1}));
  expect_near(run_op_single(with_axis("Flatten", {2, 0, 4}, 2)), make_ramp<float>({0, 4}));
  expect_op_error(with_axis("Flatten", {2, 3}, 3), "axis 3");
  expect_op_error(with_axis("Flatten", {2, 3}, -3), "axis -3");
}

TEST(Squeeze, GivenAxesOrAllOfOne) {
  const Tensor x = make_ramp<float>({1, 3, 1, 2});
  expect_near(run_op_single({"Squeeze", {x}}), make_ramp<float>({3, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({0})}}), make_ramp<float>({3, 1, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({-2})}}), make_ramp<float>({1, 3, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({})}}), make_ramp<float>({1, 3, 1, 2}));
  expect_near(run_op_single({"Squeeze", {make_ramp<float>({1, 0})}}), make_ramp<float>({0}));
}

TEST(Squeeze, RefusesOtherAxes) {
  const Tensor x = make_ramp<float>({1, 3});
  expect_op_error({"Squeeze", {x, int64_tensor({1})}}, "not 1");
  expect_op_error({"Squeeze", {x, int64_tensor({2})}}, "axis 2");
  expect_op_error({"Squeeze", {x, int64_tensor({0, -2})}}, "twice");
}

TEST(Unsqueeze, InsertsDimensions) {
  const Tensor x = make_ramp<float>({3, 4});
  expect_near(run_op_single({"Unsqueeze", {x, int64_tensor({0})}}), make_ramp<float>({1, 3, 4}));
  expect_near(run_op_single({"Unsqueeze", {x, int64_tensor({-1, 1})}}),
              make_ramp<float>({3, 1, 4, 1}));
  expect_near(run_op_single({"Unsqueeze", {make_ramp<float>({}), int64_tensor({0})}}),
              make_ramp<float>({1}));
  expect_near(run_op_single({"Unsqueeze", {make_ramp<float>({0}), int64_tensor({1})}}),
              make_ramp<float>({0, 1}));
  expect_op_error({"Unsqueeze", {x, int64_tensor({3})}}, "axis 3");
  expect_op_error({"Unsqueeze", {x, int64_tensor({0, -4})}}, "twice");
  expect_op_error({"Unsqueeze", {x, int64_tensor(Ints(100, 0))}}, "at most");
}

TEST(Identity, CopiesEveryType) {
  expect_near(run_op_single({"Identity", {make_ramp<int16_t>({2, 2})}}),
              make_ramp<int16_t>({2, 2}));
  expect_values<bool>(run_op_single({"Identity", {make_tensor<bool>({0}, {})}}), {0}, {});
  Tensor packed = *Tensor::allocate({ElementType::Int4, {3}});
  packed.bytes()[0] = std::byte{0x21};
  packed.bytes()[1] = std::byte{0x03};
  const Tensor copy = run_op_single({"Identity", {packed}});
  ASSERT_FALSE(copy.empty());
  EXPECT_EQ(copy.type(), ElementType::Int4);
  EXPECT_EQ(copy.bytes()[0], std::byte{0x21});
  EXPECT_EQ(copy.bytes()[1], std::byte{0x03});
}

TEST(Dropout, IsIdentityWithAFullMask) {
  const OpCall call{
      "Dropout", {make_ramp<float>({2, 2}), Tensor::scalar(0.5f), Tensor::scalar(false)}, {}, 2};
  const std::vector<Tensor> outputs = run_op_ok(call);
  expect_near(outputs[0], make_ramp<float>({2, 2}));
  expect_values<bool>(outputs[1], {2, 2}, {1, 1, 1, 1});
  expect_near(run_op_single({"Dropout", {make_ramp<double>({3})}}), make_ramp<double>({3}));
  expect_near(run_op_single(
                  {"Dropout", {make_ramp<float>({3}), Tensor::scalar(0.0f), Tensor::scalar(true)}}),
              make_ramp<float>({3}));
  expect_op_error({"Dropout", {make_ramp<float>({1}), Tensor::scalar(0.5f), Tensor::scalar(true)}},
                  "training_mode");
}

TEST(Shape, ReportsChosenDimensions) {
  const Tensor x = make_ramp<uint8_t>({2, 3, 4});
  const auto shape = [&](const Attributes& attributes) {
    return run_op_single({"Shape", {x}, attributes});
  };
  expect_values<int64_t>(shape({}), {3}, {2, 3, 4});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{1}}})), {2}, {3, 4});
  expect_values<int64_t>(shape(make_attributes({{"end", int64_t{-1}}})), {2}, {2, 3});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{-9}}, {"end", int64_t{9}}})), {3},
                         {2, 3, 4});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{2}}, {"end", int64_t{1}}})), {0},
                         {});
  expect_values<int64_t>(run_op_single({"Shape", {make_ramp<float>({})}}), {0}, {});
}

TEST(Size, CountsElements) {
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({2, 3})}}), {}, {6});
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({2, 0})}}), {}, {0});
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({})}}), {}, {1});
}

}  // namespace
}  // namespace het::op_testing
