#pragma once

#include <span>
#include <string_view>

#include "tests/oracle/draw.h"

namespace het::oracle {

/// How random valid calls of an operator are made. Operators that differ by a row share `make`,
/// which then reads the other columns through Draw::generator().
struct Generator {
  std::string_view domain;
  std::string_view type;
  void (*make)(Draw& draw);
  std::string_view types = "f32";  ///< see Draw::type()
  double low = -2;                 ///< bounds of the values
  double high = 2;
  std::string_view attributes = {};  ///< see Draw::attributes()
  /// Allowed difference of float outputs, in parts of 1 + |reference|; 0: the type's own.
  double tolerance = 0;
  /// The result is rounded to levels behind float products: beside a half (to 6e-8 of the value) it
  /// may be the next one. One element in a thousand, or one of a small output, may be.
  bool rounds = false;
};

std::span<const Generator> box_generators();
std::span<const Generator> control_generators();
std::span<const Generator> detection_generators();
std::span<const Generator> elementwise_generators();
std::span<const Generator> mover_generators();
std::span<const Generator> other_generators();
std::span<const Generator> product_generators();
std::span<const Generator> reduction_generators();
std::span<const Generator> sampling_generators();
std::span<const Generator> sequence_generators();
std::span<const Generator> window_generators();

/// Of every operator of the registry one; a test fails otherwise.
std::vector<const Generator*> all_generators();

}  // namespace het::oracle
