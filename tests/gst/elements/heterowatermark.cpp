#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

TEST(HeteroWatermark, DrawsInPlaceAndOnlyWhereObjectsAre) {
  for (const char* format :
       {"NV12", "I420", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8"}) {
    ElementRig rig("heterowatermark", "");
    ASSERT_TRUE(
        rig.start(std::string("video/x-raw,width=161,height=121,framerate=25/1,format=") + format));
    std::vector<size_t> changed;
    std::vector<GstMemory*> memories;
    rig.on_buffer = [&](GstBuffer* buffer) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      changed.push_back(map.size -
                        static_cast<size_t>(std::count(map.data, map.data + map.size, 9)));
      gst_buffer_unmap(buffer, &map);
      memories.push_back(gst_buffer_peek_memory(buffer, 0));
      return GST_FLOW_OK;
    };
    GstBuffer* plain = rig.frame(0, 9);
    GstBuffer* marked = rig.frame(1, 9);
    const std::vector<GstMemory*> sent{gst_buffer_peek_memory(plain, 0),
                                       gst_buffer_peek_memory(marked, 0)};
    auto* region = gst_buffer_add_video_region_of_interest_meta(marked, "dog", 40, 50, 60, 40);
    gst_video_region_of_interest_meta_add_param(
        region,
        gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, 0.25, "x_max", G_TYPE_DOUBLE, 0.62,
                          "y_min", G_TYPE_DOUBLE, 0.41, "y_max", G_TYPE_DOUBLE, 0.74, "confidence",
                          G_TYPE_DOUBLE, 0.9, "label_id", G_TYPE_INT, 16, nullptr));
    EXPECT_EQ(rig.push(plain), GST_FLOW_OK);
    EXPECT_EQ(rig.push(marked), GST_FLOW_OK);
    ASSERT_EQ(changed.size(), 2u);
    EXPECT_EQ(changed[0], 0u) << format;
    EXPECT_GT(changed[1], 300u) << format;
    EXPECT_EQ(memories, sent) << format << " was copied";
  }
}

constexpr int kWidth = 160;
constexpr int kHeight = 120;

/// A picture of RGB levels after the element.
struct Picture {
  std::vector<guint8> levels;
  std::vector<guint8> at(int x, int y) const {
    const auto first = levels.begin() + 3 * (y * kWidth + x);
    return {first, first + 3};
  }
  /// Pixels of a rectangle that are not grey 60.
  int drawn(int left, int top, int width, int height) const {
    int count = 0;
    for (int y = top; y < top + height; ++y)
      for (int x = left; x < left + width; ++x) count += at(x, y) != kGrey ? 1 : 0;
    return count;
  }
  static inline const std::vector<guint8> kGrey{60, 60, 60};
};

/// A "dog" at 10,40 and a "cat" at 90,40, both 40x40, on grey; inside of each a chequered part
/// 20..27. Rotation is the dog's.
Picture shown(const std::string& properties, double rotation = 0.0) {
  ElementRig rig("heterowatermark", properties);
  EXPECT_TRUE(rig.start("video/x-raw,format=RGB,width=160,height=120,framerate=25/1"));
  Picture picture;
  rig.on_buffer = [&](GstBuffer* buffer) {
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    picture.levels.assign(map.data, map.data + map.size);
    gst_buffer_unmap(buffer, &map);
    return GST_FLOW_OK;
  };
  GstBuffer* buffer = rig.frame(0, 60);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (const int left : {30, 110}) {
    for (int y = 60; y < 68; ++y)
      for (int x = left; x < left + 8; ++x)
        std::fill_n(map.data + 3 * (y * kWidth + x), 3, static_cast<guint8>((x + y) % 2 * 255));
  }
  gst_buffer_unmap(buffer, &map);
  for (const auto& [label, left] : {std::pair{"dog", 10}, {"cat", 90}}) {
    auto* region = gst_buffer_add_video_region_of_interest_meta(
        buffer, label, static_cast<guint>(left), 40, 40, 40);
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, left / 160.0, "x_max",
                                  G_TYPE_DOUBLE, (left + 40) / 160.0, "y_min", G_TYPE_DOUBLE,
                                  40 / 120.0, "y_max", G_TYPE_DOUBLE, 80 / 120.0, "confidence",
                                  G_TYPE_DOUBLE, 0.9, "label_id", G_TYPE_INT, 16, "rotation",
                                  G_TYPE_DOUBLE, left == 10 ? rotation : 0.0, nullptr));
  }
  EXPECT_EQ(rig.push(buffer), GST_FLOW_OK);
  return picture;
}

TEST(HeteroWatermark, DisplCfgSaysHowObjectsAreDrawn) {
  const Picture plain = shown("");
  EXPECT_GT(plain.drawn(10, 20, 40, 20), 100) << "a label above the box";
  EXPECT_EQ(shown("displ-cfg=show-labels=false").drawn(0, 0, 160, 40), 0);
  const std::vector<guint8> blue{0, 0, 255};
  EXPECT_NE(plain.at(10, 60), blue);
  EXPECT_EQ(shown("displ-cfg=color-idx=2").at(10, 60), blue);
  EXPECT_EQ(plain.at(16, 60), Picture::kGrey);
  EXPECT_EQ(shown("displ-cfg=\"thickness=9,color-idx=2\"").at(16, 60), blue);
  EXPECT_LT(plain.drawn(0, 0, 160, 40), shown("displ-cfg=font-scale=0.8").drawn(0, 0, 160, 40));
  EXPECT_GT(plain.drawn(0, 0, 160, 40), shown("displ-cfg=draw-txt-bg=false").drawn(0, 0, 160, 40));
  EXPECT_NE(plain.levels, shown("displ-cfg=font-type=script_complex").levels);
  const Picture named = shown("displ-cfg=\"ff-custom-txt=Hello,text-x=20,text-y=110\"");
  EXPECT_EQ(plain.drawn(20, 90, 100, 25), 0);
  EXPECT_GT(named.drawn(20, 90, 100, 25), 20);
}

TEST(HeteroWatermark, DisplCfgChoosesObjects) {
  for (const char* choice : {"show-roi=cat:bird", "hide-roi=dog"}) {
    const Picture picture = shown(std::string("displ-cfg=") + choice);
    EXPECT_EQ(picture.at(10, 60), Picture::kGrey) << choice;
    EXPECT_NE(picture.at(90, 60), Picture::kGrey) << choice;
  }
  for (const char* choice : {",show-blur-roi=dog", ",hide-blur-roi=cat"}) {
    const Picture picture = shown(std::string("displ-cfg=\"enable-blur=true") + choice + "\"");
    EXPECT_LT(picture.at(31, 60)[0], 200) << choice << ": white before";
    EXPECT_EQ(picture.at(111, 60)[0], 255) << choice;
  }
  EXPECT_EQ(shown("displ-cfg=show-blur-roi=dog").at(31, 60)[0], 255) << "only with enable-blur";
}

TEST(HeteroWatermark, ObbFalseDrawsUprightRectangles) {
  constexpr double kEighth = 0.785398;
  EXPECT_EQ(shown("displ-cfg=show-labels=false", kEighth).at(10, 42), Picture::kGrey);
  EXPECT_NE(shown("displ-cfg=show-labels=false obb=false", kEighth).at(10, 42), Picture::kGrey);
}

TEST(HeteroWatermark, AWrongDisplCfgIsAnError) {
  for (const char* config : {"show-lables=true", "thickness=0", "font-scale=big", "color-idx=3"}) {
    ElementRig rig("heterowatermark", std::string("displ-cfg=") + config);
    EXPECT_FALSE(rig.start("video/x-raw,format=RGB,width=160,height=120,framerate=25/1"));
    const std::vector<std::string> errors = rig.errors();
    ASSERT_EQ(errors.size(), 1u) << config;
    EXPECT_NE(errors[0].find("displ-cfg"), std::string::npos) << errors[0];
  }
}

/// The pixels of a frame with one region of this type, drawn on in this format.
std::vector<guint8> labelled(const std::string& type, const std::string& format) {
  const ScratchFolder folder;
  const nlohmann::json region = {{"x", 10}, {"y", 60}, {"w", 40}, {"h", 40}, {"roi_type", type}};
  write_text(folder.file("roi.json"),
             nlohmann::json::array({{{"objects", nlohmann::json::array({region})}}}).dump());
  PipelineRun run(
      "videotestsrc pattern=black num-buffers=1 ! video/x-raw,width=240,height=120,format=" +
      format + " ! heteroattachroi file-path=" + folder.file("roi.json") +
      " ! heterowatermark ! fakesink name=end");
  std::vector<guint8> pixels;
  run.on_buffer("end", [&](GstBuffer* buffer) {
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    pixels.assign(map.data, map.data + map.size);
    gst_buffer_unmap(buffer, &map);
  });
  EXPECT_EQ(run.play().problem(), "");
  return pixels;
}

TEST(HeteroWatermark, LabelsAreUtf8) {
  for (const char* format : {"NV12", "I420", "RGB", "BGRx", "RGBA", "RGBP", "GRAY8"}) {
    std::set<std::vector<guint8>> pictures;
    for (const char* type :
         {"Hündchen", "Hundchen", "H??ndchen", "собака", "σκύλος", "犬", "猫", "🐕"})
      pictures.insert(labelled(type, format));
    EXPECT_EQ(pictures.size(), 8u) << format << ": two labels look the same";
  }
  EXPECT_EQ(labelled("a\nb", "NV12"), labelled("a b", "NV12"));
  EXPECT_EQ(labelled("a\u0001b", "NV12"), labelled("a\uFFFDb", "NV12"));
  EXPECT_NE(labelled(std::string(100'000, 'm'), "NV12"), labelled("m", "NV12"));
}

TEST(HeteroWatermark, TheFrameRateOfTheCounterIsWritten) {
  for (const char* counter : {"", "! heterofpscounter "}) {
    int drawn = 0;
    PipelineRun run(std::string("videotestsrc pattern=black num-buffers=3 ! "
                                "video/x-raw,format=RGB,width=160,height=120 ! heterowatermark "
                                "displ-avgfps=true device=GPU ") +
                    counter + "! fakesink name=end");
    run.on_buffer("end", [&](GstBuffer* buffer) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      drawn = static_cast<int>(
          map.size - static_cast<size_t>(std::count(map.data, map.data + map.size, guint8{0})));
      gst_buffer_unmap(buffer, &map);
    });
    const Outcome outcome = run.play();
    EXPECT_EQ(outcome.problem(), "");
    EXPECT_EQ(drawn > 100, *counter != 0) << drawn;
    ASSERT_EQ(outcome.warnings.size(), 1u);
    EXPECT_NE(outcome.warnings[0].text.find("device=GPU"), std::string::npos);
  }
}

}  // namespace
}  // namespace het::gst_test
