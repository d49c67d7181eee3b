#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

TEST(Dft, RealSignalOfFour) {
  // 1, 2, 3, 4 -> 10, -2 + 2i, -2, -2 - 2i.
  const Tensor x = make_tensor<float>({1, 4, 1}, {1, 2, 3, 4});
  expect_values<float>(run_op_single({"DFT", {x}}), {1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  expect_values<float>(run_op_single({"DFT", {x}, make_attributes({{"onesided", 1}})}), {1, 3, 2},
                       {10, 0, -2, 2, -2, 0});
}

TEST(Dft, InverseOfAComplexSpectrum) {
  const Tensor spectrum = make_tensor<float>({1, 4, 2}, {10, 0, -2, 2, -2, 0, -2, -2});
  expect_values<float>(run_op_single({"DFT", {spectrum}, make_attributes({{"inverse", 1}})}),
                       {1, 4, 2}, {1, 0, 2, 0, 3, 0, 4, 0});
}

TEST(Dft, InverseOfHalfASpectrumIsReal) {
  const auto attributes = make_attributes({{"inverse", 1}, {"onesided", 1}});
  // What the first and the last bin of an even length say of the imaginary part does not count.
  const Tensor half = make_tensor<float>({1, 3, 2}, {10, 7, -2, 2, -2, 7});
  expect_values<float>(run_op_single({"DFT", {half}, attributes}), {1, 4, 1}, {1, 2, 3, 4});
  // Odd length 3: 6, -1.5 + i sqrt(3) / 2 <- 1, 2, 3.
  const Tensor odd = make_tensor<float>({1, 2, 2}, {6, 0, -1.5, std::sqrt(3.0) / 2});
  expect_values<float>(run_op_single({"DFT", {odd, Tensor::scalar(int64_t{3})}, attributes}),
                       {1, 3, 1}, {1, 2, 3});
}

TEST(Dft, LengthPadsAndCutsAndTheAxisIsChosen) {
  const Tensor x = make_tensor<double>({3, 1, 1}, {1, 2, 3});
  const Tensor axis = Tensor::scalar(int64_t{0});
  expect_values<double>(run_op_single({"DFT", {x, Tensor::scalar(int64_t{2}), axis}}), {2, 1, 2},
                        {3, 0, -1, 0});
  expect_values<double>(run_op_single({"DFT", {x, Tensor::scalar(int64_t{4}), axis}}), {4, 1, 2},
                        {6, 0, -2, -2, 2, 0, -2, 2});
}

TEST(Dft, EveryLengthAgreesWithTheDefinition) {
  for (const int64_t n : {1, 6, 7, 30, 36, 67, 134}) {
    std::vector<double> x;
    for (int64_t i = 0; i < n; ++i) x.push_back(static_cast<double>(i * i % 11) - 4);
    std::vector<double> y;
    for (int64_t k = 0; k < n; ++k) {
      double real = 0;
      double imaginary = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double angle = -2 * M_PI * static_cast<double>(k * i) / static_cast<double>(n);
        real += x[static_cast<size_t>(i)] * std::cos(angle);
        imaginary += x[static_cast<size_t>(i)] * std::sin(angle);
      }
      y.insert(y.end(), {real, imaginary});
    }
    expect_values<double>(run_op_single({"DFT", {make_tensor<double>({1, n, 1}, x)}}), {1, n, 2}, y,
                          1e-11);
  }
}

TEST(Dft, Refusals) {
  const Tensor complex = make_ramp<float>({1, 4, 2});
  expect_op_error({"DFT", {complex}, make_attributes({{"onesided", 1}})}, "needs real input");
  expect_op_error({"DFT", {complex, Tensor(), Tensor::scalar(int64_t{2})}}, "is no axis");
  expect_op_error({"DFT", {complex, Tensor::scalar(int64_t{0})}}, "the length must be 1");
  expect_op_error({"DFT", {complex, Tensor::scalar(int64_t{1} << 25)}}, "to 16777216");
}

}  // namespace
}  // namespace het
