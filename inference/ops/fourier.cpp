#include "inference/ops/fourier.h"

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

}  // namespace

std::vector<Complex> fourier_transform(const std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  std::vector<Complex> y(n);
  if (n == 0) return y;
  std::vector<Complex> roots(n);
  const double angle = (inverse ? 2 : -2) * std::numbers::pi / static_cast<double>(n);
  for (size_t k = 0; k < n; ++k) roots[k] = std::polar(1.0, angle * static_cast<double>(k));
  transform(x.data(), 1, y.data(), n, roots);
  if (inverse) {
    for (Complex& value : y) value /= static_cast<double>(n);
  }
  return y;
}

}  // namespace het
