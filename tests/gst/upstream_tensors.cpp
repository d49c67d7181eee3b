/// Tensors for GStreamer's decoders (1.28): heteroinference says in its caps what frames carry, and
/// the decoders find objects and classes in it.
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "pipeline_run.h"
#include "tensor_model.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

#define HET_NEEDS_TENSOR_CAPS()                                                 \
  if (!GST_CHECK_VERSION(1, 28, 0))                                             \
  GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR \
               << " negotiates no tensors (1.28 does)"

constexpr int kClasses = 5;
constexpr int kCells = 84;  // of 64x64: 8x8, 4x4 and 2x2

/// YOLOv8's rows: one object of class 2 in cell 7 of a picture of 64x64, a plane a value.
std::vector<float> planes_with_object(int values, float x, float y, float width, float height) {
  std::vector<float> planes(static_cast<size_t>(values * kCells));
  const auto at = [&](int plane) -> float& {
    return planes[static_cast<size_t>(plane * kCells + 7)];
  };
  at(0) = x;
  at(1) = y;
  at(2) = width;
  at(3) = height;
  at(4 + 2) = 0.875f;
  return planes;
}

/// The same, a row a cell.
std::vector<float> rows_of(const std::vector<float>& planes) {
  const size_t values = planes.size() / kCells;
  std::vector<float> rows(planes.size());
  for (size_t v = 0; v < values; ++v)
    for (size_t n = 0; n < kCells; ++n) rows[n * values + v] = planes[v * kCells + n];
  return rows;
}

std::string write_yolo(const ScratchFolder& folder) {
  return write_constant_model(
      folder, "yolo", 64, 64,
      {{"output0", {1, 4 + kClasses, kCells}, planes_with_object(4 + kClasses, 32, 32, 16, 8)}});
}

std::string source(int frames = 2) {
  return "videotestsrc num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=RGB,width=320,height=192,framerate=25/1 ! ";
}

/// The messages of heterometaconvert for what `elements` leave on frames of 320x192.
std::vector<json> messages_behind(const ScratchFolder& folder, const std::string& elements) {
  const std::string file = folder.file("out.json");
  PipelineRun run(source() + elements +
                  " ! heterometaconvert ! heterometapublish file-format=json-lines file-path=" +
                  file + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  std::vector<json> messages;
  const std::string text = read_text(file);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    messages.push_back(json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return messages;
}

std::string inference(const std::string& model, const std::string& descriptor) {
  return "heteroinference name=inference model=" + model + " model-proc=" + descriptor + " ";
}

/// The text of the caps behind the element `name`.
std::string caps_text(const PipelineRun& run, const std::string& name) {
  GstCaps* caps = run.caps(name);
  if (caps == nullptr) return "";
  gchar* text = gst_caps_to_string(caps);
  std::string result = text;
  g_free(text);
  gst_caps_unref(caps);
  return result;
}

/// The only object of each of two messages.
json only_object(const std::vector<json>& messages) {
  EXPECT_EQ(messages.size(), 2u);
  if (messages.empty() || !messages[0].contains("objects") || messages[0]["objects"].size() != 1)
    return {{"x", -1}, {"y", -1}, {"w", -1}, {"h", -1}};
  return messages[0]["objects"][0];
}

void expect_place(const json& object, int x, int y, int width, int height) {
  EXPECT_NEAR(object["x"].get<int>(), x, 1) << object;
  EXPECT_NEAR(object["y"].get<int>(), y, 1) << object;
  EXPECT_NEAR(object["w"].get<int>(), width, 1) << object;
  EXPECT_NEAR(object["h"].get<int>(), height, 1) << object;
}

TEST(UpstreamTensors, TheCapsSayWhatFramesCarry) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  PipelineRun run(source() +
                  inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
                  " ! fakesink name=sink");
  std::string caps;
  run.on_buffer("sink", [&](GstBuffer*) { caps = caps_text(run, "sink"); });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_NE(caps.find("tensors=(structure)"), std::string::npos) << caps;
  EXPECT_NE(caps.find("yolo-v8-out"), std::string::npos) << caps;
  EXPECT_NE(caps.find("col-major"), std::string::npos) << caps;
  EXPECT_NE(caps.find("1\\,\\ 9\\,\\ 84"), std::string::npos) << caps;
}

TEST(UpstreamTensors, TheYoloDecoderPlacesBoxesInFramesOfAnySize) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string model = write_yolo(folder);
  // Stretched: 5 columns and 3 rows of the frame for one of the model's picture.
  expect_place(only_object(messages_behind(
                   folder, inference(model, write_descriptor(folder, "s", "yolo_v8")) +
                               " ! tensordecodebin")),
               120, 84, 80, 24);
  // Letterboxed: 5 of both, 64 - 38.4 rows of padding halved above.
  expect_place(
      only_object(messages_behind(
          folder, inference(model, write_descriptor(folder, "l", "yolo_v8", "aspect-ratio")) +
                      " ! tensordecodebin")),
      120, 75, 80, 40);
}

TEST(UpstreamTensors, RowsOfObjectsBecomePlanes) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string model =
      write_constant_model(folder, "rows", 64, 64,
                           {{"output0",
                             {1, kCells, 4 + kClasses},
                             rows_of(planes_with_object(4 + kClasses, 32, 32, 16, 8))}});
  expect_place(only_object(messages_behind(
                   folder, inference(model, write_descriptor(folder, "d", "yolo_v8")) +
                               " ! tensordecodebin")),
               120, 84, 80, 24);
}

TEST(UpstreamTensors, TheSegmentationDecoderFindsMasks) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  constexpr int kMasks = 2;
  std::vector<float> planes = planes_with_object(4 + kClasses + kMasks, 32, 32, 16, 16);
  planes[static_cast<size_t>((4 + kClasses) * kCells + 7)] = 4.0f;
  // The left half of the picture is of the object.
  std::vector<float> prototypes(static_cast<size_t>(kMasks * 16 * 16), -1.0f);
  for (size_t i = 0; i < 16 * 16; ++i) prototypes[i] = i % 16 < 8 ? 1.0f : -1.0f;
  const std::string model =
      write_constant_model(folder, "seg", 64, 64,
                           {{"output1", {1, kMasks, 16, 16}, prototypes},
                            {"output0", {1, 4 + kClasses + kMasks, kCells}, planes}});
  const std::vector<json> messages = messages_behind(
      folder, inference(model, write_descriptor(folder, "d", "yolo_v8_seg", "aspect-ratio")) +
                  " ! tensordecodebin");
  expect_place(only_object(messages), 120, 55, 80, 80);
}

TEST(UpstreamTensors, TheSsdDecoderFindsObjectsByNames) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string model =
      write_constant_model(folder, "ssd", 24, 32,
                           {{"detection_boxes", {1, 2, 4}, {0.25f, 0.125f, 0.75f, 0.5f}},
                            {"detection_classes", {1, 2}, {1.0f, 1.0f}},
                            {"detection_scores", {1, 2}, {0.875f}},
                            {"num_detections", {1}, {2.0f}}});
  expect_place(
      only_object(messages_behind(folder, "heteroinference model=" + model + " ! tensordecodebin")),
      40, 48, 120, 96);
}

TEST(UpstreamTensors, TheClassifierDecoderFindsClasses) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string model =
      write_constant_model(folder, "classes", 24, 32, {{"probabilities", {1, 3}, {0.125f, 0.75f}}});
  write_text(folder.file("labels.txt"), "one\ntwo\nthree\n");
  const std::vector<json> messages = messages_behind(
      folder, inference(model, write_descriptor(folder, "d", "label")) +
                  " ! classifiertensordecoder labels-file=" + folder.file("labels.txt"));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].dump().find("\"two\""), std::string::npos) << messages[0];
}

/// What the model's element says, alone, where `behind` does not take its tensors.
std::string refusal(const std::string& converter, const std::string& behind) {
  const ScratchFolder folder;
  PipelineRun run(source() +
                  inference(write_yolo(folder), write_descriptor(folder, "d", converter)) + " ! " +
                  behind + " ! fakesink");
  const Outcome outcome = run.play();
  const std::vector<PostedError> errors = outcome.errors_of("inference");
  EXPECT_EQ(errors.size(), 1u) << outcome.problem();
  return errors.empty() ? "" : errors[0].text;
}

TEST(UpstreamTensors, AnElementThatWantsOtherTensorsIsAnErrorThatSaysWhich) {
  HET_NEEDS_TENSOR_CAPS();
  const std::string text = refusal("yolo_v8", "ssdtensordec");
  EXPECT_NE(text.find("not the tensors of model"), std::string::npos) << text;
  EXPECT_NE(text.find("group 'yolo-v8-out' (yolo-v8-out float32[1,9,84] col-major)"),
            std::string::npos)
      << text;
}

TEST(UpstreamTensors, ADecodebinWithoutADecoderIsTheSameError) {
  HET_NEEDS_TENSOR_CAPS();
  const std::string text = refusal("raw_data_copy", "tensordecodebin");
  EXPECT_NE(text.find("not the tensors of model"), std::string::npos) << text;
  EXPECT_NE(text.find("(output0 float32[1,9,84] row-major)"), std::string::npos) << text;
}

TEST(UpstreamTensors, UpstreamHearsNothingOfThem) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  PipelineRun run(source() + "identity name=before ! " +
                  inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
                  " ! tensordecodebin ! fakesink name=sink");
  std::string before;
  std::string asked;
  run.on_buffer("sink", [&](GstBuffer*) {
    before = caps_text(run, "inference");
    GstPad* pad = gst_element_get_static_pad(run.element("inference"), "sink");
    GstCaps* caps = gst_pad_query_caps(pad, nullptr);
    gchar* text = gst_caps_to_string(caps);
    asked = text;
    g_free(text);
    gst_caps_unref(caps);
    gst_object_unref(pad);
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_NE(before, "");
  EXPECT_EQ(before.find("tensors"), std::string::npos) << before;
  EXPECT_NE(asked.find("NV12"), std::string::npos) << asked;
  EXPECT_EQ(asked.find("tensors"), std::string::npos) << asked;
}

TEST(UpstreamTensors, TwoModelsInALineAreTwoGroups) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string classes =
      write_constant_model(folder, "classes", 24, 32, {{"probabilities", {1, 3}, {0.125f, 0.75f}}});
  PipelineRun run(source() +
                  inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
                  " ! heteroinference model=" + classes +
                  " model-proc=" + write_descriptor(folder, "c", "label") +
                  " ! tensordecodebin name=decoders ! fakesink name=sink");
  guint decoders = 0;
  run.on_buffer("sink", [&](GstBuffer*) {
    decoders = static_cast<guint>(GST_BIN_NUMCHILDREN(run.element("decoders")));
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(decoders, 2u);
}

TEST(UpstreamTensors, APropertyThatChangesWhatFramesCarryChangesTheCaps) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  PipelineRun run(source(6) +
                  inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
                  " nireq=1 ! fakesink name=sink sync=false");
  std::vector<bool> told;
  GObject* const object = G_OBJECT(run.element("inference"));
  run.on_buffer("inference", [&, frame = 0](GstBuffer*) mutable {
    if (frame == 2) gst_util_set_object_arg(object, "inference-region", "roi-list");
    if (frame == 4) gst_util_set_object_arg(object, "inference-region", "full-frame");
    ++frame;
  });
  run.on_buffer("sink", [&](GstBuffer*) {
    told.push_back(caps_text(run, "sink").find("tensors") != std::string::npos);
  });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(told, (std::vector<bool>{true, true, false, false, true, true}));
}

TEST(UpstreamTensors, ANewModelHasNewCaps) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  const std::string classes =
      write_constant_model(folder, "classes", 24, 32, {{"probabilities", {1, 3}, {0.125f, 0.75f}}});
  PipelineRun run(source() +
                  inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
                  " ! fakesink name=sink");
  std::string caps;
  run.on_buffer("sink", [&](GstBuffer*) { caps = caps_text(run, "sink"); });
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_NE(caps.find("yolo-v8-out"), std::string::npos) << caps;
  g_object_set(run.element("inference"), "model", classes.c_str(), "model-proc",
               write_descriptor(folder, "c", "label").c_str(), nullptr);
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_NE(caps.find("classification-generic-softmaxed-out"), std::string::npos) << caps;
  EXPECT_EQ(caps.find("yolo-v8-out"), std::string::npos) << caps;
}

TEST(UpstreamTensors, OtherSizesAreOtherCapsWithTheSameTensors) {
  HET_NEEDS_TENSOR_CAPS();
  const ScratchFolder folder;
  // What frames of the second half say comes from their own size.
  PipelineRun run(
      "concat name=both ! " +
      inference(write_yolo(folder), write_descriptor(folder, "d", "yolo_v8")) +
      " ! tensordecodebin ! heterometaconvert ! heterometapublish file-format=json-lines "
      "file-path=" +
      folder.file("out.json") +
      " ! fakesink name=sink "
      "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=320,height=192 ! both. "
      "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=640,height=64 ! both.");
  EXPECT_EQ(run.play().problem(), "");
  const std::string text = read_text(folder.file("out.json"));
  const size_t end = text.find('\n');
  ASSERT_NE(end, std::string::npos);
  expect_place(json::parse(text.substr(0, end))["objects"][0], 120, 84, 80, 24);
  expect_place(json::parse(text.substr(end))["objects"][0], 240, 28, 160, 8);
}

}  // namespace
}  // namespace het::gst_test
