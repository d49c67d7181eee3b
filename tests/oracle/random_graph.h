#pragma once

#include <cstdint>
#include <vector>

#include "tests/oracle/random_case.h"

namespace het::oracle {

/// A graph of random nodes, drawn operator by operator by the generators: a node reads values of
/// nodes before it, cut or repeated to the shape that its generator drew. What the nodes give is
/// known while the graph grows (evaluate_node()), so that it stays within what floats tell apart.
struct RandomGraph {
  /// What nodes may do with dimension 0, which is 1 at the inputs.
  enum class Items : uint8_t {
    Mixed,
    Apart,  ///< whatever is cut or repeated to fit keeps it, so that most nodes leave items apart
  };

  /// With at most `nodes` drawn nodes; of the same seed a smaller graph is the beginning of a
  /// larger one.
  RandomGraph(uint64_t seed, int64_t nodes, Items items);

  BuiltModel built;
  /// Per output how far an element may be from REF's, beside the tolerance of the type: by how much
  /// it changes when every inexact node's result is off by one part in a million.
  std::vector<std::vector<double>> slack;
};

}  // namespace het::oracle
