// What a launch costs on each OpenCL device, one by one and in a command buffer
// (cl_khr_command_buffer): a chain of launches that wait for each other, as a model's are, with
// kernels of several sizes. The best of many rounds.
// bench_opencl_command_buffers
// What newer headers call beta.
#define CL_ENABLE_BETA_EXTENSIONS
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_ext.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "devices/gpu/opencl/opencl.h"

namespace {

constexpr int kLaunches = 300;
constexpr int kRounds = 30;
constexpr size_t kGroup = 64;
constexpr size_t kMostItems = 16384;
constexpr const char* kSource = R"(
__kernel void work(__global float* values) {
  const int i = get_global_id(0);
  float x = values[i];
  for (int k = 0; k < 20; ++k) x = x * 1.0001f + 0.5f;
  values[i] = x;
})";

void require(cl_int code, const char* what) {
  if (code == CL_SUCCESS) return;
  fmt::print(stderr, "{} failed with {}\n", what, code);
  std::exit(1);
}

/// Microseconds of a launch, at best.
double microseconds(const std::function<void()>& all_launches) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    all_launches();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / kLaunches);
  }
  return best;
}

struct CommandBuffers {
  explicit CommandBuffers(cl_platform_id platform) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(
          clGetExtensionFunctionAddressForPlatform(platform, name));
    };
    find(create, "clCreateCommandBufferKHR");
    find(add, "clCommandNDRangeKernelKHR");
    find(finish, "clFinalizeCommandBufferKHR");
    find(enqueue, "clEnqueueCommandBufferKHR");
    find(release, "clReleaseCommandBufferKHR");
  }

  clCreateCommandBufferKHR_fn create = nullptr;
  clCommandNDRangeKernelKHR_fn add = nullptr;
  clFinalizeCommandBufferKHR_fn finish = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
};

std::string info_of(cl_device_id device, cl_device_info what) {
  size_t bytes = 0;
  require(clGetDeviceInfo(device, what, 0, nullptr, &bytes), "clGetDeviceInfo");
  std::string text(bytes, '\0');
  require(clGetDeviceInfo(device, what, bytes, text.data(), nullptr), "clGetDeviceInfo");
  return text.c_str();
}

void measure(cl_platform_id platform, cl_device_id device) {
  fmt::print("{}, {}\n", info_of(device, CL_DEVICE_NAME), info_of(device, CL_DEVICE_VERSION));
  const bool has_buffers =
      info_of(device, CL_DEVICE_EXTENSIONS).find("cl_khr_command_buffer") != std::string::npos;
  if (!has_buffers) fmt::print("  it has no cl_khr_command_buffer\n");
  cl_int code = CL_SUCCESS;
  const het::gpu::ContextHandle context(
      clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
  require(code, "clCreateContext");
  const het::gpu::QueueHandle queue(
      clCreateCommandQueueWithProperties(context.get(), device, nullptr, &code));
  require(code, "clCreateCommandQueueWithProperties");
  const char* source = kSource;
  const het::gpu::ProgramHandle program(
      clCreateProgramWithSource(context.get(), 1, &source, nullptr, &code));
  require(clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr), "clBuildProgram");
  const het::gpu::KernelHandle kernel(clCreateKernel(program.get(), "work", &code));
  const het::gpu::BufferHandle values(
      clCreateBuffer(context.get(), CL_MEM_READ_WRITE, kMostItems * sizeof(float), nullptr, &code));
  require(code, "clCreateBuffer");
  const cl_mem argument = values.get();
  require(clSetKernelArg(kernel.get(), 0, sizeof argument, &argument), "clSetKernelArg");
  for (const size_t items : {size_t{64}, size_t{1024}, kMostItems}) {
    const double alone = microseconds([&] {
      for (int i = 0; i < kLaunches; ++i) {
        require(clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &items, &kGroup, 0,
                                       nullptr, nullptr),
                "clEnqueueNDRangeKernel");
      }
      require(clFinish(queue.get()), "clFinish");
    });
    fmt::print("  {:6} work-items: {:6.2f} us a launch", items, alone);
    if (has_buffers) {
      const CommandBuffers call(platform);
      cl_command_queue one = queue.get();
      cl_command_buffer_khr buffer = call.create(1, &one, nullptr, &code);
      require(code, "clCreateCommandBufferKHR");
      for (int i = 0; i < kLaunches; ++i) {
        require(call.add(buffer, nullptr, nullptr, kernel.get(), 1, nullptr, &items, &kGroup, 0,
                         nullptr, nullptr, nullptr),
                "clCommandNDRangeKernelKHR");
      }
      require(call.finish(buffer), "clFinalizeCommandBufferKHR");
      const double together = microseconds([&] {
        require(call.enqueue(0, nullptr, buffer, 0, nullptr, nullptr), "clEnqueueCommandBufferKHR");
        require(clFinish(queue.get()), "clFinish");
      });
      require(call.release(buffer), "clReleaseCommandBufferKHR");
      fmt::print(", {:6.2f} us in a command buffer", together);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main() {
  cl_uint count = 0;
  std::vector<cl_platform_id> platforms(16);
  const auto most = static_cast<cl_uint>(platforms.size());
  require(clGetPlatformIDs(most, platforms.data(), &count), "clGetPlatformIDs");
  platforms.resize(std::min(count, most));
  for (cl_platform_id platform : platforms) {
    std::vector<cl_device_id> devices(16);
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 16, devices.data(), &count) != CL_SUCCESS) {
      continue;
    }
    devices.resize(std::min<size_t>(count, devices.size()));
    for (cl_device_id device : devices) measure(platform, device);
  }
}
