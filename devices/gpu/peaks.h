#pragma once

#include <functional>
#include <memory>

#include "devices/gpu/memory/context.h"
#include "inference/base/status.h"

namespace het::gpu {

/// Of the runs that fit into a while, three at least: the fastest by the clock and the one that
/// took least of the processor's time, which counts on a CPU that other programs use too.
struct Fastest {
  double seconds = 0.0;
  double cpu_seconds = 0.0;
};
Fastest fastest(double while_s, const std::function<void()>& run);

/// What a device can do at best through OpenCL.
struct Peaks {
  double gflops = 0.0;              ///< float32, a multiply-add is two
  double cpu_gflops = 0.0;          ///< the same per second of processor time of this process
  double copy_gbytes = 0.0;         ///< per second, read and written together
  double read_gbytes = 0.0;         ///< per second
  double to_device_gbytes = 0.0;    ///< per second, from pageable memory of the host
  double from_device_gbytes = 0.0;  ///< per second, into such
  double launch_us = 0.0;           ///< of an empty kernel in a row of many
  double finish_us = 0.0;           ///< of an empty kernel and the wait for it
};

/// Measures each for so long. Fails where a kernel does not build or run.
Result<Peaks> measure_peaks(Context& context, double seconds = 1.0);

}  // namespace het::gpu
