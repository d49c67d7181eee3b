#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/decoders/model_proc.h"
#include "inference/model/model.h"

namespace het {

/// An input of the model and what fills it: the descriptor's entry, completed from the input's
/// shape (layout, grey), or what follows from the shape alone.
struct BoundInput {
  size_t index = 0;
  InputPreproc preproc;
};

/// Finds the input of every entry of the descriptor; picture inputs without an entry (rank 4, 1 or
/// 3 channels) get the default one. Inputs that nothing fills are left out. Fails when an entry
/// names no input, several fit or two entries claim one.
Result<std::vector<BoundInput>> bind_inputs(const ModelProc& model_proc, const Model& model);

/// The one picture input among them. Fails when there is none or several.
Result<BoundInput> picture_input(const std::vector<BoundInput>& inputs, const Model& model);

/// Axes of a picture input's shape (rank 3 or 4).
struct PictureAxes {
  size_t height = 0;
  size_t width = 0;
};
PictureAxes picture_axes(const PreprocessDesc& desc, size_t rank);

}  // namespace het
