#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/devices/child_process.h"
#include "tests/devices/gpu/gpu_testing.h"

/// What users are told where there is no GPU. Each case is a process of its own, since the OpenCL
/// loader looks for drivers once.
namespace het::gpu_testing {
namespace {

class GpuDiscovery : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "icd-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  static ChildResult child(const std::string& arguments,
                           const std::map<std::string, std::string>& environment) {
    return run_child(built_file("tests/devices/gpu_child") + " " + arguments, environment);
  }
  static void expect_in(const std::string& part, const ChildResult& result) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << " is not in\n"
                                                           << result.output;
  }

  std::string folder_;
};

TEST_F(GpuDiscovery, WithoutDriversOtherDevicesWork) {
  const ChildResult result = child("devices", {{"OCL_ICD_VENDORS", folder_}});
  EXPECT_EQ(result.status, 1);
  expect_in("device CPU", result);
  EXPECT_EQ(result.output.find("\ndevice GPU"), std::string::npos) << result.output;
  expect_in("error not found there is no device GPU: the OpenCL loader finds no platform", result);
  expect_in("where no .icd file is", result);
}

TEST_F(GpuDiscovery, DriversThatDoNotLoadAreNamed) {
  write("gone.icd", "libthere_is_no_such_driver.so\n");
  write("empty.icd", "");
  // A library that is no driver.
  write("other.icd", built_file("examples/custom_operator/channel_scale.so") + "\n");
  const ChildResult result = child("devices", {{"OCL_ICD_VENDORS", folder_}});
  EXPECT_EQ(result.status, 1);
  expect_in("device CPU", result);
  expect_in("no driver of it loads", result);
  expect_in("gone.icd ('libthere_is_no_such_driver.so')", result);
}

TEST_F(GpuDiscovery, TheToolShowsWhyThereIsNoGpu) {
  const ChildResult result =
      run_child(built_file("tools/hetero") + " devices", {{"OCL_ICD_VENDORS", folder_}});
  EXPECT_EQ(result.status, 0);
  expect_in("GPU (not available)\n  there is no device GPU: the OpenCL loader", result);
}

TEST_F(GpuDiscovery, ThePluginLoadsWithoutDrivers) {
  if (run_child("gst-inspect-1.0 --version").status != 0) {
    GTEST_SKIP() << "gst-inspect-1.0 is not installed";
  }
  if (std::getenv("HET_PRELOAD") != nullptr) {
    GTEST_SKIP() << "a sanitizer's runtime has to be loaded first";
  }
  const ChildResult result =
      run_child("gst-inspect-1.0 heterodetect", {{"OCL_ICD_VENDORS", folder_},
                                                 {"GST_PLUGIN_PATH", built_file("gst")},
                                                 {"GST_REGISTRY", folder_ + "/registry.bin"}});
  EXPECT_EQ(result.status, 0) << result.output;
  expect_in("GstHeteroDetect", result);
}

class GpuDiscoveryOnPocl : public GpuDiscovery {
 protected:
  void SetUp() override {
    const std::vector<gpu::Hardware> found = gpu::list_gpus(true);
    if (found.empty()) GTEST_SKIP() << "OpenCL finds no device";
    if (found.front().is_gpu) GTEST_SKIP() << "a GPU is there, which counts in any case";
    GpuDiscovery::SetUp();
  }
};

TEST_F(GpuDiscoveryOnPocl, ACpuCountsOnlyWhenAskedFor) {
  const ChildResult refused = child("devices", {{"HETERO_GPU_ALLOW_CPU", "0"}});
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(refused.output.find("\ndevice GPU"), std::string::npos) << refused.output;
  expect_in("OpenCL finds no device of type GPU that is ready, only '", refused);
  expect_in("GPU_ALLOW_CPU=YES or HETERO_GPU_ALLOW_CPU=1", refused);
  EXPECT_EQ(child("compile 1", {{"HETERO_GPU_ALLOW_CPU", "0"}}).status, 1);
  const ChildResult allowed = child("compile 1 GPU_ALLOW_CPU=YES", {{"HETERO_GPU_ALLOW_CPU", "0"}});
  EXPECT_EQ(allowed.status, 0) << allowed.output;
}

TEST_F(GpuDiscoveryOnPocl, OtherIdsAreRefused) {
  const ChildResult beyond = child("name GPU.7", {});
  EXPECT_EQ(beyond.status, 1);
  expect_in("error not found there is no device GPU.7: the last one is GPU.0", beyond);
  for (const char* id : {"GPU.x", "GPU.-1", "GPU.99999999999999999999999"}) {
    const ChildResult result = child(std::string("name ") + id, {});
    EXPECT_EQ(result.status, 1);
    expect_in("ids are numbers from 0 on", result);
  }
}

TEST_F(GpuDiscoveryOnPocl, TheNameIsShort) {
  const ChildResult result = child("name GPU", {});
  EXPECT_EQ(result.status, 0);
  expect_in(" (" + gpu::list_gpus(true).front().platform_name + ", OpenCL ", result);
  EXPECT_LT(result.output.size(), 160u) << result.output;
}

}  // namespace
}  // namespace het::gpu_testing
