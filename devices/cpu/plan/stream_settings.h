#pragma once

#include <cstddef>
#include <string>

#include "devices/cpu/threads/stream_placement.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "inference/machine/topology.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {

/// What the properties of a compile mean on a machine with this many usable cores.
struct StreamSettings {
  size_t streams = 1;
  size_t threads_per_stream = 1;
  /// Left to others by all models together that leave as many.
  size_t spare_cores = 0;
  /// Requests in flight that keep all streams busy, also when results leave in order: two a stream,
  /// one where a single stream works for latency.
  size_t optimal_requests = 1;
  ElementType precision = ElementType::Float32;
  /// bfloat16 may replace `precision` where it is measured to be faster: without a hint, under
  /// PERFORMANCE, on a processor that has it.
  bool precision_is_open = false;
  bool flush_subnormals = true;
  bool fast_algorithms = true;     ///< see PlanOptions
  std::vector<TeamPlaces> places;  ///< of every stream
  /// Threads of others take no part, since they are bound nowhere: PROCESSORS is given.
  bool own_threads_only = false;
  /// Quantised models compute in int8; not with EXECUTION_MODE_HINT=ACCURACY, nor where this
  /// processor or build has no exact int8 products.
  bool int8 = false;
};

/// `properties` are validated. Cores are those of PROCESSORS, of them those of
/// SCHEDULING_CORE_TYPE: any, but only fast ones under LATENCY, where the slowest thread of a team
/// sets the pace. Hardware threads beyond one a core count as ENABLE_HYPER_THREADING says, without
/// it for throughput only. Threads are INFERENCE_NUM_THREADS or what cores and quota give but for
/// SPARE_CORES; streams NUM_STREAMS (NUMA: one a node) or what PERFORMANCE_HINT asks for: LATENCY
/// one a NUMA node, THROUGHPUT one per thread, but no more than PERFORMANCE_HINT_NUM_REQUESTS.
/// ENABLE_CPU_PINNING binds the threads. Subnormal numbers are flushed as
/// CPU_DENORMALS_OPTIMIZATION says, without it unless EXECUTION_MODE_HINT is ACCURACY. Fails with
/// NotSupported on a precision that this processor or build does not have, and on processors or a
/// kind of cores that the machine has not.
Result<StreamSettings> stream_settings(const Properties& properties, const Topology& machine);

/// What of them decides about kernels and the form of their weights, beside machine and precision.
std::string plan_settings(const StreamSettings& settings);

}  // namespace het::cpu
