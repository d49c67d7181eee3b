#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/hetero/hetero_testing.h"

/// Beside an accelerator, CPU leaves a core to the thread that feeds it.
namespace het::hetero {
namespace {

class SpareCore : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    refuse_types(*fast_, {"Tanh"});
    refuse_types(*other_, {"Tanh"});
    all_ = threads("CPU");
    if (all_ < 2) {
      printf("one core: CPU has none to leave, here it only must keep its own\n");
    }
  }

  /// Of CPU in the model compiled for these devices.
  int threads(const std::string& device, const Properties& properties = {}) {
    const auto compiled = compile(*model_, device, properties);
    if (compiled == nullptr) return 0;
    const bool is_alone = device.find(':') == std::string::npos;
    return std::stoi(
        property(*compiled, is_alone ? "INFERENCE_NUM_THREADS" : "CPU.INFERENCE_NUM_THREADS"));
  }
  /// What CPU leaves where it leaves a core, which may have several hardware threads.
  int left(const Properties& properties = {}) {
    Properties with = properties;
    with["SPARE_CORES"] = "1";
    return threads("CPU", with);
  }

  const std::unique_ptr<Model> model_ = diamond();
  int all_ = 0;
};

TEST_F(SpareCore, OfCpuItself) {
  EXPECT_EQ(left(), std::max(all_ - 1, 1));
  EXPECT_EQ(threads("CPU", {{"SPARE_CORES", "1000"}}), 1);
  EXPECT_EQ(threads("CPU", {{"SPARE_CORES", "1"}, {"INFERENCE_NUM_THREADS", "2"}}), 2);
}

TEST_F(SpareCore, IsLeftToAnAccelerator) {
  EXPECT_EQ(threads("HETERO:FAST,CPU"), left());
  EXPECT_EQ(threads("HETERO:CPU,FAST", {{"HETERO_AFFINITY", R"({"rules":
      [{"type": "Relu", "device": "FAST"}]})"}}),
            left());
  for (const char* policy : {"latency", "throughput"}) {
    EXPECT_EQ(
        threads("HETERO:FAST,CPU", {{"HETERO_POLICY", policy}, {"HETERO_AFFINITY", R"({"rules":
      [{"type": "Relu", "device": "FAST"}]})"}}),
        left())
        << policy;
  }
  other_->type.clear();
  EXPECT_EQ(threads("HETERO:OTHER,CPU"), left()) << "one that does not say what it is";
  fast_->refuse = nullptr;
  const Properties throughput = {{"PERFORMANCE_HINT", "THROUGHPUT"}};
  EXPECT_EQ(threads("MULTI:FAST,CPU"), left(throughput)) << "which has THROUGHPUT unless told";
  EXPECT_EQ(threads("MULTI:CPU,FAST"), left(throughput));
  EXPECT_EQ(threads("AUTO:FAST,CPU", {{"PERFORMANCE_HINT", "CUMULATIVE_THROUGHPUT"}}),
            left(throughput));
}

TEST_F(SpareCore, IsLeftByAutoWhileTheAcceleratorCompiles) {
  std::atomic<bool> go = false;
  fast_->refuse = nullptr;
  fast_->compiling = [&](const Model&) {
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Status();
  };
  const auto compiled = compile(*model_, "AUTO:FAST,CPU");
  const auto running = property(*compiled, "INFERENCE_NUM_THREADS");
  go = true;
  EXPECT_EQ(running, std::to_string(left()));
}

TEST_F(SpareCore, IsNotLeftToWhatRunsOnTheCores) {
  fast_->type = "cpu";
  EXPECT_EQ(threads("HETERO:FAST,CPU"), all_);
  EXPECT_EQ(threads("HETERO:REF,CPU", {{"HETERO_AFFINITY", R"({"rules":
      [{"type": "Tanh", "device": "CPU"}]})"}}),
            all_);
  EXPECT_EQ(threads("HETERO:CPU"), all_);
  const auto gpu = core_.get_property("GPU", "DEVICE_TYPE");
  ASSERT_TRUE(gpu) << gpu.error().message();
  const std::string name = *core_.get_property("GPU", "FULL_DEVICE_NAME");
  EXPECT_EQ(threads("HETERO:GPU,CPU", {{"HETERO_AFFINITY", R"({"rules":
      [{"type": "Tanh", "device": "CPU"}]})"}}),
            *gpu == "cpu" ? all_ : left())
      << name;
  EXPECT_EQ(*core_.get_property("CPU", "DEVICE_TYPE"), "cpu");
  EXPECT_EQ(*core_.get_property("REF", "DEVICE_TYPE"), "cpu");
}

TEST_F(SpareCore, IsNotLeftWherePlansLeaveTheAcceleratorOut) {
  refuse_types(*fast_, {"Relu", "Sigmoid", "Tanh", "Add"});
  EXPECT_EQ(threads("HETERO:FAST,CPU"), all_);
}

TEST_F(SpareCore, IsNotLeftWhereTheUserChooses) {
  const Properties one = {{"NUM_STREAMS", "1"}};
  EXPECT_EQ(threads("HETERO:FAST,CPU", {{"CPU.NUM_STREAMS", "1"}}), threads("CPU", one));
  EXPECT_EQ(threads("HETERO:FAST,CPU", one), threads("CPU", one));
  EXPECT_EQ(threads("HETERO:FAST,CPU", {{"INFERENCE_NUM_THREADS", "2"}}), 2);
  EXPECT_EQ(threads("HETERO:FAST,CPU", {{"CPU.INFERENCE_NUM_THREADS", "3"}}), 3);
  EXPECT_EQ(threads("HETERO:FAST,CPU", {{"CPU.SPARE_CORES", "0"}}), all_);
  ASSERT_TRUE(core_.set_property("CPU", {{"INFERENCE_NUM_THREADS", "2"}}).ok());
  EXPECT_EQ(threads("HETERO:FAST,CPU"), 2);
}

TEST_F(SpareCore, IsTakenBackWhenTheAcceleratorIsLost) {
  const auto compiled = compile(*model_, "HETERO:FAST,CPU", {{"HETERO_RETRY_INTERVAL", "0"}});
  EXPECT_EQ(property(*compiled, "CPU.INFERENCE_NUM_THREADS"), std::to_string(left()));
  fast_->outcome = [](size_t) { return Status(StatusCode::DeviceLost, "gone"); };
  auto request = compiled->create_infer_request();
  ASSERT_TRUE(request) << request.error().message();
  infer(**request, inputs_of(*compiled));
  EXPECT_EQ(property(*compiled, "CPU.INFERENCE_NUM_THREADS"), std::to_string(all_));
}

}  // namespace
}  // namespace het::hetero
