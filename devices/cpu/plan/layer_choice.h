#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"

namespace het::cpu {

/// A kernel that can run by itself: made for a layer's shapes, weights packed.
struct MeasuredKernel {
  std::unique_ptr<Kernel> kernel;
  std::vector<TensorSpec> inputs;
  TensorSpec output;
};

/// One way to compute a layer. The name is what the store keeps and what the plan gets: it must
/// stay what it is, or stored choices are measured anew.
struct Candidate {
  std::string name;
  std::function<Result<MeasuredKernel>()> make;
};

/// What can be chosen for a layer. A kernel that has several ways to compute gives its operators
/// such a function beside the one that plans (KernelRegistry::add_choices) and asks
/// PlanBuilder::choice() with the same key; where there is no answer its fixed rule holds.
struct LayerChoice {
  /// Everything that decides the times but the machine and the number of threads: operator, shapes,
  /// types.
  std::string key;
  /// Multiply-adds of one execution: the layers with most of them are measured first.
  double work = 0.0;
  /// The fixed rule's, by name. A measured one replaces it where it is clearly faster.
  std::string by_rule;
  std::vector<Candidate> candidates;
};

/// Names of candidates by the key of a LayerChoice.
using LayerChoices = std::unordered_map<std::string, std::string>;

/// A key of the store: `what` with this number of threads.
std::string choice_key(std::string_view what);

/// A constant of this shape for a candidate's weights: which values they have does not matter.
Result<Tensor> weights_for_measuring(const Shape& shape);

}  // namespace het::cpu
