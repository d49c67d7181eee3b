#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What the drawings of a placement have in common; texts are printable() already.
struct GraphPicture {
  static constexpr size_t kNone = std::numeric_limits<size_t>::max();

  enum class Shape { Input, Node, Output };
  struct Vertex {
    Shape shape = Shape::Node;
    std::vector<std::string> lines;
    std::string tooltip;
    size_t device = kNone;   ///< of `devices`
    size_t cluster = kNone;  ///< of `clusters`
  };
  struct Edge {
    size_t from = 0;
    size_t to = 0;
    bool is_cut = false;  ///< goes to another subgraph or device
    std::string label;    ///< what a cut carries
  };
  struct Cluster {
    std::string label;
    size_t device = kNone;
  };

  std::string title;
  std::vector<std::string> devices;  ///< in the order of the nodes; the legend
  std::vector<Vertex> vertices;      ///< inputs, nodes in topological order, outputs
  std::vector<Edge> edges;           ///< one per pair of vertices
  std::vector<Cluster> clusters;
};

/// The colour of a device in all drawings, "#rrggbb"; they repeat after the tenth.
std::string_view device_colour(size_t device);
/// The grey of nodes without a device.
inline constexpr std::string_view kNoDeviceColour = "#e0e0e0";

/// The whole model with a row of query_model() per node.
GraphPicture picture_placement(const Model& model, const std::vector<NodeSupport>& rows);
/// The subgraphs as clusters.
GraphPicture picture_split(const Model& model, const Split& split);

}  // namespace het::hetero
