#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr char kAttachroiCaps[] = "video/x-raw,format=BGR,width=200,height=100,framerate=25/1";

using Regions = std::vector<std::vector<std::string>>;

/// "type x,y wxh id" of each region of each frame.
Regions attach(const std::string& properties, int frames) {
  const ScratchFolder folder;
  PipelineRun run("videotestsrc num-buffers=" + std::to_string(frames) +
                  " ! video/x-raw,width=200,height=100,framerate=25/1 ! heteroattachroi " +
                  properties +
                  " ! heterometaconvert add-empty-results=true ! heterometapublish file-path=" +
                  folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play(60).problem(), "");
  Regions regions;
  for (const json& message : json::parse(read_text(folder.file("out.json")))) {
    std::vector<std::string>& of_frame = regions.emplace_back();
    for (const json& object : message.value("objects", json::array())) {
      const auto number = [&](const char* key) { return std::to_string(object.value(key, 0)); };
      of_frame.push_back(object.value("roi_type", "") + " " + number("x") + "," + number("y") +
                         " " + number("w") + "x" + number("h") + " " + number("id"));
    }
  }
  return regions;
}

constexpr char kTwoFrames[] = R"([
  {"timestamp": 80000000, "objects": [{"x": 10, "y": 20, "w": 30, "h": 40, "roi_type": "a"},
    {"x": 150, "y": 50, "w": 500, "h": 500, "roi_type": "clipped"},
    {"x": 300, "y": 0, "w": 5, "h": 5, "roi_type": "outside"}]},
  {"timestamp": 0, "objects": [{"x": 1, "y": 1, "w": 1, "h": 1, "id": 4, "detection": {
    "bounding_box": {"x_min": 0.25, "x_max": 0.75, "y_min": 0.5, "y_max": 1}, "confidence": 0.5,
    "label": "b"}}]}])";

TEST(HeteroAttachRoi, ARegionForEveryFrameOrTheWholePicture) {
  EXPECT_EQ(attach("roi=10,20,50,80", 2), (Regions{{" 10,20 40x60 0"}, {" 10,20 40x60 0"}}));
  EXPECT_EQ(attach("", 1), (Regions{{" 0,0 200x100 0"}}));
}

TEST(HeteroAttachRoi, TheFileGivesEachFrameItsRegions) {
  const ScratchFolder folder;
  write_text(folder.file("roi.json"), kTwoFrames);
  const std::string file = "file-path=" + folder.file("roi.json");
  const std::vector<std::string> first{"a 10,20 30x40 0", "clipped 150,50 50x50 0"};
  const std::vector<std::string> second{"b 50,50 100x50 4"};
  EXPECT_EQ(attach(file, 3), (Regions{first, second, {}}));
  EXPECT_EQ(attach(file + " mode=in-loop", 3), (Regions{first, second, first}));
  EXPECT_EQ(attach(file + " mode=timestamp", 3), (Regions{second, {}, first}));
}

TEST(HeteroAttachRoi, ErrorsSayWhatIsWrong) {
  const ScratchFolder folder;
  write_text(folder.file("cut.json"), "[{\"objects\": [");
  write_text(folder.file("size.json"), R"([{}, {"objects": [{"x": 1, "y": 1, "w": "wide"}]}])");
  write_text(folder.file("time.json"), R"([{"objects": []}])");
  write_text(folder.file("negative.json"), R"([{"objects": [{"x": -5, "y": 1, "w": 2, "h": 3}]}])");
  write_text(folder.file("absent_size.json"), R"([{"objects": [{"x": 1, "y": 1, "w": 2}]}])");
  write_text(
      folder.file("box.json"),
      R"([{"objects": [{"detection": {"bounding_box": {"x_min": 0.5, "x_max": 0.25, "y_min": 0, "y_max": 1}}}]}])");
  for (const auto& [properties, word] :
       {std::pair<std::string, std::string>{"roi=1,2,3", "roi"},
        {"file-path=" + folder.file("negative.json"), "\"x\" is -5, and has to be at least 0"},
        {"file-path=" + folder.file("absent_size.json"), "\"h\" is missing"},
        {"file-path=" + folder.file("box.json"), "x_min 0.5 and x_max 0.25"},
        {"roi=50,50,10,80", "second corner"},
        {"file-path=" + folder.file("absent.json"), "absent.json"},
        {"file-path=" + folder.file("cut.json"), "no JSON array"},
        {"file-path=" + folder.file("size.json"), "\"w\" is \"wide\", which is no number"},
        {"file-path=" + folder.file("size.json"), "entry 1"},
        {"mode=timestamp file-path=" + folder.file("time.json"), "no timestamp"}}) {
    ElementRig rig("heteroattachroi", properties);
    EXPECT_FALSE(rig.start(kAttachroiCaps)) << properties;
    const std::vector<std::string> errors = rig.errors();
    ASSERT_EQ(errors.size(), 1u) << properties;
    EXPECT_NE(errors[0].find(word), std::string::npos) << errors[0];
  }
}

}  // namespace
}  // namespace het::gst_test
