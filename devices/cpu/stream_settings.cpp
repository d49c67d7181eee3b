#include "devices/cpu/stream_settings.h"

#include <algorithm>

#include "devices/cpu/onednn.h"

namespace het::cpu {

Result<StreamSettings> stream_settings(const Properties& properties, size_t cores) {
  StreamSettings settings;
  const int64_t wanted_threads = property_integer(properties, "INFERENCE_NUM_THREADS");
  const size_t threads = wanted_threads > 0 ? static_cast<size_t>(wanted_threads) : cores;
  const int64_t streams = property_integer(properties, "NUM_STREAMS");
  if (streams > 0) {
    settings.streams = static_cast<size_t>(streams);
  } else if (streams < 0 || property_text(properties, "PERFORMANCE_HINT") != "LATENCY") {
    settings.streams = threads;
    const int64_t requests = property_integer(properties, "PERFORMANCE_HINT_NUM_REQUESTS");
    if (requests > 0) settings.streams = std::min(threads, static_cast<size_t>(requests));
  }
  settings.threads_per_stream = std::max<size_t>(threads / settings.streams, 1);
  // While one request of a stream is collected, refilled or waits for its turn, another one runs.
  settings.optimal_requests = settings.streams == 1 ? 1 : 2 * settings.streams;

  settings.flush_subnormals = properties.count("CPU_DENORMALS_OPTIMIZATION") > 0
                                  ? property_boolean(properties, "CPU_DENORMALS_OPTIMIZATION")
                                  : property_text(properties, "EXECUTION_MODE_HINT") != "ACCURACY";

  const std::string precision = property_text(properties, "INFERENCE_PRECISION_HINT");
  if (precision == "f16") {
    return error(StatusCode::NotSupported,
                 "device CPU does not compute in f16; use INFERENCE_PRECISION_HINT=f32 or bf16");
  }
  if (precision == "bf16") {
    if (!has_bfloat16()) {
      return error(StatusCode::NotSupported,
                   "this processor has no AVX-512, which device CPU needs for bf16; use "
                   "INFERENCE_PRECISION_HINT=f32");
    }
    settings.precision = ElementType::BFloat16;
  }
  return settings;
}

}  // namespace het::cpu
