#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor size_of(const std::vector<double>& sizes) {
  return make_tensor<int64_t>({static_cast<int64_t>(sizes.size())}, sizes);
}

TEST(HetAdaptivePool, BinsOverlapWhereTheSizeCannotBeDivided) {
  // Rows 0 to 1 and 1 to 2, columns 0 to 1 and 1 to 3 (floor and ceil of 1.5). Value = 3 row + col.
  const Tensor x = make_ramp<float>({1, 1, 3, 3});
  expect_values<float>(run_op_single({"AdaptiveAvgPool", {x, size_of({2, 2})}, {}, 1, "het"}),
                       {1, 1, 2, 2}, {2, 3, 5, 6});
  const std::vector<Tensor> most =
      run_op_ok({"AdaptiveMaxPool", {x, size_of({2, 1})}, {}, 2, "het"});
  expect_values<float>(most[0], {1, 1, 2, 1}, {5, 8});
  expect_values<int64_t>(most[1], {1, 1, 2, 1}, {5, 8});
}

TEST(HetAdaptivePool, MoreBinsThanElementsAndOtherRanks) {
  // Bins of two elements in three: 0, both, 1.
  const Tensor x = make_tensor<float>({1, 2, 2}, {4, 8, 2, -2});
  expect_values<float>(run_op_single({"AdaptiveAvgPool", {x, size_of({3})}, {}, 1, "het"}),
                       {1, 2, 3}, {4, 6, 8, 2, 0, -2});
  const Tensor cube = make_ramp<float>({1, 1, 2, 2, 2});
  const std::vector<Tensor> most = run_op_ok({"AdaptiveMaxPool",
                                              {cube, size_of({1, 2, 1})},
                                              make_attributes({{"index_element_type", "i32"}}),
                                              2,
                                              "het"});
  expect_values<float>(most[0], {1, 1, 1, 2, 1}, {5, 7});
  expect_values<int32_t>(most[1], {1, 1, 1, 2, 1}, {5, 7});
}

TEST(HetAdaptivePool, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 1, 3, 3});
  expect_op_error({"AdaptiveAvgPool", {x, size_of({2})}, {}, 1, "het"}, "has 1 values");
  expect_op_error({"AdaptiveAvgPool", {x, size_of({2, -1})}, {}, 1, "het"}, "contains -1");
  expect_op_error({"AdaptiveMaxPool",
                   {x, size_of({2, 2})},
                   make_attributes({{"index_element_type", "f32"}}),
                   2,
                   "het"},
                  "must be i32 or i64");
}

}  // namespace
}  // namespace het::op_testing
