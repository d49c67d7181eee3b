#pragma once

#include <memory>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het::gpu {

enum class Int8Use : uint8_t { Auto, Yes, No };

/// What GPU_INT8 says; without it EXECUTION_MODE_HINT=ACCURACY means No.
Int8Use int8_use(const Properties& properties);

/// Whether products of quantised values run on int8 kernels: as `use` says; else where a GPU has
/// products of four bytes; else where the largest product of the prepared model is or was
/// measured to be faster in bytes. What measuring takes is taken from options.measuring_s; without
/// options.measure it is the fixed rule's no.
Result<bool> choose_int8(const Model& prepared, const std::shared_ptr<Context>& context,
                         PlanOptions& options, Int8Use use);

}  // namespace het::gpu
