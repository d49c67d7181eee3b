#pragma once

namespace het::cpu {

/// The matrices of F(2P x 2P, 3x3) by Toom and Cook: 2P + 1 points 0, +-a_1 ... +-a_P and infinity.
/// With W(x) = x (x^2 - a_1^2) ... the row of B^T at a point a holds the coefficients of
/// W(x) / (x - a), that at infinity those of W; A^T has the powers of the points, G their powers
/// divided by W'(a). The points are chosen for a small error in float32: pairs a, 1/a.
template <int P>
struct WinogradPoints {
  static constexpr int kRows = 2 * P + 2;

  static constexpr double exact_point(int pair) {
    constexpr double kRootHalf = 0.70710678118654752440;
    if (P == 1) return 1.0;
    if (P == 2) return pair == 0 ? kRootHalf : 2.0 * kRootHalf;
    return pair == 0 ? 1.0 : pair == 1 ? 0.5 : 2.0;
  }
  static constexpr double exact_square(int pair) {
    if (P == 2) return pair == 0 ? 0.5 : 2.0;
    return exact_point(pair) * exact_point(pair);
  }
  static constexpr float point(int pair) { return static_cast<float>(exact_point(pair)); }

  /// Coefficient of y^k in the product of (y - a^2) over all pairs but `left_out`.
  static constexpr double coefficient(int left_out, int k) {
    double c[P + 1] = {1.0};
    int degree = 0;
    for (int pair = 0; pair < P; ++pair) {
      if (pair == left_out) continue;
      ++degree;
      for (int i = degree; i >= 0; --i) {
        c[i] = (i > 0 ? c[i - 1] : 0.0) - (i < degree ? exact_square(pair) * c[i] : 0.0);
      }
    }
    return c[k];
  }
  /// Of W(x) / x, by powers of x^2.
  static constexpr float whole(int k) { return static_cast<float>(coefficient(-1, k)); }
  /// Of the same without the factor of a pair.
  static constexpr float without(int pair, int k) {
    return static_cast<float>(coefficient(pair, k));
  }

  /// The point of a pair to the power of i.
  static constexpr double exact_power(int pair, int i) {
    double power = i % 2 == 0 ? 1.0 : exact_point(pair);
    for (int k = 1; k < i; k += 2) power *= exact_square(pair);
    return power;
  }
  static constexpr float power(int pair, int i) { return static_cast<float>(exact_power(pair, i)); }

  /// G: row by point (0, a_1, -a_1, ..., infinity), column by tap.
  static constexpr double weight(int row, int tap) {
    if (row == 2 * P + 1) return tap == 2 ? 1.0 : 0.0;
    if (row == 0) return tap == 0 ? 1.0 / coefficient(-1, 0) : 0.0;
    const int pair = (row - 1) / 2;
    const double a = row % 2 == 1 ? exact_point(pair) : -exact_point(pair);
    const double square = exact_square(pair);
    double slope = 2.0 * square;  // W'(a) = a * 2a * product of (a^2 - b^2)
    for (int other = 0; other < P; ++other) {
      if (other != pair) slope *= square - exact_square(other);
    }
    return (tap == 0 ? 1.0 : tap == 1 ? a : square) / slope;
  }
};

}  // namespace het::cpu
