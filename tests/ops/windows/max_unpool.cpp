#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Attributes windows() {
  return make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
}

TEST(MaxUnpool, PutsEveryValueBackWhereItWas) {
  const Tensor x = make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor indices = Tensor::from<int64_t>({1, 1, 2, 2}, {5, 7, 13, 15});
  expect_values<float>(run_op_single({"MaxUnpool", {x, indices}, windows()}), {1, 1, 4, 4},
                       {0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4});
}

TEST(MaxUnpool, ALargerOutputAddsToTheEnds) {
  const Tensor x = make_tensor<Float16>({1, 1, 1}, {3});
  const Tensor indices = Tensor::from<int64_t>({1, 1, 1}, {1});
  const Tensor y = run_op_single({"MaxUnpool",
                                  {x, indices, int64_tensor({1, 1, 4})},
                                  make_attributes({{"kernel_shape", Ints{2}}})});
  expect_values<Float16>(y, {1, 1, 4}, {0, 3, 0, 0});
}

TEST(MaxUnpool, InvertsMaxPool) {
  const Tensor x = make_tensor<float>({2, 1, 2, 2}, {1, 7, 3, 4, 9, 0, 2, 5});
  const auto pooled = run_op_ok({"MaxPool", {x}, windows(), 2});
  expect_values<float>(run_op_single({"MaxUnpool", {pooled[0], pooled[1]}, windows()}),
                       {2, 1, 2, 2}, {0, 7, 0, 0, 9, 0, 0, 0});
}

TEST(MaxUnpool, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 1, 2, 2});
  const auto indices = [](int64_t first) {
    return Tensor::from<int64_t>({1, 1, 2, 2}, {first, 0, 0, 0});
  };
  expect_op_error({"MaxUnpool", {x, indices(16)}, windows()}, "index 16 is outside");
  expect_op_error({"MaxUnpool", {x, indices(-1)}, windows()}, "index -1 is outside");
  expect_op_error({"MaxUnpool", {x, int64_tensor({0})}, windows()}, "I has shape [1]");
  expect_op_error({"MaxUnpool", {x, indices(0)}}, "attribute 'kernel_shape'");
  expect_op_error({"MaxUnpool", {x, indices(0), int64_tensor({1, 1, 3, 4})}, windows()},
                  "output_shape is [1,1,3,4], but must hold [1,1,4,4]");
}

}  // namespace
}  // namespace het::op_testing
