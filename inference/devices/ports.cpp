#include "inference/devices/ports.h"

namespace het {

std::vector<Port> input_ports(const Model& model) {
  std::vector<Port> ports;
  for (const ModelInput& input : model.inputs()) {
    ports.push_back({input.value->name(), input.value->desc(), input.preprocess});
  }
  return ports;
}

std::vector<Port> output_ports(const Model& model) {
  std::vector<Port> ports;
  for (const ModelOutput& output : model.outputs()) {
    ports.push_back({output.name, output.value->desc(), std::nullopt});
  }
  return ports;
}

}  // namespace het
