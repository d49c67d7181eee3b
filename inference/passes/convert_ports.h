#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Lets an input or output have another element type: a Cast behind the input or in front of the
/// output. Nothing happens where it has the type already.
HET_API Status set_input_type(Model& model, size_t input_index, ElementType type);
HET_API Status set_output_type(Model& model, size_t output_index, ElementType type);

/// Takes the last channel from an input, which always holds `value`: the input has one channel
/// less, a Concat behind it appends a constant. `axis` is that of the channels; shapes must be
/// static.
HET_API Status append_constant_channel(Model& model, size_t input_index, size_t axis, float value);

/// Says what the dimensions of an input mean: "NCHW", or "NCHW->NHWC", which also changes them: the
/// input gets the second order, a Transpose behind it gives the model the first. Each letter stands
/// for one dimension. Declared shapes move along, a PreprocessDesc changes its layout.
HET_API Status set_input_layout(Model& model, size_t input_index, std::string_view layout);

/// Makes these the outputs: names of outputs or values, names of nodes with one output, or
/// "node:port" for output `port` of a node. What no output depends on is removed. Fails with
/// NotFound naming the outputs that exist.
HET_API Status select_outputs(Model& model, const std::vector<std::string>& names);

}  // namespace het
