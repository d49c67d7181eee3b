#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/model/model.h"
#include "tests/oracle/generator.h"

namespace het::oracle {

/// A model and the content of its inputs.
struct BuiltModel {
  Model model;
  std::vector<Tensor> inputs;
};

/// One draw of a generator.
struct RandomCase {
  RandomCase(const Generator& generator, Choices choices);

  const Generator& generator;
  Choices choices;
  Call call;
  bool has_zero_size = false;  ///< an input without elements
  int threads = 1;             ///< of the device

  /// The call alone.
  BuiltModel plain() const;
  /// The call among other nodes, so that devices fuse and lay out: inputs pass through exact nodes
  /// (a 1x1 convolution that changes nothing, two negations), outputs of float32 through
  /// one or two nodes. `outputs`: what the plain model gave.
  BuiltModel embedded(const std::vector<Tensor>& outputs) const;
  /// The same case with 0 for subnormal numbers; nothing when it has none.
  std::optional<RandomCase> without_subnormals() const;
  /// For people: types, shapes, small contents, attributes.
  std::string describe() const;

 private:
  uint64_t embedding_;  ///< which nodes embedded() adds
};

/// Every case that is one step smaller.
std::vector<Choices> smaller(const Choices& choices);

/// What a case shows.
struct Verdict {
  std::string failure;   ///< empty: none
  bool refused = false;  ///< by REF, as it may be: a size is 0
  /// Devices that did not run the case, and why. CPU and REF run everything.
  std::map<std::string, std::string> refusals = {};
};

/// Runs a case on every device; on those that may refuse cases only with `accelerators`, since
/// OpenCL on a CPU takes a second to build the kernels of a case.
Verdict judge(Core& core, const RandomCase& random_case, bool accelerators = true);

}  // namespace het::oracle
