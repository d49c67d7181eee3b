#pragma once

#include <cstddef>
#include <cstdint>

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// What constant folding may cost while one model is prepared, its bodies of control flow included:
/// a small file must not cost gigabytes or minutes by many small steps either. The first object
/// that a thread makes opens the budget, which ends with it; objects made meanwhile, such as those
/// of bodies, share it. Thread-bound.
class HET_API FoldBudget {
 public:
  /// 128 MiB of results and 2^25 steps, and per byte of the model's constants (counted once where
  /// they overlap) eight bytes and 16 steps more.
  explicit FoldBudget(const Model& model);
  ~FoldBudget();
  FoldBudget(const FoldBudget&) = delete;
  FoldBudget& operator=(const FoldBudget&) = delete;

  /// Takes this much of the thread's budget: bytes of results, and steps, elements touched or
  /// products. False, with a warning the first time, when less is left; always true when no budget
  /// is open.
  static bool take(const Node& node, size_t bytes, int64_t steps);

 private:
  FoldBudget* opened_ = nullptr;  ///< this, unless another one was open
  size_t bytes_ = 0;
  int64_t steps_ = 0;
  bool warned_ = false;
};

}  // namespace het
