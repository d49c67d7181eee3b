// Devices that models with unbound shapes lose and take back, over all plans of one.
#include <gmock/gmock.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "inference/requests/dynamic_model.h"
#include "inference/vision_model.h"
#include "inference/writers/onnx_writer.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class HeteroUnboundLosses : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    refuse_types(*fast_, {"Tanh"});
    fast_->outcome = [this](size_t) { return state(); };
    fast_->compiling = [this](const Model&) { return state(); };
    ModelMaker maker("unbound");
    Value* x = maker.input({1, kUnknownDim});
    maker.output(maker.op("Add", {maker.op("Relu", {x}), maker.op("Tanh", {x})}));
    model_ = maker.model().clone();
  }
  Status state() const {
    return broken_ ? error(StatusCode::DeviceLost, "the link is down") : Status();
  }
  std::shared_ptr<CompiledModel> compile_with_retry(const char* interval) {
    return compile(*model_, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", interval}});
  }
  static void run(InferRequest& request, int64_t size) {
    ASSERT_TRUE(request.set_input(0, random_tensor({1, size}, 3)).ok());
    const Status status = request.infer();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  /// Since the last call: "-FAST: unbound_1 on FAST: ...", "+FAST".
  std::vector<std::string> changes(const CompiledModel& model) {
    std::vector<std::string> texts;
    for (const DeviceEvent& event : model.device_events(next_)) {
      texts.push_back(event.cause.empty() ? "+" + event.device
                                          : "-" + event.device + ": " + event.cause);
    }
    return texts;
  }

  std::unique_ptr<Model> model_;
  std::atomic<bool> broken_ = false;
  uint64_t next_ = 0;
};

constexpr const char* kLoss = "-FAST: unbound_1 on FAST: the link is down";

TEST_F(HeteroUnboundLosses, ALossIsToldOnceForAllShapes) {
  const auto compiled = compile_with_retry("0");
  auto request = *compiled->create_infer_request();
  for (const int64_t size : {3, 4, 5}) run(*request, size);
  EXPECT_THAT(changes(*compiled), IsEmpty());
  broken_ = true;
  for (const int64_t size : {5, 4, 3, 6}) run(*request, size);
  EXPECT_THAT(changes(*compiled), ElementsAre(kLoss));
  EXPECT_THAT(changes(*compiled), IsEmpty());
}

TEST_F(HeteroUnboundLosses, AReturnIsTold) {
  const auto compiled = compile_with_retry("5");
  auto request = *compiled->create_infer_request();
  run(*request, 3);
  broken_ = true;
  run(*request, 3);
  EXPECT_THAT(changes(*compiled), ElementsAre(kLoss));
  broken_ = false;
  std::vector<std::string> back;
  for (int i = 0; i < 2000 && back.empty(); ++i) {
    run(*request, 3);
    back = changes(*compiled);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_THAT(back, ElementsAre("+FAST"));
}

/// Plans leave for those of newer shapes before anybody has asked.
TEST_F(HeteroUnboundLosses, PlansThatLeaveTakeNothingWithThem) {
  const auto compiled = compile_with_retry("0");
  const auto leave_all_plans = [&](InferRequest& request, int64_t first) {
    for (size_t i = 0; i < DynamicCompiledModel::kMaxPlans + 2; ++i) {
      run(request, first + static_cast<int64_t>(i));
    }
  };
  {
    auto request = *compiled->create_infer_request();
    run(*request, 3);
    broken_ = true;
    run(*request, 3);
    broken_ = false;
    leave_all_plans(*request, 10);
  }
  EXPECT_THAT(changes(*compiled), ElementsAre(kLoss));
  // The device is lost anew; whoever knew of the first time has left.
  auto request = *compiled->create_infer_request();
  run(*request, 15);
  broken_ = true;
  run(*request, 15);
  EXPECT_THAT(changes(*compiled), ElementsAre(kLoss));
}

/// The last to know of a loss is a request: its plan has left the model's, and it ends.
TEST_F(HeteroUnboundLosses, RequestsThatEndTakeNothingWithThem) {
  const auto compiled = compile_with_retry("0");
  auto others = *compiled->create_infer_request();
  auto last = *compiled->create_infer_request();
  run(*last, 3);
  for (size_t i = 0; i < DynamicCompiledModel::kMaxPlans + 2; ++i) {
    run(*others, 10 + static_cast<int64_t>(i));
  }
  broken_ = true;
  run(*last, 3);
  last = nullptr;
  EXPECT_THAT(changes(*compiled), ElementsAre(kLoss));
}

/// What elements have instead of unbound shapes: a model for each width.
TEST_F(HeteroUnboundLosses, AModelOfSeveralWidthsTellsTheLossesOfAll) {
  const std::string folder = testing::TempDir() + "het-losses-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  ModelMaker maker("lines");
  Value* x = maker.input({1, 3, 8, kUnknownDim});
  maker.output(maker.op("Add", {maker.op("Relu", {x}), maker.op("Tanh", {x})}));
  VisionModelSettings settings;
  settings.model = folder + "/lines.onnx";
  settings.model_proc = folder + "/lines.json";
  settings.device = "HETERO:FAST,REF";
  settings.properties = {{"HETERO_RETRY_INTERVAL", "0"}};
  settings.raw_tensors = true;
  ASSERT_TRUE(write_onnx(maker.model(), settings.model).ok());
  std::ofstream(settings.model_proc) << R"({"json_schema_version": "2.2.0", "input_preproc": [
      {"format": "image", "params": {"widths": [16, 32]}}], "output_postproc": []})";
  const auto vision = VisionModel::load(core_, settings);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(vision) << vision.error().message();
  const auto run_width = [&](int width) {
    const auto request = (*vision)->for_region({0, 0, width, 8}).compiled().create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    const Status status = (*request)->infer();
    ASSERT_TRUE(status.ok()) << status.message();
  };
  const auto told = [&] {
    std::vector<std::string> devices;
    for (const DeviceEvent& event : (*vision)->device_events(next_)) {
      devices.push_back(event.device);
    }
    return devices;
  };
  run_width(16);
  EXPECT_THAT(told(), IsEmpty());
  broken_ = true;
  run_width(16);
  EXPECT_THAT(told(), ElementsAre("FAST")) << "the narrow one";
  run_width(32);
  EXPECT_THAT(told(), IsEmpty()) << "the same loss";
}

}  // namespace
}  // namespace het::hetero
