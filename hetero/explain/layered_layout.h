#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace het::hetero {

struct Point {
  double x = 0;
  double y = 0;
};

struct BoxSize {
  double width = 0;
  double height = 0;
};

/// What a graph consists of.
struct LayoutBox {
  enum class Place { Free, Top, Bottom };
  BoxSize size;
  /// Top: in the first layer, without edges that lead to it. Bottom: below all others, without
  /// edges that leave it.
  Place place = Place::Free;
};

struct LayoutGaps {
  double across = 16;  ///< between neighbours in a layer
  double along = 32;   ///< between layers
};

/// Boxes in layers from top to bottom; (0, 0) is the top left corner of the whole.
struct Layout {
  std::vector<Point> centres;  ///< per box
  /// Per edge the points between the two boxes through which it goes round others: where it enters
  /// and leaves a layer.
  std::vector<std::vector<Point>> bends;
  BoxSize size;
};

/// Draws an acyclic graph in layers, so that all edges go down (K. Sugiyama, S. Tagawa, M. Toda,
/// "Methods for visual understanding of hierarchical system structures", 1981). Edges are pairs of
/// box indices; those of a cycle are drawn, but may go up.
Layout lay_out(const std::vector<LayoutBox>& boxes,
               const std::vector<std::pair<size_t, size_t>>& edges, const LayoutGaps& gaps = {});

}  // namespace het::hetero
