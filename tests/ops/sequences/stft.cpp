#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

Tensor number(int64_t value) {
  return Tensor::scalar(value);
}

TEST(Stft, FramesWithAndWithoutAWindow) {
  const Tensor signal = make_tensor<float>({1, 5, 1}, {1, 2, 3, 4, 5});
  // Frames 1 2, 3 4: sum and difference.
  expect_values<float>(run_op_single({"STFT", {signal, number(2), Tensor(), number(2)}}),
                       {1, 2, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0});
  expect_values<float>(
      run_op_single({"STFT", {signal, number(2), make_tensor<float>({2}, {1, 0.5})}}), {1, 2, 2, 2},
      {2, 0, 0, 0, 5, 0, 1, 0});
}

TEST(Stft, ComplexSignalHasAllBins) {
  // i, 1: sum 1 + i, difference -1 + i.
  const Tensor signal = make_tensor<float>({1, 2, 2}, {0, 1, 1, 0});
  expect_values<float>(
      run_op_single({"STFT", {signal, number(1)}, make_attributes({{"onesided", 0}})}),
      {1, 1, 2, 2}, {1, 1, -1, 1});
  expect_op_error({"STFT", {signal, number(1)}}, "with onesided=0");
}

TEST(Stft, Refusals) {
  const Tensor signal = make_ramp<float>({1, 4, 1});
  expect_op_error({"STFT", {signal, number(0)}}, "do not fit a signal of 4");
  expect_op_error({"STFT", {signal, number(1), Tensor(), number(5)}}, "do not fit a signal of 4");
  expect_op_error({"STFT", {signal, number(1), make_ramp<float>({2}), number(3)}},
                  "the window has 2 values, frame_length is 3");
}

}  // namespace
}  // namespace het
