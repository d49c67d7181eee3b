#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall compress(const Tensor& x, const std::vector<double>& condition) {
  return {"Compress", {x, make_tensor<bool>({static_cast<int64_t>(condition.size())}, condition)}};
}

TEST(Compress, KeepsSlicesOrElements) {
  const Tensor x = make_ramp<float>({3, 2}, 1);
  OpCall rows = compress(x, {0, 1, 1});
  rows.attributes = make_attributes({{"axis", int64_t{0}}});
  expect_values<float>(run_op_single(rows), {2, 2}, {3, 4, 5, 6});
  OpCall columns = compress(x, {0, 1});
  columns.attributes = make_attributes({{"axis", int64_t{-1}}});
  expect_values<float>(run_op_single(columns), {3, 1}, {2, 4, 6});
  expect_values<float>(run_op_single(compress(x, {0, 1, 0, 0, 1})), {2}, {2, 5});
}

TEST(Compress, ZeroSizesAndRefusals) {
  const Tensor x = make_ramp<float>({2});
  expect_values<float>(run_op_single(compress(x, {})), {0}, {});
  expect_values<float>(run_op_single(compress(x, {0, 0, 0})), {0}, {});
  expect_op_error(compress(x, {0, 0, 1}), "position 2");
  expect_op_error({"Compress", {x, x}}, "float32");
}

}  // namespace
}  // namespace het::op_testing
