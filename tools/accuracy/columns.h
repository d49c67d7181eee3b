#pragma once

#include <string>
#include <vector>

#include "inference/core.h"

namespace het {

/// A model and the type that it computes in: a column of the table.
struct AccuracyColumn {
  std::string model;
  std::string type;  ///< "f32", "bf16", "f16", "int8"; empty: the device chooses
  Properties properties;
};

/// A column per model, or per model and type: a float type for models that are not quantised (for
/// quantised ones where there are no others, then with every product in float), int8 for those that
/// are. Fails where a type has no model.
Result<std::vector<AccuracyColumn>> make_columns(const Core& core,
                                                 const std::vector<std::string>& models,
                                                 const std::vector<std::string>& types,
                                                 const Properties& properties);

}  // namespace het
