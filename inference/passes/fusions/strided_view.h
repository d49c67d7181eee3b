#pragma once

#include <cstdint>

#include "inference/model/model.h"

namespace het {

/// A value as elements of another one, which it was made from by changing their order or leaving
/// some out (Reshape, Transpose, Split, Gather of one index ...) and by multiplying with numbers.
struct StridedView {
  Value* base = nullptr;  ///< as a dense, row-major tensor
  int64_t offset = 0;     ///< of the first element, in elements of the base
  Shape shape;            ///< of the value
  Shape strides;          ///< of its dimensions, in elements of the base
  float factor = 1.0f;    ///< that the base's elements are multiplied by
};

/// The view that begins furthest back: of the value itself when nothing before it is of this kind.
/// All shapes must be static.
StridedView strided_view(Value& value);

/// Gives the view another shape of as many elements; false, and nothing has changed, where no
/// strides say that.
bool reshape_view(StridedView& view, const Shape& shape);

/// The value itself.
StridedView whole_view(Value& value);

}  // namespace het
