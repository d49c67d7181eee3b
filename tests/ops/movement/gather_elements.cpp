#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall gather_elements(const std::string& type, const Tensor& data, const Tensor& indices,
                       int64_t axis) {
  return {type, {data, indices}, make_attributes({{"axis", axis}})};
}

TEST(GatherElements, AlongAnAxis) {
  const Tensor x = make_tensor<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_values<float>(
      run_op_single(gather_elements("GatherElements", x,
                                    Tensor::from<int64_t>({2, 3}, {1, 2, 0, 2, 0, 0}), 0)),
      {2, 3}, {4, 8, 3, 7, 2, 3});
  expect_values<float>(run_op_single(gather_elements("GatherElements", x,
                                                     Tensor::from<int32_t>({3, 1}, {-1, 0, 1}), 1)),
                       {3, 1}, {3, 4, 8});
  expect_values<float>(
      run_op_single(gather_elements("GatherElements", x, Tensor::from<int64_t>({0, 3}, {}), 0)),
      {0, 3}, {});
}

TEST(GatherElements, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error(gather_elements("GatherElements", x, int64_tensor({0}), 0), "do not lie inside");
  expect_op_error(gather_elements("GatherElements", x, Tensor::from<int64_t>({1, 3}, {0, 0, 0}), 0),
                  "do not lie inside");
  expect_op_error(gather_elements("GatherElements", x, Tensor::from<int64_t>({1, 1}, {2}), 0),
                  "index 2");
}

}  // namespace
}  // namespace het::op_testing
