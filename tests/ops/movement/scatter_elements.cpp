#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall scatter(const Tensor& data, const Tensor& indices, const Tensor& updates, int64_t axis = 0,
               const std::string& reduction = "none") {
  return {"ScatterElements",
          {data, indices, updates},
          make_attributes({{"axis", axis}, {"reduction", reduction}})};
}

TEST(ScatterElements, WritesAlongAnAxis) {
  const Tensor zeros = make_tensor<float>({3, 3}, std::vector<double>(9));
  const Tensor indices = Tensor::from<int64_t>({2, 3}, {1, 0, 2, 0, 2, 1});
  const Tensor updates = make_tensor<float>({2, 3}, {1, 1.1, 1.2, 2, 2.1, 2.2});
  expect_values<float>(run_op_single(scatter(zeros, indices, updates)), {3, 3},
                       {2, 1.1, 0, 1, 0, 2.2, 0, 2.1, 1.2});
  const Tensor row = make_ramp<float>({1, 5}, 1);
  expect_values<float>(run_op_single(scatter(row, Tensor::from<int64_t>({1, 2}, {1, -2}),
                                             make_tensor<float>({1, 2}, {1.1, 2.1}), 1)),
                       {1, 5}, {1, 1.1, 3, 2.1, 5});
  expect_values<float>(
      run_op_single({"Scatter",
                     {row, Tensor::from<int32_t>({1, 1}, {0}), make_tensor<float>({1, 1}, {9})},
                     make_attributes({{"axis", int64_t{-1}}})}),
      {1, 5}, {9, 2, 3, 4, 5});
}

TEST(ScatterElements, Reductions) {
  const Tensor data = make_tensor<int32_t>({3}, {1, 2, 3});
  const Tensor indices = int64_tensor({1, 1});
  const Tensor updates = make_tensor<int32_t>({2}, {5, -4});
  const auto reduced = [&](const std::string& reduction) {
    return run_op_single(scatter(data, indices, updates, 0, reduction));
  };
  expect_values<int32_t>(reduced("add"), {3}, {1, 3, 3});
  expect_values<int32_t>(reduced("mul"), {3}, {1, -40, 3});
  expect_values<int32_t>(reduced("max"), {3}, {1, 5, 3});
  expect_values<int32_t>(reduced("min"), {3}, {1, -4, 3});
  expect_values<int32_t>(reduced("none"), {3}, {1, -4, 3});
  expect_values<Float16>(run_op_single(scatter(make_tensor<Float16>({1}, {1}), int64_tensor({0}),
                                               make_tensor<Float16>({1}, {0.5}), 0, "add")),
                         {1}, {1.5});
}

TEST(ScatterElements, ZeroSizesAndRefusals) {
  const Tensor x = make_ramp<float>({2, 2});
  const Tensor none = Tensor::from<int64_t>({0, 2}, {});
  expect_near(run_op_single(scatter(x, none, make_ramp<float>({0, 2}))), x);
  const Tensor one = Tensor::from<int64_t>({1, 1}, {2});
  const Tensor update = make_ramp<float>({1, 1});
  expect_op_error(scatter(x, one, update), "index 2");
  expect_op_error(scatter(x, one, make_ramp<float>({1, 2})), "must be equal");
  expect_op_error(scatter(x, Tensor::from<int64_t>({1, 3}, {0, 0, 0}), make_ramp<float>({1, 3})),
                  "lie inside");
  expect_op_error(scatter(x, one, update, 0, "mean"), "'mean'");
  expect_op_error(scatter(x, one, update, 2), "axis 2");
  expect_op_error(scatter(x, one, make_ramp<double>({1, 1})), "float32 and float64");
  expect_op_error(scatter(make_tensor<bool>({1}, {1}), int64_tensor({0}),
                          make_tensor<bool>({1}, {1}), 0, "add"),
                  "not defined for bool");
}

}  // namespace
}  // namespace het::op_testing
