#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "inference/model/model.h"
#include "inference/tensors/shape.h"

/// An IR file taken apart: layers, ports and edges with their numbers checked, attributes as they
/// stand. Texts are views into the XML document, which must outlive them.
namespace het::ir {

struct ParsedPort {
  int64_t id = 0;
  std::string_view precision;  ///< "FP32"; empty where the file leaves it out
  Shape dims;                  ///< as declared; kUnknownDim for -1
  std::string_view names;      ///< tensor names, commas between them
  std::string_view layout;     ///< "[N,C,H,W]" or empty
};

struct ParsedLayer {
  int64_t id = 0;
  std::string_view name;
  std::string_view type;
  std::string_view opset;                 ///< "opset8", "experimental" ...
  std::shared_ptr<const RtInfo> rt_info;  ///< null when there is none
  pugi::xml_node element;
  pugi::xml_node data;  ///< empty when the layer has no attributes
  std::vector<ParsedPort> inputs;
  std::vector<ParsedPort> outputs;
};

struct ParsedEdge {
  int64_t from_layer = 0;
  int64_t from_port = 0;
  int64_t to_layer = 0;
  int64_t to_port = 0;
};

/// What the file has used up of limits.h.
struct ParseBudget {
  size_t layers = 0;
  size_t name_bytes = 0;
};

/// The file's graph or the body of a layer.
struct ParsedNet {
  std::string_view name;
  int64_t version = 0;
  std::vector<ParsedLayer> layers;
  std::vector<ParsedEdge> edges;
};

}  // namespace het::ir
