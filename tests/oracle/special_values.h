#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/tensors/element_type.h"
#include "inference/tensors/tensor.h"
#include "tests/oracle/generator.h"

namespace het::oracle {

/// Floats that cases draw beside ordinary ones; bits.
enum Special : uint8_t {
  kNan = 1,
  kInfinities = 2,
  kZeros = 4,  ///< of both signs
  kSubnormals = 8,
  kAllSpecials = 15,
};

/// Operators that get fewer of them, and why.
struct SpecialException {
  std::string_view domain;
  std::string_view type;
  uint8_t not_drawn;
  std::string_view reason;
};
const std::vector<SpecialException>& special_exceptions();

/// What a case of the operator draws: all, NaN, infinities or small numbers (by `choice` below 4),
/// less its exceptions.
uint8_t allowed_specials(const Generator& generator, int64_t choice);

/// The values of these kinds in a type; at least one.
std::vector<double> special_values(uint8_t specials, ElementType type);

/// The same with its subnormal floats replaced by 0, as devices may read them.
Tensor without_subnormals(const Tensor& tensor);

}  // namespace het::oracle
