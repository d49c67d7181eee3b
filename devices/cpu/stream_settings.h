#pragma once

#include <cstddef>

#include "inference/element_type.h"
#include "inference/properties.h"
#include "inference/status.h"

namespace het::cpu {

/// What the properties of a compile mean on a machine with this many usable cores.
struct StreamSettings {
  size_t streams = 1;
  size_t threads_per_stream = 1;
  /// Requests in flight that keep all streams busy, also when results leave in order: two a stream,
  /// one where a single stream works for latency.
  size_t optimal_requests = 1;
  ElementType precision = ElementType::Float32;
  bool flush_subnormals = true;
};

/// `properties` are validated. Threads are INFERENCE_NUM_THREADS or all cores; streams NUM_STREAMS
/// or what PERFORMANCE_HINT asks for: LATENCY one, THROUGHPUT one per thread, but no more than
/// PERFORMANCE_HINT_NUM_REQUESTS. Subnormal numbers are flushed as CPU_DENORMALS_OPTIMIZATION says,
/// without it unless EXECUTION_MODE_HINT is ACCURACY. Fails with NotSupported on a precision that this processor or
/// build does not have.
Result<StreamSettings> stream_settings(const Properties& properties, size_t cores);

}  // namespace het::cpu
