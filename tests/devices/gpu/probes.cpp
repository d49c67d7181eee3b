#include "tests/devices/child_process.h"
#include "tests/devices/gpu/gpu_testing.h"

/// What drivers name and do not have, or have wrong: child processes with a layer of
/// tests/opencl_layer that names extensions.
namespace het::gpu_testing {
namespace {

class GpuProbes : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu::list_gpus(true).empty()) GTEST_SKIP() << "OpenCL finds no device";
    // A name that no program knows shows whether the layer is there.
    if (child("missing", "").output.find("log '") == std::string::npos) {
      GTEST_SKIP() << "the OpenCL loader knows no layers (ocl-icd 2.3 does)";
    }
  }

  static ChildResult child(const std::string& dot_product, const std::string& properties) {
    return run_child(built_file("tests/devices/gpu_child") + " bytes " + properties,
                     {{"OPENCL_LAYERS", built_file("tests/opencl_layer/naming_layer.so")},
                      {"HET_LAYER_DOT_PRODUCT", dot_product},
                      {"HET_LAYER_HALF", "1"}});
  }
  static void expect_in(const std::string& part, const ChildResult& result) {
    EXPECT_NE(result.output.find(part), std::string::npos) << part << " is not in\n"
                                                           << result.output;
  }
  static size_t count(const std::string& part, const std::string& text) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  }
};

TEST_F(GpuProbes, FunctionsThatAreMissingOrWrongAreNotUsed) {
  for (const char* functions : {"missing", "wrong"}) {
    for (const char* use : {"YES", "AUTO"}) {
      SCOPED_TRACE(functions);
      const ChildResult result = child(functions, std::string("GPU_INT8=") + use);
      EXPECT_EQ(result.status, 0) << result.output;
      expect_in(use == std::string("YES") ? "int8 YES" : "int8 NO", result);
      expect_in("different 0\n", result);
      EXPECT_EQ(result.output.find(" dp4a"), std::string::npos) << result.output;
      // Tried and logged once, however often it is asked for.
      EXPECT_EQ(count("does without: cl_khr_integer_dot_product", result.output), 1u)
          << result.output;
    }
  }
  expect_in("instead of", child("wrong", ""));
}

TEST_F(GpuProbes, FunctionsThatAreRightAreUsed) {
  const ChildResult result = child("right", "GPU_INT8=YES");
  EXPECT_EQ(result.status, 0) << result.output;
  expect_in("int8 YES", result);
  expect_in("different 0\n", result);
  expect_in(" dp4a", result);
  EXPECT_EQ(result.output.find("does without: cl_khr_integer_dot_product"), std::string::npos);
}

TEST_F(GpuProbes, HalfThatDoesNotBuildIsNotThere) {
  const ChildResult result = child("right", "");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(result.output.find(" fp16"), std::string::npos) << result.output;
  EXPECT_EQ(count("does without: cl_khr_fp16", result.output), 1u) << result.output;
}

}  // namespace
}  // namespace het::gpu_testing
