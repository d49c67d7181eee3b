#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall window(const std::string& type, int64_t size, bool periodic = true) {
  return {type,
          {Tensor::scalar(size)},
          make_attributes({{"periodic", static_cast<int64_t>(periodic)}})};
}

TEST(SignalWindow, PeriodicAndSymmetric) {
  expect_values<float>(run_op_single(window("HannWindow", 4)), {4}, {0, 0.5, 1, 0.5});
  expect_values<float>(run_op_single(window("HannWindow", 5, false)), {5}, {0, 0.5, 1, 0.5, 0});
  expect_values<float>(run_op_single(window("HammingWindow", 2)), {2}, {2.0 / 23, 1});
  expect_values<float>(run_op_single(window("BlackmanWindow", 4)), {4}, {0, 0.34, 1, 0.34});
  expect_values<float>(run_op_single(window("HannWindow", 1, false)), {1}, {1});
  expect_values<float>(run_op_single(window("HannWindow", 0)), {0}, {});
  expect_op_error(window("HannWindow", -1), "size");
}

}  // namespace
}  // namespace het::op_testing
