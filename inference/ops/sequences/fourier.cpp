#include "inference/ops/sequences/fourier.h"

#include <bit>
#include <cstddef>
#include <numbers>

namespace het {
namespace {

using Complex = std::complex<double>;

size_t smallest_factor(size_t n) {
  for (size_t factor = 2; factor * factor <= n; ++factor) {
    if (n % factor == 0) return factor;
  }
  return n;
}

/// Transforms the `n` elements x[0], x[step] ... into y. roots[k] = exp(-+2 pi i k / roots.size());
/// n divides roots.size().
void transform(const Complex* x, size_t step, Complex* y, size_t n,
               const std::vector<Complex>& roots) {
  if (n == 1) {
    *y = *x;
    return;
  }
  const size_t radix = smallest_factor(n);
  const size_t part = n / radix;
  for (size_t r = 0; r < radix; ++r)
    transform(x + r * step, step * radix, y + r * part, part, roots);
  const size_t turn = roots.size() / n;
  std::vector<Complex> mixed(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t r = 0; r < radix; ++r) mixed[k] += roots[r * k % n * turn] * y[r * part + k % part];
  }
  for (size_t k = 0; k < n; ++k) y[k] = mixed[k];
}

/// The transform without the inverse's factor, mixed radix.
std::vector<Complex> mixed_radix(const std::vector<Complex>& x, double sign) {
  const size_t n = x.size();
  std::vector<Complex> roots(n);
  const double angle = sign * 2 * std::numbers::pi / static_cast<double>(n);
  for (size_t k = 0; k < n; ++k) roots[k] = std::polar(1.0, angle * static_cast<double>(k));
  std::vector<Complex> y(n);
  transform(x.data(), 1, y.data(), n, roots);
  return y;
}

/// The same by k n = (k^2 + n^2 - (k - n)^2) / 2: chirp times the convolution of x * chirp with the
/// conjugate chirp, over a power of two that holds it.
std::vector<Complex> chirp_convolution(const std::vector<Complex>& x, double sign) {
  const size_t n = x.size();
  const size_t length = std::bit_ceil(2 * n - 1);
  std::vector<Complex> chirp(n);
  std::vector<Complex> a(length);
  std::vector<Complex> b(length);
  for (size_t k = 0; k < n; ++k) {
    // The angle repeats every 2 n; reducing it in integers keeps it exact.
    const auto turn = static_cast<double>(k * k % (2 * n));
    chirp[k] = std::polar(1.0, sign * std::numbers::pi * turn / static_cast<double>(n));
    a[k] = x[k] * chirp[k];
    b[k] = std::conj(chirp[k]);
    if (k > 0) b[length - k] = b[k];
  }
  a = mixed_radix(a, -1);
  b = mixed_radix(b, -1);
  for (size_t i = 0; i < length; ++i) a[i] *= b[i] / static_cast<double>(length);
  a = mixed_radix(a, 1);
  a.resize(n);
  for (size_t k = 0; k < n; ++k) a[k] *= chirp[k];
  return a;
}

bool has_small_factors(size_t n) {
  constexpr size_t kLargest = 64;
  while (n > 1) {
    const size_t factor = smallest_factor(n);
    if (factor > kLargest) return false;
    n /= factor;
  }
  return true;
}

}  // namespace

std::vector<Complex> fourier_transform(const std::vector<Complex>& x, bool inverse) {
  if (x.empty()) return {};
  const double sign = inverse ? 1 : -1;
  std::vector<Complex> y =
      has_small_factors(x.size()) ? mixed_radix(x, sign) : chirp_convolution(x, sign);
  if (inverse) {
    for (Complex& value : y) value /= static_cast<double>(x.size());
  }
  return y;
}

}  // namespace het
