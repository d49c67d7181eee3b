#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(HetGatherTree, WalksBackFromTheLastStep) {
  // Two beams, three steps. Beam 0 ends with 5 and came from beam 1, which came from beam 0.
  const Tensor steps = make_tensor<int32_t>({3, 1, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor parents = make_tensor<int32_t>({3, 1, 2}, {0, 0, 1, 0, 1, 0});
  const auto tree = [&](int32_t length, int32_t end) {
    return run_op_single({"GatherTree",
                          {steps, parents, make_tensor<int32_t>({1}, {double(length)}),
                           make_tensor<int32_t>({}, {double(end)})},
                          {},
                          1,
                          "het"});
  };
  expect_values<int32_t>(tree(3, 9), {3, 1, 2}, {1, 2, 4, 3, 5, 6});
  // Of two steps only: the third holds end tokens.
  expect_values<int32_t>(tree(2, 9), {3, 1, 2}, {2, 1, 3, 4, 9, 9});
  // Behind an end token nothing follows.
  expect_values<int32_t>(tree(3, 4), {3, 1, 2}, {1, 2, 4, 3, 4, 6});
}

TEST(HetGatherTree, RefusesBadInput) {
  const Tensor steps = make_ramp<int32_t>({2, 1, 1});
  expect_op_error({"GatherTree",
                   {steps, make_tensor<int32_t>({2, 1, 1}, {0, 1}), make_tensor<int32_t>({1}, {2}),
                    make_tensor<int32_t>({}, {9})},
                   {},
                   1,
                   "het"},
                  "parent_idx contains 1, but there are 1 beams");
  expect_op_error({"GatherTree",
                   {steps, steps, make_tensor<int32_t>({2}, {2, 2}), make_tensor<int32_t>({}, {9})},
                   {},
                   1,
                   "het"},
                  "max_seq_len [2]");
}

}  // namespace
}  // namespace het::op_testing
