#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/tensors/numbered_content.h"

namespace het::hetero {

/// Numbers what the subgraphs of an execution read, so that a device with memory of its own gets
/// each tensor and picture once, whatever of its subgraphs read it, and nothing that it made.
/// Values between subgraphs change when their producers run, inputs of the model between
/// executions: from begin() to forget() a number stays. Thread-compatible.
class ContentNumbers {
 public:
  /// `split` outlives it.
  explicit ContentNumbers(const Split& split);

  void begin();
  /// The application may write its memory again.
  void forget();
  /// From now on every value is brought to the host, also one that only its own device reads.
  void share_all();
  /// Whether the host has all that a subgraph made.
  bool are_on_host(size_t subgraph) const;

  // The same memory, for all who write or read it in an execution.

  Result<Tensor> of_cut(size_t cut, const Tensor& tensor) const;
  Result<Tensor> of_input(size_t input, const Tensor& tensor) const;
  /// The picture of a batch item.
  ImageRegion of_picture(size_t input, size_t item, ImageRegion region);

 private:
  using Contents = std::vector<std::shared_ptr<NumberedContent>>;
  template <class Action>
  void for_all(const Action& action);

  const Split& split_;
  Contents cuts_;
  Contents inputs_;
  std::vector<Contents> planes_;  ///< per input; kMaxImagePlanes for each batch item
};

}  // namespace het::hetero
