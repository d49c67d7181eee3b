#pragma once

#include <memory>
#include <mutex>

#include "devices/cpu/plan/layer_choice.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/runnable_plan.h"
#include "inference/model/model.h"

namespace het::cpu {

/// The plan for executions in which NaN or infinities meet kernels that would spoil them
/// (Step::to_be_finite): the same model with kernels that do not. It is made when it is first
/// needed, which takes as long as a compilation. Thread-safe.
class ExactPlan {
 public:
  /// `prepared` is the model as prepare_model() left it; its constants are shared with the
  /// caller's.
  ExactPlan(std::unique_ptr<Model> prepared, const StreamSettings& settings, LayerChoices choices)
      : prepared_(std::move(prepared)), settings_(settings), choices_(std::move(choices)) {}

  /// The prepared model, before the first get().
  const Model& model() const { return *prepared_; }
  /// Called on a stream's thread. The plan, ready for all streams. A failure is the same each time.
  Result<RunnablePlan*> get();

 private:
  Status make();

  std::unique_ptr<Model> prepared_;  ///< until the plan is made
  StreamSettings settings_;
  LayerChoices choices_;
  std::mutex mutex_;
  Status status_;
  std::unique_ptr<RunnablePlan> plan_;
};

}  // namespace het::cpu
