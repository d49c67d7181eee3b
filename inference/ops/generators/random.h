#pragma once

#include <cstdint>

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// The numbers of one random node: SplitMix64 (Steele, Lea, Flood 2014). The attribute `seed`, as
/// the bits of its float, starts it; without one the node's name does (FNV-1a), so that runs repeat
/// and nodes differ. Every evaluation starts again.
class RandomSequence {
 public:
  explicit RandomSequence(const Node& node);

  uint64_t next();
  double uniform();  ///< in [0, 1), 53 bits
  double normal();   ///< mean 0, deviation 1 (Box-Muller, the cosine of each pair)

 private:
  uint64_t state_ = 0;
};

/// True for the operators whose values ONNX leaves to the implementation.
HET_API bool is_random(const Node& node);

}  // namespace het
