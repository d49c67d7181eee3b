#pragma once

#include <map>
#include <memory>
#include <string>

#include "inference/core.h"
#include "inference/status.h"

namespace het {

/// Reads a model and binds its shapes: `shapes` is "[1,3,224,224]" for the only input or
/// "name[1,3,224,224],other[1,2]"; a dimension that stays unknown becomes 1 when it is the first
/// one, and is an error otherwise.
Result<std::unique_ptr<Model>> load_model(Core& core, const std::string& path,
                                          const std::string& shapes);

/// Parses the text above; an entry without a name has the name "".
Result<std::map<std::string, Shape>> parse_named_shapes(const std::string& text);

/// Sets unknown first dimensions of all inputs to `batch`.
Status bind_batch(Model& model, int64_t batch);

}  // namespace het
