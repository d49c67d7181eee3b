#pragma once

#include <atomic>
#include <span>
#include <string>

#include "inference/base/visibility.h"
#include "inference/decoders/results.h"
#include "inference/tensors/tensor.h"

namespace het {

/// What is wrong with results in a way that right ones never are: confidences outside 0..1, boxes
/// far outside the picture or without any size, hundreds of objects with one score. Empty where
/// nothing is; else what was seen, the likely cause and the remedy.
HET_API std::string implausible(const Results& results, int source_width, int source_height);

/// The same for values that a model gave: NaN.
HET_API std::string implausible(std::span<const Tensor> outputs);

/// Watches the results of a model and tells once. Thread-safe.
class ResultWatch {
 public:
  /// Logs a warning about model `name` the first time that something is not plausible.
  void look(const std::string& name, const Results& results, std::span<const Tensor> outputs,
            int source_width, int source_height);

 private:
  std::atomic<bool> told_{false};
  std::atomic<int> looked_{0};  ///< how often at values, which takes time
};

}  // namespace het
