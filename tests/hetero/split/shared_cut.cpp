#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

/// Values that several subgraphs of a device read at once.
using HeteroSharedCut = HeteroDeviceTest;

TEST_F(HeteroSharedCut, BranchesOfADeviceReadOneTensorAtOnce) {
  const std::vector<std::string> devices = core_.available_devices();
  if (std::ranges::count(devices, "GPU") + std::ranges::count(devices, "GPU.0") == 0) {
    GTEST_SKIP() << "needs a GPU; HETERO_GPU_ALLOW_CPU=1 takes OpenCL on a CPU";
  }
  // Branches on the device stay subgraphs of their own: they could start at different times.
  ModelMaker maker("fan");
  Value* x = maker.op("Relu", {maker.input({1, 8, 8, 8})});
  for (int i = 0; i < 4; ++i) maker.output(maker.op("Sigmoid", {x}));
  const auto compiled = compile(maker.model(), "HETERO:CPU,GPU",
                                {{"HETERO_AFFINITY", R"({"rules":[{"type":"Relu","device":"CPU"},
                                                     {"type":"Sigmoid","device":"GPU"}]})"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "5");
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int r = 0; r < 4; ++r) requests.push_back(*compiled->create_infer_request());
  const std::vector<Tensor> inputs = inputs_of(*compiled);
  const std::vector<Tensor> expected = infer(*requests[0], inputs);
  for (const auto& request : requests) ASSERT_TRUE(request->set_input(0, inputs[0]).ok());
  for (int round = 0; round < 100; ++round) {
    for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
    for (const auto& request : requests) {
      const Status status = request->wait();
      ASSERT_TRUE(status.ok()) << status.message();
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(
            std::memcmp(request->output(i).bytes(), expected[i].bytes(), expected[i].size_bytes()),
            0);
      }
    }
  }
}

}  // namespace
}  // namespace het::hetero
