#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/devices/child_process.h"
#include "tests/devices/gpu/gpu_testing.h"

/// What happens when the driver fails: child processes with the layer of tests/opencl_layer between
/// the device and the driver, which also counts what is not released.
namespace het::gpu_testing {
namespace {

class GpuFailures : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::list_gpus(true).empty()) GTEST_SKIP() << "OpenCL finds no device";
    if (child("devices").output.find("live contexts") == std::string::npos) {
      GTEST_SKIP() << "the OpenCL loader knows no layers (ocl-icd 2.3 does)";
    }
  }

  static ChildResult child(const std::string& arguments,
                           std::map<std::string, std::string> environment = {}) {
    environment.insert({{"OPENCL_LAYERS", built_file("tests/opencl_layer/failing_layer.so")},
                        {"HET_LAYER_COUNT", "1"}});
    return run_child(built_file("tests/devices/gpu_child") + " " + arguments, environment);
  }
  static void expect_in(const std::string& part, const ChildResult& result) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << " is not in\n"
                                                           << result.output;
  }
  /// Exit status 0 (124 is a hang), and every object released.
  static void expect_clean(const ChildResult& result) {
    EXPECT_EQ(result.status, 0) << result.output;
    expect_in("live contexts 0 queues 0 buffers 0 programs 0 kernels 0 events 0", result);
  }
};

TEST_F(GpuFailures, NothingStaysWhenAllIsWell) {
  for (const char* properties : {"", "PERF_COUNT=YES", "GPU_COMPLETION=WAIT"}) {
    expect_clean(child(std::string("compile 3 ") + properties));
  }
}

TEST_F(GpuFailures, EveryAllocationMayFail) {
  const ChildResult result = child("allocations");
  expect_clean(result);
  expect_in("allocations ", result);
}

TEST_F(GpuFailures, ALostDeviceEndsAllRequests) {
  for (const char* completion : {"CALLBACK", "WAIT"}) {
    // At the first kernel of all, in the middle of a request, in the third request.
    for (const char* call : {"1", "3", "10"}) {
      const ChildResult result = child(std::string("requests HET_LAYER_LOSE_DEVICE ") + call +
                                       " NUM_STREAMS=2 GPU_COMPLETION=" + completion);
      expect_clean(result);
      expect_in("ended device lost: model 'chains', node 'relu", result);
      expect_in("CL_DEVICE_NOT_AVAILABLE", result);
    }
  }
}

TEST_F(GpuFailures, InvalidQueuesMeanALostDevice) {
  const ChildResult result =
      child("requests HET_LAYER_LOSE_DEVICE 2", {{"HET_LAYER_LOST_CODE", "-36"}});
  expect_clean(result);
  expect_in("ended device lost", result);
}

TEST_F(GpuFailures, CommandsThatFailLaterMeanALostDevice) {
  for (const char* completion : {"CALLBACK", "WAIT"}) {
    const ChildResult result =
        child(std::string("requests HET_LAYER_FAIL_EVENT 2 GPU_COMPLETION=") + completion);
    expect_clean(result);
    expect_in("ended ok", result);
    expect_in("ended device lost: device '", result);
    expect_in("CL_OUT_OF_RESOURCES", result);
  }
}

TEST_F(GpuFailures, AFailedBuildIsAnError) {
  const ChildResult result = child("compile 2", {{"HET_LAYER_FAIL_BUILD", "1"}});
  EXPECT_EQ(result.status, 1);
  expect_in("error internal ", result);
  expect_in("CL_BUILD_PROGRAM_FAILURE", result);
  expect_in("live contexts 0 queues 0 buffers 0 programs 0 kernels 0 events 0", result);
}

TEST_F(GpuFailures, ProcessesShareADeviceAndACacheFolder) {
  const std::string folder = testing::TempDir() + "two-" + std::to_string(::getpid());
  std::vector<ChildResult> results(2);
  std::vector<std::thread> threads;
  for (ChildResult& result : results) {
    threads.emplace_back([&] { result = child("compile 4 CACHE_DIR=" + folder); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const ChildResult& result : results) expect_clean(result);
  std::filesystem::remove_all(folder);
}

TEST_F(GpuFailures, CompileAndReleaseDoNotGrow) {
  const ChildResult result = child("cycles 50");
  expect_clean(result);
  const size_t at = result.output.find("growth_mb ");
  ASSERT_NE(at, std::string::npos) << result.output;
#ifndef __SANITIZE_ADDRESS__  // it keeps what is freed for a while
  EXPECT_LT(std::stod(result.output.substr(at + 10)), 4.0);
#endif
}

}  // namespace
}  // namespace het::gpu_testing
