#pragma once

#include <complex>
#include <vector>

namespace het {

/// y[k] = sum over n of x[n] * exp(-2 pi i k n / N), or with `inverse`
/// sum of x[n] * exp(+2 pi i k n / N) / N. Mixed radix: N times the sum of N's prime factors steps.
std::vector<std::complex<double>> fourier_transform(const std::vector<std::complex<double>>& x,
                                                    bool inverse);

}  // namespace het
