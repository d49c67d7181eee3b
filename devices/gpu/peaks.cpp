#include "devices/gpu/peaks.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

namespace het::gpu {
namespace {

constexpr int kRounds = 4096;
constexpr int kChains = 10;  ///< enough to hide the latency, few enough for 16 registers
constexpr size_t kMostBytes = size_t{256} << 20;

constexpr std::string_view kKernels = R"(
__kernel void multiply_add(__global float* dst, float a, float b, int rounds) {
  floatw x[CHAINS];
  for (int i = 0; i < CHAINS; ++i) x[i] = (floatw)(get_global_id(0) + i);
  const floatw factor = (floatw)(a);
  const floatw shift = (floatw)(b);
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < CHAINS; ++i) x[i] = fma(x[i], factor, shift);
  }
  floatw sum = x[0];
  for (int i = 1; i < CHAINS; ++i) sum += x[i];
  HET_JOIN(vstore, WIDTH)(sum, get_global_id(0), dst);
}
__kernel void copy(__global const float* src, __global float* dst) {
  const size_t i = get_global_id(0);
  HET_JOIN(vstore, WIDTH)(HET_JOIN(vload, WIDTH)(i, src), i, dst);
}
__kernel void read(__global const float* src, __global float* dst, int steps) {
  const size_t i = get_global_id(0);
  const size_t items = get_global_size(0);
  floatw sum = (floatw)(0.0f);
  for (int s = 0; s < steps; ++s) sum += HET_JOIN(vload, WIDTH)(i * steps + s, src);
  HET_JOIN(vstore, WIDTH)(sum, i, dst);
}
__kernel void nothing(__global float* dst) {}
)";

struct Runner {
  Context& context;
  QueueHandle queue;
  ProgramPtr program;

  Result<KernelHandle> kernel(const char* name) const {
    cl_int code = CL_SUCCESS;
    KernelHandle made(clCreateKernel(program->handle.get(), name, &code));
    HET_TRY(cl_status(code, "make a kernel"));
    return made;
  }
  double seconds = 1.0;         ///< of a measurement
  cl_int failure = CL_SUCCESS;  ///< of the first call that failed

  void check(cl_int result) {
    if (failure == CL_SUCCESS) failure = result;
  }
  void launch(const KernelHandle& kernel, size_t items, size_t group) {
    check(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &items, &group, 0, nullptr,
                                 nullptr));
  }
  void finish() { check(clFinish(queue.get())); }
  Fastest time(const KernelHandle& kernel, size_t items, size_t group) {
    return fastest(seconds, [&] {
      launch(kernel, items, group);
      finish();
    });
  }
};

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class T>
void set(const KernelHandle& kernel, cl_uint index, const T& value) {
  clSetKernelArg(kernel.get(), index, sizeof value, &value);
}

}  // namespace

Fastest fastest(double while_s, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  Fastest best{1e9, 0.0};
  std::vector<double> cpu_times;
  const auto end = Clock::now() + std::chrono::duration<double>(while_s);
  for (int i = 0; i < 3 || Clock::now() < end; ++i) {
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best.seconds = std::min(best.seconds, seconds);
    cpu_times.push_back(cpu_seconds() - cpu);
  }
  // The kernel accounts for other threads with a delay: single times may be far too small.
  const auto middle = cpu_times.begin() + static_cast<std::ptrdiff_t>(cpu_times.size() / 2);
  std::nth_element(cpu_times.begin(), middle, cpu_times.end());
  best.cpu_seconds = *middle;
  return best;
}

Result<Peaks> measure_peaks(Context& context, double seconds) {
  const Hardware& hardware = context.hardware();
  const size_t width = hardware.vector_width();
  const size_t group = hardware.group_size();
  ProgramText text;
  text.options = fmt::format("-DWIDTH={} -DCHAINS={}", width, kChains);
  text.generated = kKernels;
  HET_ASSIGN(ProgramPtr program, context.programs().get(text, ""));
  HET_ASSIGN(QueueHandle queue, context.create_queue(false));
  Runner runner{context, std::move(queue), std::move(program), seconds};
  // Whole vectors and steps, whatever the device has.
  size_t bytes = kMostBytes;
  while (bytes > (size_t{1} << 20) &&
         (bytes > hardware.largest_allocation_bytes || bytes > hardware.memory_bytes / 4)) {
    bytes /= 2;
  }
  HET_ASSIGN(const Memory from, context.allocate(bytes));
  HET_ASSIGN(const Memory to, context.allocate(bytes));
  std::vector<char> host(bytes);
  for (const Memory& memory : {from, to}) {
    HET_TRY(cl_status(clEnqueueWriteBuffer(runner.queue.get(), memory->get(), CL_TRUE, 0, bytes,
                                           host.data(), 0, nullptr, nullptr),
                      "fill memory"));
  }
  Peaks peaks;
  {
    HET_ASSIGN(const KernelHandle kernel, runner.kernel("multiply_add"));
    set(kernel, 0, to->get());
    set(kernel, 1, 0.999f);
    set(kernel, 2, 0.001f);
    set(kernel, 3, kRounds);
    const size_t items = hardware.compute_units * group * (hardware.is_cpu ? 4 : 64);
    const double flops = 2.0 * kRounds * kChains * static_cast<double>(width * items);
    const Fastest time = runner.time(kernel, items, group);
    peaks.gflops = flops / time.seconds * 1e-9;
    peaks.cpu_gflops = flops / time.cpu_seconds * 1e-9;
  }
  {
    HET_ASSIGN(const KernelHandle kernel, runner.kernel("copy"));
    set(kernel, 0, from->get());
    set(kernel, 1, to->get());
    const Fastest time = runner.time(kernel, bytes / (4 * width), group);
    peaks.copy_gbytes = 2.0 * static_cast<double>(bytes) / time.seconds * 1e-9;
  }
  {
    HET_ASSIGN(const KernelHandle kernel, runner.kernel("read"));
    constexpr cl_int kSteps = 64;
    set(kernel, 0, from->get());
    set(kernel, 1, to->get());
    set(kernel, 2, kSteps);
    const Fastest time = runner.time(kernel, bytes / (4 * width * kSteps), group);
    peaks.read_gbytes = static_cast<double>(bytes) / time.seconds * 1e-9;
  }
  const auto gbytes = [&](const std::function<cl_int()>& transfer) {
    const Fastest time = fastest(seconds / 2, [&] { runner.check(transfer()); });
    return static_cast<double>(bytes) / time.seconds * 1e-9;
  };
  peaks.to_device_gbytes = gbytes([&] {
    return clEnqueueWriteBuffer(runner.queue.get(), to->get(), CL_TRUE, 0, bytes, host.data(), 0,
                                nullptr, nullptr);
  });
  peaks.from_device_gbytes = gbytes([&] {
    return clEnqueueReadBuffer(runner.queue.get(), to->get(), CL_TRUE, 0, bytes, host.data(), 0,
                               nullptr, nullptr);
  });
  HET_ASSIGN(const KernelHandle nothing, runner.kernel("nothing"));
  set(nothing, 0, to->get());
  constexpr int kLaunches = 1000;
  peaks.launch_us = 1e6 / kLaunches * fastest(seconds / 2, [&] {
                                        for (int i = 0; i < kLaunches; ++i)
                                          runner.launch(nothing, group, group);
                                        runner.finish();
                                      }).seconds;
  peaks.finish_us = 1e6 * runner.time(nothing, group, group).seconds;
  HET_TRY(cl_status(runner.failure, "measure the device"));
  return peaks;
}

}  // namespace het::gpu
