#pragma once

#include <memory>
#include <string>
#include <vector>

#include "inference/devices/properties.h"
#include "inference/model_preparation.h"

namespace CLI {
class App;
}

namespace het {

/// Options that change a model before it is compiled, as benchmark_app and ovc name them.
struct PreparationOptions {
  Properties properties;   ///< the preparation's rows of the table of properties
  std::string port_types;  ///< -iop: inputs and outputs mixed, sorted out once the model is read
  std::vector<std::string> extensions;  ///< libraries with operators of one's own
};

/// Adds -shape, -layout, -b, -ip, -op, -iop, -mean_values, -scale_values ... to a subcommand.
void add_preparation_options(CLI::App& command, PreparationOptions& options);

/// Adds them to a model's properties, for what reads the model itself (VisionModel). Fails on -iop.
Status add_as_properties(const PreparationOptions& options, Properties& properties);

/// Prepares a model that was just read, as the options say.
Status prepare(const PreparationOptions& options, Model& model);

}  // namespace het
