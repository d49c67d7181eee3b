#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall reverse(const Tensor& x, const Ints& lengths, int64_t batch_axis, int64_t time_axis) {
  return {"ReverseSequence",
          {x, int64_tensor(lengths)},
          make_attributes({{"batch_axis", batch_axis}, {"time_axis", time_axis}})};
}

TEST(ReverseSequence, ReversesTheBeginning) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_values<float>(run_op_single(reverse(x, {3, 2}, 1, 0)), {3, 2}, {4, 3, 2, 1, 0, 5});
  expect_values<float>(run_op_single(reverse(x, {1, 2, 0}, 0, 1)), {3, 2}, {0, 1, 3, 2, 4, 5});
  expect_values<float>(run_op_single(reverse(make_ramp<float>({2, 0}), {0, 0}, 0, 1)), {2, 0}, {},
                       0);
}

TEST(ReverseSequence, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_op_error(reverse(x, {4, 1}, 1, 0), "length 4");
  expect_op_error(reverse(x, {1}, 1, 0), "batch is 2");
  expect_op_error(reverse(x, {1, 1}, 1, 1), "must be 0 and 1");
}

}  // namespace
}  // namespace het::op_testing
