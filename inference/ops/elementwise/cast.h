#pragma once

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/attributes.h"
#include "inference/ops/narrow_float.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Cast's attributes, which matter for narrow floats only.
struct CastSettings {
  bool saturate = true;
  PowerRounding rounding = PowerRounding::Up;
};

/// The attributes `saturate` and `round_mode`.
Result<CastSettings> cast_settings(const Attributes& attributes);

/// Converts all elements of a dense host tensor between any two types by the rules of
/// numeric_cast() and float_to_narrow(); packed integers keep the low bits of the nearest even
/// integer.
/// Shapes may differ, element counts must agree.
HET_API Status cast_elements(const Tensor& src, Tensor& dst, const CastSettings& settings = {});

}  // namespace het
