#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/hetero/hetero_testing.h"

/// The operator of examples/custom_operator, which has a kernel for CPU only, under HETERO.
namespace het::hetero {
namespace {

using testing::HasSubstr;

class HeteroCustomOperator : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    const char* root = std::getenv("HET_BUILD_ROOT");
    ASSERT_NE(root, nullptr) << "HET_BUILD_ROOT names the build folder";
    library_ = std::string(root) + "/examples/custom_operator/channel_scale.so";
    refuse_types(*fast_, {"ChannelScale"});
    // Made before the library is loaded, as a file is read.
    ModelMaker maker("scaled");
    Value* x = maker.conv(maker.op("Relu", {maker.input({1, 8, 6, 6})}), 8, 4, 3);
    Attributes attributes;
    attributes.set("scales", std::vector<float>{2, -1, 0.5f, 3});
    Value* y = maker.op("ChannelScale", {x}, attributes, "example");
    maker.output(maker.conv(maker.op("Sigmoid", {y}), 4, 8));
    model_ = maker.model().clone();
    custom_ = y->producer()->name();
  }

  /// The custom node on CPU, all others on the first device; the reason names it.
  void expect_fallback(const std::string& first, const Properties& properties) {
    const std::string device = "HETERO:" + first + ",CPU";
    const auto rows = core_.query_model(*model_, device, properties);
    ASSERT_TRUE(rows) << rows.error().message();
    for (const NodeSupport& row : *rows) {
      EXPECT_EQ(row.device, row.node_name == custom_ ? "CPU" : first) << row.node_name;
      if (row.node_name == custom_) {
        EXPECT_THAT(row.reason, HasSubstr(first));
        EXPECT_THAT(row.reason, HasSubstr("ChannelScale"));
      }
    }
    const auto compiled = compile(*model_, device, properties);
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), first + " CPU");
    EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "3");
    const auto alone = compile(*model_, "CPU", {{"EXTENSIONS", library_}});
    auto wanted = alone->create_infer_request();
    auto request = compiled->create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    const std::vector<Tensor> inputs = inputs_of(*alone);
    const std::vector<Tensor> of_cpu = infer(**wanted, inputs);
    const auto expected = of_cpu[0].values<float>();
    for (int run = 0; run < 2; ++run) {
      const std::vector<Tensor> got = infer(**request, inputs);
      const auto values = got[0].values<float>();
      ASSERT_EQ(values.size(), expected.size());
      for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], expected[i], 1e-5f) << i;
    }
  }

  std::string library_;
  std::unique_ptr<Model> model_;
  std::string custom_;
};

TEST_F(HeteroCustomOperator, FallsBackToCpu) {
  expect_fallback("FAST", {{"EXTENSIONS", library_}});
}

TEST_F(HeteroCustomOperator, FallsBackFromGpu) {
  expect_fallback("GPU", {{"EXTENSIONS", library_}});
}

TEST_F(HeteroCustomOperator, LibraryMayBeGivenForTheMember) {
  expect_fallback("FAST", {{"CPU.EXTENSIONS", library_}});
  EXPECT_THAT(compile_error(*model_, "HETERO:FAST,CPU", {{"CPU.EXTENSIONS", "/nowhere/none.so"}}),
              HasSubstr("does not exist"));
  EXPECT_THAT(compile_error(*model_, "HETERO:FAST,CPU",
                            {{"DEVICE_PROPERTIES", "{CPU:{EXTENSIONS:/nowhere/none.so}}"}}),
              HasSubstr("does not exist"));
}

}  // namespace
}  // namespace het::hetero
