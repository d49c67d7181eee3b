#pragma once

#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::gpu {

/// The seconds of the fastest of a few runs of the steps of the model's nodes, compiled with
/// `options`, without the reorders from and to its ports. Inputs are zeros: what memory happens to
/// hold may be slow numbers.
Result<double> fastest_run(Model& model, const std::shared_ptr<Context>& context,
                           PlanOptions options);

}  // namespace het::gpu
