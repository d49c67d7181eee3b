#include "tests/devices/child_process.h"
#include "tests/devices/gpu/gpu_testing.h"

/// Pictures in VA surfaces and DMA-BUFs: child processes with the layer of tests/opencl_layer,
/// which offers the extensions over a driver that has none.
namespace het::gpu_testing {
namespace {

class GpuSurfaces : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::list_gpus(true).empty()) GTEST_SKIP() << "OpenCL finds no device";
    if (child("devices").output.find("surfaces imported") == std::string::npos) {
      GTEST_SKIP() << "the OpenCL loader knows no layers (ocl-icd 2.3 does)";
    }
  }

  static ChildResult child(const std::string& arguments,
                           std::map<std::string, std::string> environment = {}) {
    environment.insert({{"OPENCL_LAYERS", built_file("tests/opencl_layer/surface_layer.so")},
                        {"HET_LAYER_COUNT", "1"}});
    return run_child(built_file("tests/devices/gpu_child") + " " + arguments, environment);
  }
  static void expect_in(const std::string& part, const ChildResult& result) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << " is not in\n"
                                                           << result.output;
  }
  static size_t count(const std::string& part, const ChildResult& result) {
    size_t found = 0;
    for (size_t at = 0; (at = result.output.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  }
  /// Right levels from three pictures, each mapped once.
  static void expect_mapped(const ChildResult& result, const std::string& why) {
    EXPECT_EQ(result.status, 0) << result.output;
    expect_in("maps 3", result);
    expect_in("are mapped and copied: " + why, result);
    EXPECT_EQ(count("are mapped and copied", result), 1u) << result.output;
    expect_in("acquired 0 released 0", result);
  }
};

TEST_F(GpuSurfaces, VaSurfacesAreReadWhereTheyAre) {
  const std::map<std::string, int> planes{{"NV12", 2}, {"RGBP", 3}, {"BGRP", 3}, {"BGRx", 1},
                                          {"RGBA", 1}, {"BGRA", 1}, {"RGBx", 1}, {"GRAY8", 1}};
  for (const auto& [format, count_of_planes] : planes) {
    SCOPED_TRACE(format);
    const ChildResult result = child("surfaces va " + format);
    EXPECT_EQ(result.status, 0) << result.output;
    expect_in("maps 0", result);
    expect_in("log VA surface pictures are read where they are (cl_intel_va_api_media_sharing)",
              result);
    EXPECT_EQ(count("are read where they are", result), 1u) << result.output;
    // Three pictures, every plane given back.
    const std::string all = std::to_string(3 * count_of_planes);
    expect_in("surfaces imported " + all + " acquired " + all + " released " + all, result);
  }
}

TEST_F(GpuSurfaces, AnApplicationsContextBringsItsDisplay) {
  const ChildResult result = child("surfaces va NV12 application");
  EXPECT_EQ(result.status, 0) << result.output;
  expect_in("maps 0", result);
}

TEST_F(GpuSurfaces, HeteroGivesAContextForADisplayToItsGpu) {
  for (const auto& [how, maps] : {std::pair("hetero", "maps 0"), {"hetero-both", "maps 3"}}) {
    SCOPED_TRACE(how);
    const ChildResult result = child(std::string("surfaces va NV12 ") + how);
    EXPECT_EQ(result.status, 0) << result.output;
    expect_in(maps, result);  // by CPU, which reads the picture too
    expect_in("surfaces imported 6 acquired 6 released 6", result);
  }
}

TEST_F(GpuSurfaces, LinearDmaBufsAreReadWhereTheyAre) {
  for (const char* format : {"NV12", "I420", "RGBP", "RGB", "BGRx"}) {
    SCOPED_TRACE(format);
    const ChildResult result = child(std::string("surfaces dmabuf ") + format);
    EXPECT_EQ(result.status, 0) << result.output;
    expect_in("maps 0", result);
    expect_in("log DMA-BUF pictures are read where they are (cl_khr_external_memory_dma_buf)",
              result);
    // One piece of memory, whatever the number of planes.
    expect_in("surfaces imported 3 acquired 3 released 3", result);
  }
}

TEST_F(GpuSurfaces, WithoutTheExtensionsPicturesAreMapped) {
  for (const char* kind : {"va", "dmabuf"}) {
    const ChildResult result =
        child(std::string("surfaces ") + kind + " NV12", {{"HET_LAYER_EXTENSIONS", "cl_none"}});
    expect_mapped(result, "the driver has no cl_");
    expect_in("ways VA surface: mapped copy, DMA-BUF: mapped copy", result);
  }
}

TEST_F(GpuSurfaces, WhatTheDriverDoesNotTakeIsMapped) {
  expect_mapped(child("surfaces va NV12 no-context"), "the context was not made for a VADisplay");
  expect_mapped(child("surfaces va NV12 other-display"), "the surface is of another VADisplay");
  expect_mapped(child("surfaces va NV12 no-surface"), "cannot import plane 0 of VA surface 78");
  expect_mapped(child("surfaces va I420"), "no driver gives the planes of I420");
  expect_mapped(child("surfaces dmabuf NV12 tiled"), "the DMA-BUF is not linear");
  expect_mapped(child("surfaces va NV12", {{"HET_LAYER_FAIL_IMPORT", "1"}}), "cannot import plane");
  expect_mapped(child("surfaces dmabuf NV12", {{"HET_LAYER_FAIL_IMPORT", "1"}}), "cannot import");
  const ChildResult foreign = child("surfaces va NV12 foreign");
  expect_mapped(foreign, "the context was not made for a VADisplay");
  expect_in("VA surfaces will be mapped and copied: the OpenCL device", foreign);
}

TEST_F(GpuSurfaces, APictureLargerThanItsSurfaceIsNotRead) {
  for (const char* kind : {"va", "dmabuf"}) {
    const ChildResult result = child(std::string("surfaces ") + kind + " NV12 too-wide");
    EXPECT_EQ(result.status, 1) << result.output;
    expect_in("does not fit", result);
  }
}

TEST_F(GpuSurfaces, TheWaysAreVisible) {
  expect_in(
      "ways VA surface: cl_intel_va_api_media_sharing, DMA-BUF: cl_khr_external_memory_dma_buf",
      child("surfaces va NV12"));
}

}  // namespace
}  // namespace het::gpu_testing
