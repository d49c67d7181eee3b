#include "inference/ops/products/gemm.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Gemm, MultipliesAndAdds) {
  const Tensor a = make_tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = make_tensor<float>({3, 2}, {1, 0, 2, 1, 0, 3});
  expect_values<float>(run_op_single({"Gemm", {a, b}}), {2, 2}, {5, 11, 14, 23});
  const Attributes factors = make_attributes({{"alpha", 2.0f}, {"beta", 0.5f}});
  const Tensor row = make_tensor<float>({2}, {2, 4});
  expect_values<float>(run_op_single({"Gemm", {a, b, row}, factors}), {2, 2}, {11, 24, 29, 48});
  const Tensor column = make_tensor<float>({2, 1}, {2, 4});
  expect_values<float>(run_op_single({"Gemm", {a, b, column}, factors}), {2, 2}, {11, 23, 30, 48});
  expect_values<float>(run_op_single({"Gemm", {a, b, Tensor::scalar(2.0f)}}), {2, 2},
                       {7, 13, 16, 25});
}

TEST(Gemm, TransposesEitherSide) {
  const Tensor a = make_tensor<float>({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor b = make_tensor<float>({2, 3}, {1, 2, 0, 0, 1, 3});
  expect_values<float>(
      run_op_single({"Gemm", {a, b}, make_attributes({{"transA", 1}, {"transB", 1}})}), {2, 2},
      {5, 11, 14, 23});
}

TEST(Gemm, OtherTypes) {
  const auto run = [&]<class T>() {
    const Tensor a = make_tensor<T>({1, 2}, {3, 4});
    const Tensor b = make_tensor<T>({2, 1}, {5, 6});
    expect_values<T>(run_op_single({"Gemm", {a, b, make_tensor<T>({1}, {1})}}), {1, 1}, {40});
    expect_values<T>(run_op_single({"Gemm",
                                    {a, b, make_tensor<T>({1}, {4})},
                                    make_attributes({{"alpha", 2.0f}, {"beta", 0.5f}})}),
                     {1, 1}, {80});
  };
  run.template operator()<double>();
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
  run.template operator()<int32_t>();
  run.template operator()<uint32_t>();
  run.template operator()<int64_t>();
  run.template operator()<uint64_t>();
}

TEST(Gemm, NothingToSumGivesTheAddend) {
  expect_values<float>(run_op_single({"Gemm",
                                      {make_ramp<float>({1, 0}), make_ramp<float>({0, 2}),
                                       make_tensor<float>({2}, {7, 8})}}),
                       {1, 2}, {7, 8});
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  const Tensor a = make_ramp<float>({2, 3});
  expect_op_error({"Gemm", {a, a}}, "the inner dimensions differ");
  expect_op_error({"Gemm", {a, make_ramp<float>({3, 2, 1})}}, "both must have rank 2");
  expect_op_error({"Gemm", {a, make_ramp<float>({3, 2}), make_ramp<float>({3})}},
                  "C has shape [3], which does not broadcast to [2,2]");
  expect_op_error({"Gemm", {a, make_ramp<float>({3, 1}), make_ramp<float>({2, 2})}},
                  "C has shape [2,2]");
  expect_op_error({"Gemm", {a, make_ramp<double>({3, 2})}}, "types float32 and float64");
  expect_op_error({"Gemm", {a, make_ramp<float>({3, 2})}, make_attributes({{"alpha", 1}})},
                  "attribute 'alpha' is an int, but must be a float");
}

}  // namespace
}  // namespace het::op_testing
