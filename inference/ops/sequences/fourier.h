#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace het {

/// Values that one transform may have: its memory and time stay bounded.
inline constexpr int64_t kMaxTransformLength = int64_t{1} << 24;

/// y[k] = sum over n of x[n] * exp(-2 pi i k n / N), or with `inverse`
/// sum of x[n] * exp(+2 pi i k n / N) / N. Mixed radix where N has small prime factors, else a
/// convolution with a chirp (Bluestein 1970): N log N steps in both cases.
std::vector<std::complex<double>> fourier_transform(const std::vector<std::complex<double>>& x,
                                                    bool inverse);

}  // namespace het
