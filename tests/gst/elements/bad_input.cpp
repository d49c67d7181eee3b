/// What a user can get wrong: one clear error each, never a crash.

#include <gtest/gtest.h>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

constexpr char kBadInputCaps[] = "video/x-raw,format=I420,width=64,height=48,framerate=25/1";

/// Starts an element that cannot start; checks that it says so once and names what is wrong.
void expect_refused(const std::string& factory, const std::string& properties,
                    const std::vector<std::string>& words) {
  ElementRig rig(factory, properties);
  EXPECT_FALSE(rig.start(kBadInputCaps)) << properties;
  const std::vector<std::string> errors = rig.errors();
  ASSERT_EQ(errors.size(), 1u) << properties;
  for (const std::string& word : words) {
    EXPECT_NE(errors[0].find(word), std::string::npos) << "'" << word << "' in: " << errors[0];
  }
}

TEST(BadInput, NoModel) {
  expect_refused("heterodetect", "", {"model"});
}

TEST(BadInput, MissingModel) {
  expect_refused("heterodetect", "model=/nowhere/at-all.onnx", {"/nowhere/at-all.onnx"});
}

TEST(BadInput, TruncatedModel) {
  const ScratchFolder folder;
  const std::string whole = read_text(detector_model());
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    const std::string path = folder.file("cut.onnx");
    write_text(path, whole.substr(0, bytes));
    expect_refused("heterodetect", "model=" + path + " model-proc=" + detector_proc(),
                   {"cut.onnx"});
  }
}

TEST(BadInput, MissingModelProc) {
  expect_refused("heterodetect", "model=" + detector_model() + " model-proc=/nowhere/p.json",
                 {"/nowhere/p.json"});
}

TEST(BadInput, WrongModelProcKey) {
  const ScratchFolder folder;
  std::string proc = read_text(detector_proc());
  proc.replace(proc.find("color_space"), 11, "colour_room");
  write_text(folder.file("wrong.json"), proc);
  expect_refused("heterodetect",
                 "model=" + detector_model() + " model-proc=" + folder.file("wrong.json"),
                 {"wrong.json", "colour_room", "color_space"});
}

TEST(BadInput, UnknownConverter) {
  const ScratchFolder folder;
  std::string proc = read_text(detector_proc());
  proc.replace(proc.find("yolo_x"), 6, "yolo_y");
  write_text(folder.file("wrong.json"), proc);
  expect_refused("heterodetect",
                 "model=" + detector_model() + " model-proc=" + folder.file("wrong.json"),
                 {"yolo_y", "yolo_x"});
}

TEST(BadInput, MissingLabelsFile) {
  expect_refused("heterodetect", detector_properties() + " labels-file=/nowhere/labels.txt",
                 {"/nowhere/labels.txt"});
}

TEST(BadInput, WrongDevice) {
  expect_refused("heterodetect", detector_properties() + " device=GPV", {"GPV", "CPU"});
}

TEST(BadInput, WrongDeviceProperty) {
  expect_refused("heterodetect", detector_properties() + " ie-config=NUM_STREEMS=2",
                 {"NUM_STREEMS", "NUM_STREAMS"});
  expect_refused("heterodetect", detector_properties() + " ie-config=NUM_STREAMS", {"ie-config"});
}

TEST(BadInput, TwoWaysToAskForBatches) {
  expect_refused("heterodetect", detector_properties() + " batch-size=4 device=BATCH:CPU(2)",
                 {"batch-size=4", "BATCH:CPU(2)"});
}

TEST(BadInput, UnknownModelInstance) {
  expect_refused("heteroclassify", "model-instance-id=nobody", {"nobody"});
}

TEST(BadInput, TagsThatAreNoJson) {
  expect_refused("heterometaconvert", "tags=camera", {"camera", "tags"});
}

TEST(BadInput, UnwritableFile) {
  expect_refused("heterometapublish", "file-path=/nowhere/at/all.json", {"/nowhere/at/all.json"});
  expect_refused("heterometapublish", "file-path=\"\"", {"file-path"});
}

TEST(BadInput, IntervalThatIsNoNumber) {
  expect_refused("heterofpscounter", "interval=often", {"often"});
}

TEST(BadInput, ZeroSizeAndForeignRegions) {
  ScriptedDevice device;
  ElementRig rig("heteroclassify", "model=" + classifier_model() +
                                       " model-proc=" + classifier_proc() + " device=SCRIPTED");
  ASSERT_TRUE(rig.start(kBadInputCaps));
  GstBuffer* buffer = rig.frame(0, 100);
  const guint regions[][4] = {{10, 10, 0, 5},
                              {10, 10, 5, 0},
                              {64, 0, 10, 10},
                              {0, 48, 10, 10},
                              {63, 47, 100, 100},
                              {G_MAXUINT, G_MAXUINT, 4, 4},
                              {8, 8, G_MAXUINT, G_MAXUINT}};
  for (const auto& r : regions) {
    gst_buffer_add_video_region_of_interest_meta(buffer, "thing", r[0], r[1], r[2], r[3]);
  }
  ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_TRUE(rig.errors().empty());
  EXPECT_EQ(device.executions(), 2) << "two of the regions have a pixel in the picture";
  GstStructure* stats = nullptr;
  guint64 skipped = 0;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  gst_structure_get(stats, "regions-skipped", G_TYPE_UINT64, &skipped, nullptr);
  gst_structure_free(stats);
  EXPECT_EQ(skipped, 5u);
}

TEST(BadInput, BufferSmallerThanItsCaps) {
  ScriptedDevice device;
  ElementRig rig("heterodetect", detector_properties() + " device=SCRIPTED");
  ASSERT_TRUE(rig.start(kBadInputCaps));
  GstFlowReturn flow = rig.push(gst_buffer_new_allocate(nullptr, 100, nullptr));
  EXPECT_EQ(flow, GST_FLOW_ERROR);
  const std::vector<std::string> errors = rig.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("100 bytes"), std::string::npos) << errors[0];
}

TEST(BadInput, FrameBeforeCaps) {
  ScriptedDevice device;
  PipelineRun run("fakesrc num-buffers=1 ! heterodetect name=detect " + detector_properties() +
                  " device=SCRIPTED ! fakesink");
  EXPECT_FALSE(run.play(20).eos);
}

}  // namespace
}  // namespace het::gst_test
