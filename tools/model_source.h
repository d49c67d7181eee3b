#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"
#include "tools/preparation_options.h"

namespace het {

/// Loads the libraries of -extensions and reads the model. `inputs` may name constants that the
/// file lets one override; they become inputs.
Result<std::unique_ptr<Model>> read_model(Core& core, const std::string& path,
                                          const PreparationOptions& options,
                                          const std::vector<std::string>& inputs = {});

/// Reads and prepares a model and binds its shapes: a dimension that stays unknown becomes 1 when
/// it is the first one, and is an error otherwise.
Result<std::unique_ptr<Model>> load_model(Core& core, const std::string& path,
                                          const PreparationOptions& options);

/// The same, but other dimensions may stay unknown.
Result<std::unique_ptr<Model>> load_unbound_model(Core& core, const std::string& path,
                                                  const PreparationOptions& options);

/// The first input with unknown dimensions and how to bind them; empty when all are known.
std::string unbound_input(const Model& model);

}  // namespace het
