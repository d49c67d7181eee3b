#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "devices/cpu/plan/fastest_of.h"
#include "devices/cpu/plan/plan.h"
#include "inference/devices/choice_store.h"
#include "inference/model/model.h"

namespace het::cpu {

/// Names of the candidates, as INFERENCE_PRECISION_HINT has them.
inline constexpr std::string_view kFloat32 = "f32";
inline constexpr std::string_view kBFloat16 = "bf16";

/// How far outputs computed in bfloat16 may be from float32's, as a part of their range: the mean
/// over the values of an output.
inline constexpr double kNearEnough = 0.02;

/// True for models with enough work in float products for their type to count, which includes what
/// quantised models leave in float.
bool may_choose_precision(const Model& fused);

/// Everything of a fused model that decides its times: operators, attributes, shapes, types.
std::string model_choice_key(const Model& fused);

/// "bf16" or "f32": the faster of two plans of one model, "f32" where outputs differ too much.
/// Outputs that come from a selection (TopK, NonMaxSuppression, DetectionOutput ...) are not
/// compared, since what was selected changes places. Nothing when the time is over.
Result<std::optional<MeasuredChoice>> measure_precision(const Model& fused, const Plan& float32,
                                                        const Plan& bfloat16,
                                                        MeasuringClock::time_point end);

}  // namespace het::cpu
