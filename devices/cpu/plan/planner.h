#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/plan/layer_choice.h"
#include "devices/cpu/plan/plan.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/threads/core_budget.h"
#include "inference/devices/choice_store.h"
#include "inference/devices/stream_executor.h"
#include "inference/model/model.h"

namespace het::cpu {

/// A plan and what was chosen for all of it.
struct PlannedModel {
  Plan plan;
  ElementType precision = ElementType::Float32;
  LayerChoices choices;
  PackedConstants packed;  ///< what its kernels packed; of the plan's memory
};

/// Where choices are looked up and kept, and the budget that measuring takes its cores from.
/// Without a store fixed rules decide.
struct Choosing {
  ChoiceStore* store = nullptr;
  CoreBudget* budget = nullptr;
  /// What an exported model was planned with; nothing else is chosen then.
  const LayerChoices* choices = nullptr;
  /// Where the packed weights of an exported model come from.
  PackedConstants* packed = nullptr;
  NonFinite non_finite = NonFinite::Noted;
};

/// Among the choices of a plan: it was built so that NaN and infinities are kept, and an imported
/// model's is again.
inline constexpr std::string_view kKeepsNonFinite = "keeps NaN and infinities";

/// Time that one compile may spend on measuring.
inline constexpr double kMeasuringSeconds = 2.0;

/// Starts the streams of a compile: every thread gets its team.
Result<std::unique_ptr<StreamExecutor>> start_streams(const StreamSettings& settings);

/// Plans a prepared model on a thread of `streams`, because oneDNN chooses by the size of the
/// calling thread's team; `model` is fused on the way. With a store:
/// 1. the type of products, where the settings leave it open: bfloat16 where the whole model was
///    faster with it and its results on a test picture stayed near to those of float32;
/// 2. else, in float32, the algorithm of each layer (layer_choice.h), those with most work first.
Result<PlannedModel> plan_on_stream(StreamExecutor& streams, Model& model,
                                    const StreamSettings& settings, const Choosing& choosing = {});
/// The same on the calling thread, which is a stream's.
Result<PlannedModel> plan_here(Model& model, const StreamSettings& settings,
                               const Choosing& choosing);

}  // namespace het::cpu
