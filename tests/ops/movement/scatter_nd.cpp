#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall scatter_nd(const Tensor& data, const Tensor& indices, const Tensor& updates,
                  const std::string& reduction = "none") {
  return {"ScatterND", {data, indices, updates}, make_attributes({{"reduction", reduction}})};
}

TEST(ScatterND, ElementsAndSlices) {
  expect_values<float>(run_op_single(scatter_nd(make_ramp<float>({8}, 1),
                                                Tensor::from<int64_t>({4, 1}, {4, 3, 1, 7}),
                                                make_tensor<float>({4}, {9, 10, 11, 12}))),
                       {8}, {1, 11, 3, 10, 9, 6, 7, 12});
  expect_values<float>(
      run_op_single(scatter_nd(make_ramp<float>({3, 2}), Tensor::from<int64_t>({2, 1}, {0, -1}),
                               make_tensor<float>({2, 2}, {5, 6, 7, 8}))),
      {3, 2}, {5, 6, 2, 3, 7, 8});
  expect_values<float>(
      run_op_single(scatter_nd(make_ramp<float>({2, 2}), Tensor::from<int64_t>({1, 2}, {1, 0}),
                               make_tensor<float>({1}, {9}))),
      {2, 2}, {0, 1, 9, 3});
}

TEST(ScatterND, Reductions) {
  const Tensor indices = Tensor::from<int64_t>({2, 1}, {0, 0});
  const Tensor updates = make_tensor<int64_t>({2, 2}, {1, 2, 3, -4});
  const auto reduced = [&](const std::string& reduction) {
    return run_op_single(
        scatter_nd(make_tensor<int64_t>({1, 2}, {2, 2}), indices, updates, reduction));
  };
  expect_values<int64_t>(reduced("add"), {1, 2}, {6, 0});
  expect_values<int64_t>(reduced("mul"), {1, 2}, {6, -16});
  expect_values<int64_t>(reduced("max"), {1, 2}, {3, 2});
  expect_values<int64_t>(reduced("min"), {1, 2}, {1, -4});
}

TEST(ScatterND, ZeroSizesAndRefusals) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_near(
      run_op_single(scatter_nd(x, Tensor::from<int64_t>({0, 1}, {}), make_ramp<float>({0, 2}))), x);
  expect_op_error(scatter_nd(x, Tensor::from<int64_t>({1, 3}, {0, 0, 0}), make_ramp<float>({1})),
                  "tuples of 3");
  expect_op_error(scatter_nd(x, Tensor::from<int64_t>({1, 1}, {0}), make_ramp<float>({1, 3})),
                  "must have shape [1,2]");
  expect_op_error(scatter_nd(x, Tensor::from<int64_t>({1, 2}, {0, 2}), make_ramp<float>({1})),
                  "index 2");
}

}  // namespace
}  // namespace het::op_testing
