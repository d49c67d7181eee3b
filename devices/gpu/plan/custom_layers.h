#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "devices/gpu/opencl/tensor_spec.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"

namespace het::gpu {

/// What a value of the kernel's #define comes from: the node's attribute `param`, else `standard`.
struct CustomDefine {
  std::string name;  ///< may be followed by the value
  std::string param;
  std::string type;  ///< "int", "float", "int[]", "float[]" or nothing
  std::string standard;
};

/// An argument of the kernel.
struct CustomArgument {
  bool is_output = false;
  size_t port = 0;
  Format format = Format::Plain;
};

/// A kernel of the user's for an operator.
struct CustomLayer {
  std::string name;   ///< operator: "Type" or "domain.Type"
  std::string entry;  ///< of the source
  std::string source;
  std::string options;  ///< of the compiler
  std::vector<CustomDefine> defines;
  std::vector<CustomArgument> arguments;  ///< in the order of the kernel's
  std::string global = "B*F*Y*X";
  std::string local;
  bool sizes_of_output = true;  ///< B, F, Y and X are those of output 0, else of input `sizes_port`
  size_t sizes_port = 0;
};

/// The kernels of CONFIG_FILE, by operator. Immutable.
using CustomLayers = std::map<std::string, CustomLayer, std::less<>>;

/// Reads a description in OpenVINO's format (CustomLayer elements of type SimpleGPU, version 1, at
/// the top or inside one other element). Sources are looked up beside it: names that lead out of
/// its folder are refused. Fails with NotFound, ParseError or NotSupported (Data elements, formats
/// other than BFYX and BYXF, an operator that has a kernel here), naming file and element.
Result<std::shared_ptr<const CustomLayers>> read_custom_layers(const std::string& path);

/// Those of the property CONFIG_FILE; null without it.
Result<std::shared_ptr<const CustomLayers>> custom_layers(const Properties& properties);

}  // namespace het::gpu
