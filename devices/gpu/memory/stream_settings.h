#pragma once

#include <cstddef>

#include "devices/gpu/memory/context.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "inference/tensors/element_type.h"

namespace het::gpu {

/// Who ends a request: the driver's callback, or a thread of ours that waits for its last command.
enum class Completion : uint8_t { Callback, Wait };

/// What the properties of a compile mean for a GPU.
struct StreamSettings {
  size_t streams = 1;
  size_t optimal_requests = 2;
  ElementType stored_type = ElementType::Float32;  ///< of float values between kernels
  bool fast_algorithms = true;
  bool profiled = false;
  bool converts_pictures = true;  ///< else the host does
  Urgency priority = Urgency::Default;
  Urgency throttle = Urgency::Default;
  Completion completion = Completion::Callback;
};

/// Requests that a stream's queue should have: one that runs and one behind it.
inline constexpr size_t kRequestsPerStream = 2;
/// Streams of NUM_STREAMS=AUTO: while one transfers, another computes.
inline constexpr size_t kAutoStreams = 2;
inline constexpr size_t kMostStreams = 16;

/// Fails with NotSupported for INFERENCE_PRECISION_HINT=bf16.
Result<StreamSettings> stream_settings(const Properties& properties, const Hardware& hardware);

}  // namespace het::gpu
