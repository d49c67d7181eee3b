#include "inference/ops/movement/split.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall split(const Shape& shape, int64_t axis, size_t outputs) {
  return {"Split",
          {make_ramp<float>(shape)},
          make_attributes({{"axis", axis}, {"num_outputs", static_cast<int64_t>(outputs)}}),
          outputs};
}

TEST(Split, EqualParts) {
  const std::vector<Tensor> rows = run_op_ok(split({4, 2}, 0, 2));
  expect_values<float>(rows[0], {2, 2}, {0, 1, 2, 3});
  expect_values<float>(rows[1], {2, 2}, {4, 5, 6, 7});
  const std::vector<Tensor> columns = run_op_ok(split({2, 4}, -1, 2));
  expect_values<float>(columns[0], {2, 2}, {0, 1, 4, 5});
  expect_values<float>(columns[1], {2, 2}, {2, 3, 6, 7});
}

TEST(Split, UnevenPartsAreShorterAtTheEnd) {
  const std::vector<Tensor> parts = run_op_ok(split({7}, 0, 3));
  expect_values<float>(parts[0], {3}, {0, 1, 2});
  expect_values<float>(parts[1], {3}, {3, 4, 5});
  expect_values<float>(parts[2], {1}, {6});
  EXPECT_EQ(equal_split(5, 4), (Ints{2, 2, 1, 0}));
}

TEST(Split, WithoutAttributesTheOutputsCount) {
  const std::vector<Tensor> parts = run_op_ok({"Split", {make_ramp<float>({4})}, {}, 2});
  expect_values<float>(parts[1], {2}, {2, 3});
}

TEST(Split, GivenLengths) {
  const std::vector<Tensor> parts = run_op_ok({"Split",
                                               {make_ramp<float>({2, 4}), int64_tensor({1, 0, 3})},
                                               make_attributes({{"axis", int64_t{1}}}),
                                               3});
  expect_values<float>(parts[0], {2, 1}, {0, 4});
  expect_values<float>(parts[1], {2, 0}, {});
  expect_values<float>(parts[2], {2, 3}, {1, 2, 3, 5, 6, 7});
}

TEST(Split, ZeroSizes) {
  const std::vector<Tensor> parts = run_op_ok(split({0, 2}, 0, 2));
  expect_values<float>(parts[0], {0, 2}, {});
  expect_values<float>(parts[1], {0, 2}, {});
}

TEST(Split, RefusesOtherLengths) {
  const auto lengths = [](const Ints& values) {
    return OpCall{"Split", {make_ramp<float>({4}), int64_tensor(values)}, {}, 2};
  };
  expect_op_error(lengths({1, 2}), "dimension of 4");
  expect_op_error(lengths({-1, 5}), "dimension of 4");
  expect_op_error(lengths({4}), "into 2 parts");
  expect_op_error(lengths({INT64_MAX, INT64_MAX}), "dimension of 4");
  expect_op_error(
      {"Split", {make_ramp<float>({4})}, make_attributes({{"num_outputs", int64_t{3}}}), 2},
      "num_outputs is 3");
  expect_op_error(split({}, 0, 1), "axis 0");
}

}  // namespace
}  // namespace het::op_testing
