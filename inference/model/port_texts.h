#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

/// What a user writes for the ports of a model, in the forms of OpenVINO's tools. An entry without
/// a name is meant for every port (types, layouts) or for the only one (shapes, means).
using PortTexts = std::vector<std::pair<std::string, std::string>>;

/// "[1,3,224,224]", "images[1,3,224,224],size[1,2]": names and what stands in the brackets.
HET_API Result<PortTexts> parse_bracketed(std::string_view text);
/// "u8", "images:u8,size:i64" (or with ';' between the entries): names and what follows the colon.
HET_API Result<PortTexts> parse_colon_list(std::string_view text);
/// Numbers separated by commas.
HET_API Result<std::vector<float>> parse_numbers(std::string_view text);

/// Indices of the inputs (outputs) that an entry is meant for: the named one, or all of them.
HET_API Result<std::vector<size_t>> named_inputs(const Model& model, std::string_view name);
HET_API Result<std::vector<size_t>> named_outputs(const Model& model, std::string_view name);

/// Reshapes a model as a text says: the forms of parse_bracketed(), where "?" keeps a dimension, or
/// sizes for dimensions that the file names: "N=4,height=320" (or with ';'). Fails when there is no
/// such input or dimension, listing those that exist.
HET_API Status reshape(Model& model, std::string_view text);

/// Gives every input this batch size: the dimension that `layouts` ("NCHW", "images[NCHW]") call N,
/// or the first one; inputs without an N keep their shape.
HET_API Status set_batch(Model& model, int64_t batch, std::string_view layouts = {});

}  // namespace het
