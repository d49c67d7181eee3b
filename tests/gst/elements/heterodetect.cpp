/// Properties of heterodetect and what they change in its results.

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

constexpr char kDetectCaps[] = "video/x-raw,format=BGR,width=320,height=192,framerate=25/1";

struct Found {
  std::string type;
  int parent_id = 0;
  guint x = 0, y = 0, w = 0, h = 0;
};

/// What the scripted device finds in one frame of this value.
std::vector<Found> detect(const std::string& properties, int value = 77,
                          const std::vector<GstVideoRectangle>& regions = {}) {
  ElementRig rig("heterodetect", detector_properties() + " device=SCRIPTED " + properties);
  EXPECT_TRUE(rig.start(kDetectCaps)) << rig.errors().front();
  std::vector<Found> found;
  rig.on_buffer = [&](GstBuffer* buffer) {
    gpointer state = nullptr;
    GstMeta* meta = nullptr;
    while ((meta = gst_buffer_iterate_meta_filtered(
                buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != nullptr) {
      auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
      if (!gst_video_region_of_interest_meta_get_param(region, "detection")) continue;
      found.push_back({g_quark_to_string(region->roi_type), region->parent_id, region->x, region->y,
                       region->w, region->h});
    }
    return GST_FLOW_OK;
  };
  GstBuffer* buffer = rig.frame(0, value);
  for (size_t i = 0; i < regions.size(); ++i) {
    const GstVideoRectangle& r = regions[i];
    auto* meta = gst_buffer_add_video_region_of_interest_meta(
        buffer, "zone", static_cast<guint>(r.x), static_cast<guint>(r.y), static_cast<guint>(r.w),
        static_cast<guint>(r.h));
    meta->id = static_cast<gint>(i) + 10;
  }
  EXPECT_EQ(rig.push(buffer), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  EXPECT_TRUE(rig.wait_for("eos"));
  return found;
}

TEST(HeteroDetect, LabelsComeFromTheDescriptorThePropertyOrAFile) {
  ScriptedDevice device;
  const std::vector<Found> plain = detect("");
  ASSERT_EQ(plain.size(), 1u);
  const std::vector<std::string> known{"car", "truck", "person", "bicycle", "ball"};
  EXPECT_NE(std::find(known.begin(), known.end(), plain[0].type), known.end()) << plain[0].type;

  const std::vector<Found> given = detect("labels=v,w,x,y,z");
  ASSERT_EQ(given.size(), 1u);
  EXPECT_EQ(given[0].type.size(), 1u) << given[0].type;
  EXPECT_EQ(detect("labels=\"\\<v,w,x,y,z\\>\"")[0].type, given[0].type);

  const ScratchFolder folder;
  write_text(folder.file("labels.txt"), "L0\nL1\nL2\nL3\nL4\n");
  const std::vector<Found> filed = detect("labels-file=" + folder.file("labels.txt"));
  ASSERT_EQ(filed.size(), 1u);
  EXPECT_EQ(filed[0].type[0], 'L') << filed[0].type;
}

TEST(HeteroDetect, ThresholdWinsOverTheDescriptors) {
  ScriptedDevice device;
  const ScratchFolder folder;
  std::string proc = read_text(detector_proc());
  const size_t at = proc.find("\"threshold\": 0.5");
  ASSERT_NE(at, std::string::npos);
  proc.replace(at, 16, "\"threshold\": 0.9");
  write_text(folder.file("strict.json"), proc);
  const std::string strict = "model-proc=" + folder.file("strict.json");
  // The scripted device's confidence is 0.8.
  EXPECT_EQ(detect("").size(), 1u);
  EXPECT_EQ(detect("threshold=0.9").size(), 0u);
  EXPECT_EQ(detect(strict).size(), 0u);
  EXPECT_EQ(detect(strict + " threshold=0.5").size(), 1u);
  EXPECT_EQ(detect(strict + " threshold=0").size(), 1u) << "not the decoder's own";
}

TEST(HeteroDetect, ClassesHaveThresholdsOfTheirOwn) {
  ScriptedDevice device;
  // The scripted device's confidence is 0.8.
  const std::string label = detect("").at(0).type;
  const std::string other = label == "car" ? "truck" : "car";
  const auto property = [](const std::string& value) {
    return "threshold-per-class=\"" + value + "\"";
  };
  EXPECT_EQ(detect(property(label + "=0.9")).size(), 0u);
  EXPECT_EQ(detect(property(other + "=0.9")).size(), 1u);
  EXPECT_EQ(detect("threshold=0.9 " + property(label + "=0.7, " + other + "=1")).size(), 1u);
  EXPECT_EQ(detect("threshold=0.9 " + property(other + "=0.1")).size(), 0u);
  for (const auto& [value, word] : {std::pair{"tram=0.5", "'tram'"}, std::pair{"car=1.5", "'1.5'"},
                                    std::pair{"car", "KEY=VALUE"}}) {
    ElementRig rig("heterodetect", detector_properties() + " device=SCRIPTED " + property(value));
    EXPECT_FALSE(rig.start("video/x-raw,format=BGR,width=64,height=48,framerate=25/1"));
    const std::vector<std::string> errors = rig.errors();
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_NE(errors[0].find("threshold-per-class"), std::string::npos) << errors[0];
    EXPECT_NE(errors[0].find(word), std::string::npos) << errors[0];
  }
}

TEST(HeteroDetect, RegionsOfTheFrameCanBeAnalysedInstead) {
  ScriptedDevice device;
  const std::vector<Found> found =
      detect("inference-region=roi-list", 77, {{0, 0, 160, 96}, {160, 96, 160, 96}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(device.executions(), 2);
  EXPECT_EQ(found[0].parent_id, 10);
  EXPECT_EQ(found[1].parent_id, 11);
  // Equal content: the same place in either region.
  EXPECT_NEAR(static_cast<double>(found[1].x), static_cast<double>(found[0].x) + 160.0, 1.0);
  EXPECT_NEAR(static_cast<double>(found[1].y), static_cast<double>(found[0].y) + 96.0, 1.0);
  EXPECT_TRUE(
      detect("inference-region=roi-list object-class=other", 77, {{0, 0, 160, 96}}).empty());
}

TEST(HeteroDetect, ReshapeChangesTheModelsInput) {
  ScriptedDevice device;
  // 160x96 has a quarter of the grid cells; the boxes are those of the whole picture all the same.
  const std::vector<Found> found = detect("reshape-width=160 reshape-height=96");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].x + found[0].w, 320u);
}

/// Streams are seen by a number that no device has.
TEST(HeteroDetect, OlderPropertiesStandForThoseOfTheDevice) {
  const auto errors_of = [](const std::string& properties) {
    ElementRig rig("heterodetect", detector_properties() + " " + properties);
    EXPECT_FALSE(rig.start("video/x-raw,format=BGR,width=64,height=48,framerate=25/1"));
    const std::vector<std::string> errors = rig.errors();
    return errors.empty() ? std::string() : errors.front();
  };
  const std::string streams = errors_of("device=CPU cpu-throughput-streams=4000000000");
  EXPECT_NE(streams.find("NUM_STREAMS"), std::string::npos) << streams;
  EXPECT_NE(streams.find("4000000000"), std::string::npos) << streams;
  const std::string older = errors_of("device=CPU ie-config=KEY_CPU_THROUGHPUT_STREAMS=4000000000");
  EXPECT_NE(older.find("NUM_STREAMS"), std::string::npos) << older;
  const std::string gone = errors_of("device=CPU ie-config=KEY_TUNING_FILE=tuning.json");
  EXPECT_NE(gone.find("CACHE_DIR"), std::string::npos) << gone;
  const std::string library = errors_of("ov-extension-lib=/absent/operators.so");
  EXPECT_NE(library.find("/absent/operators.so"), std::string::npos) << library;
}

TEST(HeteroDetect, DevicesOfALibrary) {
  const std::string head = "videotestsrc num-buffers=1 ! heterodetect name=it " +
                           detector_properties() + " device=HETERO:MYDEV,CPU ";
  PipelineRun without(head + "! fakesink");
  EXPECT_NE(without.play().problem().find("MYDEV"), std::string::npos);
  PipelineRun missing(head + "device-library=/nowhere/npu.so ! fakesink");
  EXPECT_NE(missing.play().problem().find("'/nowhere/npu.so' does not exist"), std::string::npos);
  const std::string library =
      std::string(std::getenv("HET_BUILD_ROOT")) + "/examples/custom_device/mydev.so";
  PipelineRun run(head + "device-library=" + library + " ! fakesink name=out");
  std::string devices;
  run.on_buffer("out", [&](GstBuffer*) {
    GstStructure* stats = nullptr;
    g_object_get(run.element("it"), "stats", &stats, nullptr);
    devices = gst_structure_get_string(stats, "execution-devices");
    gst_structure_free(stats);
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(devices, "MYDEV CPU");
}

TEST(HeteroDetect, GpuStreamsAreThoseOfTheGpu) {
  const auto start = [](const std::string& properties) {
    ElementRig rig("heterodetect", detector_properties() + " device=GPU " + properties);
    return rig.start("video/x-raw,format=BGR,width=64,height=48,framerate=25/1")
               ? std::string()
               : rig.errors().front();
  };
  const std::string without = start("");
  if (!without.empty()) GTEST_SKIP() << "no GPU: " << without;
  EXPECT_EQ(start("gpu-throughput-streams=1"), "");
  EXPECT_EQ(start("cpu-throughput-streams=4000000000"), "") << "not the CPU";
  const std::string text = start("gpu-throughput-streams=4000000000");
  EXPECT_NE(text.find("NUM_STREAMS"), std::string::npos) << text;
  EXPECT_NE(text.find("4000000000"), std::string::npos) << text;
}

TEST(HeteroDetect, WhatHasNoEffectIsNamed) {
  PipelineRun run("videotestsrc num-buffers=1 ! heterodetect name=it " + detector_properties() +
                  " reshape=true core-pinning=0 device=REF share-va-display-ctx=false ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_EQ(outcome.problem(), "");
  ASSERT_EQ(outcome.warnings.size(), 3u);
  EXPECT_NE(outcome.warnings[0].text.find("reshape-width"), std::string::npos);
  EXPECT_NE(outcome.warnings[1].text.find("core-pinning=0 has no effect: device=REF"),
            std::string::npos);
  EXPECT_NE(outcome.warnings[2].text.find("share-va-display-ctx"), std::string::npos);
}

/// Threads of this process by the processors that each may run on.
std::map<pid_t, std::set<int>> processors_of_threads() {
  std::map<pid_t, std::set<int>> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const auto thread = static_cast<pid_t>(std::stol(task.path().filename()));
    cpu_set_t allowed;
    if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0) continue;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor)
      if (CPU_ISSET(processor, &allowed)) found[thread].insert(processor);
  }
  return found;
}

TEST(HeteroDetect, CorePinningBindsTheModelsThreadsOnly) {
  const std::set<int> everywhere = processors_of_threads()[gettid()];
  if (everywhere.size() < 2) GTEST_SKIP() << "this process may use one processor only";
  const std::string last = std::to_string(*everywhere.rbegin());
  for (const std::string& more : {std::string(), std::string(" device=HETERO:CPU,REF")}) {
    const auto before = processors_of_threads();
    ElementRig rig("heterodetect", detector_properties() + more + " core-pinning=" + last);
    ASSERT_TRUE(rig.start("video/x-raw,format=BGR,width=64,height=48,framerate=25/1"));
    ASSERT_EQ(rig.push(rig.frame(0)), GST_FLOW_OK);
    ASSERT_TRUE(rig.wait_for("buffer 0"));
    size_t bound = 0;
    for (const auto& [thread, processors] : processors_of_threads()) {
      if (before.contains(thread)) {
        EXPECT_EQ(processors, before.at(thread)) << "a thread of others was moved";
      } else {
        bound += processors == std::set<int>{*everywhere.rbegin()} ? 1 : 0;
      }
    }
    EXPECT_GE(bound, 1u) << "the model's";
  }
  ElementRig wrong("heterodetect", detector_properties() + " core-pinning=0-x");
  EXPECT_FALSE(wrong.start("video/x-raw,format=BGR,width=64,height=48,framerate=25/1"));
  const std::vector<std::string> errors = wrong.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("property core-pinning"), std::string::npos) << errors[0];
  EXPECT_NE(errors[0].find("'0-x'"), std::string::npos) << errors[0];
}

TEST(HeteroDetect, PropertiesReadBackAsTheyWereSet) {
  ElementRig rig("heterodetect",
                 "model=a.onnx device=GPU nireq=7 threshold=0.25 inference-interval=3 "
                 "inference-region=roi-list object-class=car ie-config=NUM_STREAMS=2 "
                 "pre-process-backend=cpu model-instance-id=x");
  gchar *model = nullptr, *device = nullptr;
  guint nireq = 0;
  gfloat threshold = 0;
  gint region = -1;
  g_object_get(rig.element(), "model", &model, "device", &device, "nireq", &nireq, "threshold",
               &threshold, "inference-region", &region, nullptr);
  EXPECT_STREQ(model, "a.onnx");
  EXPECT_STREQ(device, "GPU");
  EXPECT_EQ(nireq, 7u);
  EXPECT_EQ(threshold, 0.25f);
  EXPECT_EQ(region, 1);
  g_free(model);
  g_free(device);
}

}  // namespace
}  // namespace het::gst_test
