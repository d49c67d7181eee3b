/// A device of HETERO that fails while an element plays.

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "devices/register_devices.h"
#include "tests/devices/vpu/vpu_daemon.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"
#include "tests/hetero/execution/saboteur.h"

namespace het::gst_test {
namespace {

using hetero::DeviceCall;

constexpr size_t kFrames = 300;
constexpr size_t kFailsAt = 100;
constexpr size_t kMendedAt = 115;

std::string pipeline_on(const std::string& device) {
  return "videotestsrc pattern=ball num-buffers=" + std::to_string(kFrames) +
         " ! video/x-raw,format=BGR,width=64,height=48 ! identity sleep-time=2000"
         " ! heteroclassify name=classify inference-region=full-frame nireq=4 model=" +
         classifier_model() + " model-proc=" + classifier_proc() + kRegionsOfInterest +
         " device=" + device + " ! fakesink name=sink sync=false";
}

struct Label {
  GstClockTime pts = 0;
  double confidence = -1;
};

Label label_of(GstBuffer* buffer) {
  Label label{GST_BUFFER_PTS(buffer), -1};
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    const GstStructure* result = gst_video_region_of_interest_meta_get_param(
        reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), "classification");
    if (result) gst_structure_get_double(result, "confidence", &label.confidence);
  }
  return label;
}

size_t executions_of(hetero::WrappedBehaviour& behaviour) {
  const std::lock_guard lock(behaviour.mutex);
  return behaviour.executions.size();
}

TEST(FailOver, TheStreamGoesOnAndTheBusIsTold) {
  std::vector<Label> wanted;
  PipelineRun on_cpu(pipeline_on("CPU"));
  on_cpu.on_buffer("sink", [&](GstBuffer* buffer) { wanted.push_back(label_of(buffer)); });
  ASSERT_EQ(on_cpu.play().problem(), "");
  ASSERT_EQ(wanted.size(), kFrames);
  for (const DeviceCall call : {DeviceCall::Compile, DeviceCall::Submit, DeviceCall::Callback,
                                DeviceCall::Wait, DeviceCall::Map}) {
    SCOPED_TRACE(hetero::to_string(call));
    const std::shared_ptr<Core> process = core();
    const auto behaviour = std::make_shared<hetero::WrappedBehaviour>();
    behaviour->has_own_memory = true;
    behaviour->refuse = [](const Model&, const Node& node) -> std::string {
      return node.op_type() == "Conv" ? "" : "Conv only";
    };
    hetero::Saboteur saboteur(behaviour);
    hetero::add_wrapped_device(*process, "FAST", behaviour);
    if (call == DeviceCall::Compile) saboteur.plan({.call = call});
    std::vector<Label> got;
    size_t used = 0;
    PipelineRun run(pipeline_on("HETERO:FAST,CPU ie-config=HETERO_RETRY_INTERVAL=5"));
    run.on_buffer("sink", [&](GstBuffer* buffer) {
      got.push_back(label_of(buffer));
      if (got.size() == kFailsAt && call != DeviceCall::Compile) saboteur.plan({.call = call});
      if (got.size() == kMendedAt) {
        saboteur.mend();
        used = executions_of(*behaviour);
      }
      // However late the thread is that tries the device again, which takes an execution or a few.
      const bool is_awaited = got.size() > kMendedAt && executions_of(*behaviour) < used + 20;
      if (is_awaited) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    });
    const Outcome outcome = run.play();
    EXPECT_EQ(outcome.problem(), "");
    EXPECT_EQ(saboteur.hits(call), 1u);
    ASSERT_EQ(got.size(), kFrames);
    for (size_t k = 0; k < kFrames; ++k) {
      EXPECT_EQ(got[k].pts, wanted[k].pts);
      EXPECT_NEAR(got[k].confidence, wanted[k].confidence, 1e-4) << "frame " << k;
    }
    EXPECT_GT(wanted[0].confidence, 0.0);
    ASSERT_EQ(outcome.warnings.size(), 1u);
    EXPECT_EQ(outcome.warnings[0].element, "classify");
    EXPECT_NE(outcome.warnings[0].text.find("goes on without FAST"), std::string::npos);
    // Another request may be told sooner that the device is gone than the first its own fault.
    const std::string& warning = outcome.warnings[0].text;
    const bool has_cause = warning.find("fault at") != std::string::npos ||
                           warning.find("gone at") != std::string::npos;
    EXPECT_TRUE(has_cause) << warning;
    ASSERT_EQ(outcome.remarks.size(), 1u);
    EXPECT_NE(outcome.remarks[0].text.find("uses FAST again"), std::string::npos);
  }
}

/// The program of a VPU is killed and comes back: frames keep coming, each once and right.
TEST(FailOver, AVpuThatIsUnpluggedStopsNoStream) {
  std::vector<Label> wanted;
  PipelineRun on_cpu(pipeline_on("CPU"));
  on_cpu.on_buffer("sink", [&](GstBuffer* buffer) { wanted.push_back(label_of(buffer)); });
  ASSERT_EQ(on_cpu.play().problem(), "");
  for (const char* device :
       {"HETERO:VPU,CPU ie-config=HETERO_RETRY_INTERVAL=5", "MULTI:VPU,CPU", "AUTO:VPU,CPU"}) {
    SCOPED_TRACE(device);
    device_testing::VpuDaemons daemons;
    const pid_t program = daemons.start("a", {"--execution-us", "200"});
    std::vector<Label> got;
    PipelineRun run(pipeline_on(device));
    run.on_buffer("sink", [&](GstBuffer* buffer) {
      got.push_back(label_of(buffer));
      if (got.size() == kFailsAt) daemons.kill(program);
      if (got.size() == kMendedAt) daemons.start("a");
    });
    const Outcome outcome = run.play();
    EXPECT_EQ(outcome.problem(), "");
    ASSERT_EQ(got.size(), kFrames);
    for (size_t k = 0; k < kFrames; ++k) {
      EXPECT_EQ(got[k].pts, wanted[k].pts);
      EXPECT_NEAR(got[k].confidence, wanted[k].confidence, 5e-3) << "frame " << k;
    }
    ASSERT_FALSE(outcome.warnings.empty());
    EXPECT_NE(outcome.warnings[0].text.find("VPU"), std::string::npos) << outcome.warnings[0].text;
  }
}

}  // namespace
}  // namespace het::gst_test
