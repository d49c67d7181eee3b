#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Attributes lrn(int64_t size, float alpha, float beta, float bias) {
  return make_attributes({{"size", size}, {"alpha", alpha}, {"beta", beta}, {"bias", bias}});
}

TEST(Lrn, DividesByTheSquaresOfNeighbouringChannels) {
  const Tensor x = make_tensor<float>({1, 3, 1}, {1, 2, 3});
  // size 3: sums 5, 14, 13 of squares, alpha / size = 1
  expect_values<float>(run_op_single({"LRN", {x}, lrn(3, 3, 1, 1)}), {1, 3, 1},
                       {1.0 / 6, 2.0 / 15, 3.0 / 14});
}

TEST(Lrn, AnEvenSizeLooksFurtherAhead) {
  const Tensor x = make_tensor<float>({1, 3, 1}, {1, 2, 3});
  // size 2: own channel and the next, sums 5, 13, 9
  expect_values<float>(run_op_single({"LRN", {x}, lrn(2, 2, 0.5, 0)}), {1, 3, 1},
                       {1 / std::sqrt(5.0), 2 / std::sqrt(13.0), 1});
}

TEST(Lrn, DefaultsAndOtherTypes) {
  const double expected = 2 / std::pow(1 + 1e-4 * 4, 0.75);
  const Attributes size_one = make_attributes({{"size", 1}});
  expect_values<double>(run_op_single({"LRN", {make_tensor<double>({1, 1, 1}, {2})}, size_one}),
                        {1, 1, 1}, {expected});
  expect_values<Float16>(run_op_single({"LRN", {make_tensor<Float16>({1, 1}, {2})}, size_one}),
                         {1, 1}, {expected}, 1e-3);
  expect_values<BFloat16>(run_op_single({"LRN", {make_tensor<BFloat16>({1, 1}, {2})}, size_one}),
                          {1, 1}, {expected}, 1e-2);
}

TEST(Lrn, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 2, 2});
  expect_op_error({"LRN", {x}}, "attribute 'size'");
  expect_op_error({"LRN", {x}, make_attributes({{"size", 0}})}, "size is 0");
  expect_op_error({"LRN", {make_ramp<float>({2})}, make_attributes({{"size", 1}})},
                  "rank must be at least 2");
}

}  // namespace
}  // namespace het::op_testing
