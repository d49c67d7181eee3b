#pragma once

#include <functional>

#include "devices/cpu/plan/fastest_of.h"
#include "devices/cpu/plan/layer_choice.h"
#include "inference/devices/choice_store.h"
#include "inference/model/model.h"

namespace het::cpu {

struct PlanOptions;

/// Looks the choices of a fused model's layers up, and measures those that the store does not have
/// until `end`. `begin` is called once before the first one is measured. What was measured goes
/// into the store. Runs on a stream's thread, with its team.
LayerChoices choose_layers(const Model& model, const PlanOptions& options, ChoiceStore& store,
                           MeasuringClock::time_point end, const std::function<void()>& begin);

}  // namespace het::cpu
