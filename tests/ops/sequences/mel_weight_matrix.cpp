#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

OpCall call(int64_t bins, int64_t length, double upper) {
  return {"MelWeightMatrix",
          {Tensor::scalar(bins), Tensor::scalar(length), Tensor::scalar(int64_t{8192}),
           make_tensor<float>({}, {0}), make_tensor<float>({}, {upper})}};
}

TEST(MelWeightMatrix, TrianglesBetweenBins) {
  // mel(4096) = 2168.9 in 3 steps of 723.0: 0, 629.5, 1825.2, 4096 Hz; times 17 / 8192 and rounded
  // down: bins 0, 1, 3 and 8. The one triangle spans bins 0 to 3.
  expect_values<float>(run_op_single(call(1, 16, 4096)), {9, 1}, {0, 1, 0.5, 0, 0, 0, 0, 0, 0});
}

TEST(MelWeightMatrix, Refusals) {
  expect_op_error(call(1, 16, 100000), "do not lie within the 9 bins");
  expect_op_error(call(-1, 16, 4096), "-1 mel bins");
}

}  // namespace
}  // namespace het
