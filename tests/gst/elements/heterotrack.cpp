#include <gtest/gtest.h>

#include <gst/video/video.h>

#include <nlohmann/json.hpp>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr char kTrackCaps[] = "video/x-raw,format=BGR,width=320,height=240,framerate=25/1";

struct TrackedRegion {
  std::string type;
  guint x = 0;
  int id = 0;  ///< 0: none
};

std::vector<TrackedRegion> tracked_regions_of(GstBuffer* buffer) {
  std::vector<TrackedRegion> regions;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    TrackedRegion& found = regions.emplace_back();
    found.type = g_quark_to_string(region->roi_type);
    found.x = region->x;
    const GstStructure* params = gst_video_region_of_interest_meta_get_param(region, "object_id");
    if (params) gst_structure_get_int(params, "id", &found.id);
  }
  return regions;
}

/// Frames of a rig with regions of 30x40 pixels, and what came out.
class TrackRig {
 public:
  explicit TrackRig(const std::string& properties) : rig("heterotrack", properties) {
    rig.on_buffer = [this](GstBuffer* buffer) {
      frames.push_back(tracked_regions_of(buffer));
      return GST_FLOW_OK;
    };
  }
  void push(const std::vector<std::pair<std::string, guint>>& regions) {
    GstBuffer* buffer = rig.frame(number_++);
    for (const auto& [type, x] : regions)
      gst_buffer_add_video_region_of_interest_meta(buffer, type.c_str(), x, 100, 30, 40);
    ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  }

  ElementRig rig;
  std::vector<std::vector<TrackedRegion>> frames;

 private:
  int number_ = 0;
};

TEST(HeteroTrack, RegionsKeepTheirIdsWhateverTheirOrder) {
  for (const char* type : {"zero-term", "zero-term-imageless", "short-term-imageless"}) {
    TrackRig track("tracking-type=" + std::string(type));
    ASSERT_TRUE(track.rig.start(kTrackCaps));
    track.push({{"car", 10}, {"car", 200}});
    track.push({{"car", 195}, {"car", 14}});
    track.push({{"car", 18}, {"car", 190}, {"car", 100}});
    ASSERT_EQ(track.frames.size(), 3u);
    const int left = track.frames[0][0].id;
    const int right = track.frames[0][1].id;
    EXPECT_EQ(left, 1);
    EXPECT_EQ(right, 2);
    EXPECT_EQ(track.frames[1][0].id, right);
    EXPECT_EQ(track.frames[1][1].id, left);
    EXPECT_EQ(track.frames[2][0].id, left);
    EXPECT_EQ(track.frames[2][1].id, right);
    EXPECT_EQ(track.frames[2][2].id, 3);
    GstStructure* stats = nullptr;
    g_object_get(track.rig.element(), "stats", &stats, nullptr);
    guint64 frames = 0, objects = 0, ids = 0;
    EXPECT_TRUE(gst_structure_get(stats, "frames", G_TYPE_UINT64, &frames, "objects", G_TYPE_UINT64,
                                  &objects, "ids", G_TYPE_UINT64, &ids, nullptr));
    gst_structure_free(stats);
    EXPECT_EQ(frames, 3u);
    EXPECT_EQ(objects, 7u);
    EXPECT_EQ(ids, 3u);
  }
}

TEST(HeteroTrack, ShortTermFillsFramesWithoutDetections) {
  for (const auto& [type, filled] :
       {std::pair{"short-term-imageless", 1u}, std::pair{"zero-term", 0u}}) {
    TrackRig track("tracking-type=" + std::string(type));
    ASSERT_TRUE(track.rig.start(kTrackCaps));
    for (guint i = 0; i < 8; ++i) track.push({{"car", 20 + 6 * i}});
    track.push({});
    ASSERT_EQ(track.frames.back().size(), filled) << type;
    if (filled == 0) continue;
    EXPECT_EQ(track.frames.back()[0].type, "car");
    EXPECT_EQ(track.frames.back()[0].id, 1);
    EXPECT_NEAR(track.frames.back()[0].x, 68.0, 3.0) << "it moves on";
  }
}

TEST(HeteroTrack, ShortTermFillsFramesThatTheDetectorPasses) {
  const ScriptedDevice device;
  const ScratchFolder folder;
  PipelineRun run(
      "videotestsrc pattern=solid-color num-buffers=40 ! "
      "video/x-raw,width=320,height=240,framerate=25/1 ! heterodetect " +
      detector_properties() +
      " device=SCRIPTED inference-interval=10 ! queue ! heterotrack "
      "tracking-type=short-term-imageless ! heterometaconvert add-empty-results=true ! "
      "heterometapublish file-path=" +
      folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play(60).problem(), "");
  const json messages = json::parse(read_text(folder.file("out.json")));
  ASSERT_EQ(messages.size(), 40u);
  for (const json& message : messages) {
    ASSERT_EQ(message.value("objects", json::array()).size(), 1u) << message;
    EXPECT_EQ(message["objects"][0]["id"], 1);
  }
}

TEST(HeteroTrack, AnObjectThatLeavesThePictureIsNotFilledIn) {
  TrackRig track("tracking-type=short-term-imageless");
  ASSERT_TRUE(track.rig.start(kTrackCaps));
  for (guint i = 0; i < 6; ++i) track.push({{"car", 190 + 20 * i}});
  for (int i = 0; i < 4; ++i) track.push({});
  EXPECT_EQ(track.frames[6].size(), 1u);
  EXPECT_TRUE(track.frames.back().empty());
}

TEST(HeteroTrack, AFlushAndANewStreamBeginAnew) {
  TrackRig track("");
  ASSERT_TRUE(track.rig.start(kTrackCaps));
  track.push({{"car", 10}, {"car", 100}});
  track.push({{"car", 100}});
  EXPECT_EQ(track.frames[1][0].id, 2);
  track.rig.event(gst_event_new_flush_start());
  track.rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  track.rig.event(gst_event_new_segment(&segment));
  track.push({{"car", 100}});
  EXPECT_EQ(track.frames[2][0].id, 1);
  track.push({{"car", 100}, {"car", 200}});
  track.rig.event(gst_event_new_stream_start("another"));
  track.rig.set_caps(kTrackCaps);
  track.rig.event(gst_event_new_segment(&segment));
  track.push({{"car", 200}});
  EXPECT_EQ(track.frames[4][0].id, 1);
}

TEST(HeteroTrack, EventsKeepTheirPlaceAndSharedBuffersTheirMetadata) {
  TrackRig track("");
  ASSERT_TRUE(track.rig.start(kTrackCaps));
  GstBuffer* shared = track.rig.frame(0);
  gst_buffer_add_video_region_of_interest_meta(shared, "car", 10, 100, 30, 40);
  gst_buffer_ref(shared);
  const GstMemory* pixels = gst_buffer_peek_memory(shared, 0);
  const GstMemory* pixels_out = nullptr;
  track.rig.on_buffer = [&](GstBuffer* buffer) {
    pixels_out = gst_buffer_peek_memory(buffer, 0);
    track.frames.push_back(tracked_regions_of(buffer));
    return GST_FLOW_OK;
  };
  track.rig.marker(1);
  ASSERT_EQ(track.rig.push(shared), GST_FLOW_OK);
  track.rig.marker(2);
  EXPECT_EQ(track.frames[0][0].id, 1);
  EXPECT_EQ(tracked_regions_of(shared)[0].id, 0) << "another owner's buffer is not changed";
  EXPECT_EQ(pixels, pixels_out) << "no pixel is copied";
  gst_buffer_unref(shared);
  const std::vector<std::string> arrived = track.rig.arrived();
  EXPECT_EQ(std::vector<std::string>(arrived.end() - 3, arrived.end()),
            (std::vector<std::string>{"marker 1", "buffer 0", "marker 2"}));
}

TEST(HeteroTrack, MemoryThatCannotBeMappedIsNoObstacle) {
  TrackRig track("");
  ASSERT_TRUE(track.rig.start("video/x-raw(memory:Elsewhere),format=NV12,width=320,height=240"));
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_add_video_region_of_interest_meta(buffer, "car", 10, 100, 30, 40);
  GST_BUFFER_PTS(buffer) = 0;
  ASSERT_EQ(track.rig.push(buffer), GST_FLOW_OK);
  EXPECT_EQ(track.frames[0][0].id, 1);
}

TEST(HeteroTrack, ConfigReachesTheTracker) {
  TrackRig strict("");
  TrackRig lenient("config=tracking_per_class=false");
  for (TrackRig* track : {&strict, &lenient}) {
    ASSERT_TRUE(track->rig.start(kTrackCaps));
    track->push({{"car", 10}});
    track->push({{"truck", 12}});
  }
  EXPECT_EQ(strict.frames[1][0].id, 2);
  EXPECT_EQ(lenient.frames[1][0].id, 1);
  TrackRig broken("deepsort-trck-cfg=max_age=never");
  EXPECT_FALSE(broken.rig.start(kTrackCaps));
  const std::vector<std::string> errors = broken.rig.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("deepsort-trck-cfg"), std::string::npos) << errors[0];
}

TEST(HeteroTrack, DeepSortTellsObjectsApartByTheTensorsOfTheirRegions) {
  // The mean of each channel is what an object looks like. A red and a blue square change places
  // while nothing is detected; places alone would exchange their ids.
  const ScratchFolder folder;
  test::Graph graph;
  graph.input("picture", std::vector<int64_t>{1, 3, 8, 8})
      .node("GlobalAveragePool", {"picture"}, {"features"})
      .output("features");
  write_text(folder.file("reid.onnx"), test::model_file(graph.bytes()));
  for (const auto& [type, keeps] : {std::pair{"deep-sort", true}, std::pair{"zero-term", false}}) {
    PipelineRun run(
        "appsrc name=source format=time caps=\"video/x-raw,format=BGR,width=64,height=48,"
        "framerate=25/1\" ! heteroinference inference-region=roi-list model=" +
        folder.file("reid.onnx") +
        " ! heterotrack deepsort-trck-cfg=max_age=1,reid_max_age=20 tracking-type=" + type +
        " ! heterometaconvert add-empty-results=true ! heterometapublish file-path=" +
        folder.file("out.json") + " ! fakesink");
    constexpr int kTrackedFrames = 14;
    for (int frame = 0; frame < kTrackedFrames; ++frame) {
      GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 64 * 48 * 3, nullptr);
      GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(frame) * 40 * GST_MSECOND;
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_WRITE);
      const bool changed = frame >= 8;
      for (int y = 0; y < 48; ++y) {
        for (int x = 0; x < 64; ++x) {
          const bool is_red = (x < 32) != changed;
          guint8* pixel = map.data + (y * 64 + x) * 3;
          pixel[0] = is_red ? 0 : 255;
          pixel[1] = 0;
          pixel[2] = is_red ? 255 : 0;
        }
      }
      gst_buffer_unmap(buffer, &map);
      if (frame < 5 || frame >= 8) {
        gst_buffer_add_video_region_of_interest_meta(buffer, "square", 10, 14, 16, 20);
        gst_buffer_add_video_region_of_interest_meta(buffer, "square", 38, 14, 16, 20);
      }
      GstFlowReturn flow = GST_FLOW_ERROR;
      g_signal_emit_by_name(run.element("source"), "push-buffer", buffer, &flow);
      gst_buffer_unref(buffer);
    }
    GstFlowReturn flow = GST_FLOW_ERROR;
    g_signal_emit_by_name(run.element("source"), "end-of-stream", &flow);
    EXPECT_EQ(run.play().problem(), "");
    const json messages = json::parse(read_text(folder.file("out.json")));
    ASSERT_EQ(messages.size(), static_cast<size_t>(kTrackedFrames));
    const json& before = messages[4]["objects"];
    const json& after = messages[kTrackedFrames - 1]["objects"];
    ASSERT_TRUE(before[0].contains("id")) << before;
    EXPECT_EQ(before[0]["id"] == after[1]["id"] && before[1]["id"] == after[0]["id"], keeps)
        << type << before << after;
  }
}

/// A frame with objects of these places and confidences (none where it is negative).
void push_detections(TrackRig& track, int number,
                     const std::vector<std::pair<guint, float>>& found) {
  GstBuffer* buffer = track.rig.frame(number);
  for (const auto& [x, confidence] : found) {
    GstVideoRegionOfInterestMeta* region =
        gst_buffer_add_video_region_of_interest_meta(buffer, "car", x, 100, 30, 40);
    if (confidence < 0.0f) continue;
    const double left = static_cast<double>(x) / 320.0;
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, left, "x_max", G_TYPE_DOUBLE,
                                  left + 30.0 / 320.0, "y_min", G_TYPE_DOUBLE, 100.0 / 240.0,
                                  "y_max", G_TYPE_DOUBLE, 140.0 / 240.0, "confidence",
                                  G_TYPE_DOUBLE, static_cast<double>(confidence), nullptr));
  }
  ASSERT_EQ(track.rig.push(buffer), GST_FLOW_OK);
}

TEST(HeteroTrack, LowConfidencesGoOnWithKnownObjectsOrLeaveTheFrame) {
  for (const char* type : {"byte-track", "oc-sort"}) {
    TrackRig track("tracking-type=" + std::string(type));
    ASSERT_TRUE(track.rig.start(kTrackCaps));
    push_detections(track, 0, {{20, 0.9f}, {200, 0.8f}});
    push_detections(track, 1, {{90, 0.3f}, {22, 0.2f}, {140, 0.45f}, {201, 0.8f}, {270, 0.05f}});
    push_detections(track, 2, {{24, 0.9f}, {202, 0.1f}});
    ASSERT_EQ(track.frames.size(), 3u) << type;
    ASSERT_EQ(track.frames[1].size(), 2u) << type << ": what is below 0.5 and of no track is gone";
    EXPECT_EQ(track.frames[1][0].x, 22u);
    EXPECT_EQ(track.frames[1][0].id, 1);
    EXPECT_EQ(track.frames[1][1].x, 201u);
    EXPECT_EQ(track.frames[1][1].id, 2);
    ASSERT_EQ(track.frames[2].size(), 2u) << type;
    EXPECT_EQ(track.frames[2][1].id, 2);
  }
  TrackRig other("tracking-type=zero-term");
  ASSERT_TRUE(other.rig.start(kTrackCaps));
  push_detections(other, 0, {{20, 0.1f}, {200, 0.8f}});
  EXPECT_EQ(other.frames[0].size(), 2u) << "others take no object away";
}

TEST(HeteroTrack, AnObjectWithoutAConfidenceIsASureOne) {
  TrackRig track("tracking-type=byte-track");
  ASSERT_TRUE(track.rig.start(kTrackCaps));
  push_detections(track, 0, {{20, -1.0f}, {200, 0.3f}});
  ASSERT_EQ(track.frames[0].size(), 1u);
  EXPECT_EQ(track.frames[0][0].id, 1);
}

TEST(HeteroTrack, ThresholdsOfTheConfigReachTheTracker) {
  TrackRig track("tracking-type=oc-sort config=track_threshold=0.8,low_threshold=0.3,n_init=1");
  ASSERT_TRUE(track.rig.start(kTrackCaps));
  push_detections(track, 0, {{20, 0.95f}, {200, 0.7f}});
  push_detections(track, 1, {{21, 0.25f}});
  EXPECT_EQ(track.frames[0].size(), 1u);
  EXPECT_TRUE(track.frames[1].empty());
  for (const auto& [properties, word] :
       {std::pair{"tracking-type=zero-term config=track_threshold=0.8", "byte-track"},
        std::pair{"tracking-type=byte-track config=track_threshold=0.8,new_threshold=0.5",
                  "new_threshold 0.5"},
        std::pair{"tracking-type=byte-track config=low_threshold=low", "'low'"}}) {
    TrackRig broken(properties);
    EXPECT_FALSE(broken.rig.start(kTrackCaps)) << properties;
    const std::vector<std::string> errors = broken.rig.errors();
    ASSERT_EQ(errors.size(), 1u) << properties;
    EXPECT_NE(errors[0].find(word), std::string::npos) << errors[0];
  }
}

TEST(HeteroTrack, ALowThresholdOfTheDetectorReachesNobodyBehindTheTracker) {
  const ScratchFolder folder;
  const auto play = [&](const std::string& tracker) {
    PipelineRun run(
        "videotestsrc num-buffers=6 ! video/x-raw,width=320,height=192,framerate=25/1 ! "
        "heterodetect threshold=0.01 " +
        detector_properties() + " ! " + tracker +
        "heterometaconvert add-empty-results=true ! heterometapublish file-path=" +
        folder.file("out.json") + " ! fakesink");
    EXPECT_EQ(run.play().problem(), "");
    size_t low = 0;
    size_t all = 0;
    for (const json& message : json::parse(read_text(folder.file("out.json")))) {
      for (const json& object : message.value("objects", json::array())) {
        ++all;
        if (object["detection"]["confidence"].get<double>() < 0.5) ++low;
      }
    }
    return std::pair(all, low);
  };
  const auto [all, low] = play("");
  const auto [tracked, tracked_low] = play("heterotrack tracking-type=byte-track ! ");
  ASSERT_GT(low, 0u) << "the scene is too easy to show anything";
  EXPECT_EQ(tracked, all - low);
  EXPECT_EQ(tracked_low, 0u);
}

TEST(HeteroTrack, SaysOnceWhatIsMissingForDeepSort) {
  PipelineRun run(
      "videotestsrc num-buffers=5 ! video/x-raw,width=320,height=192 ! heterodetect "
      "threshold=0.01 " +
      detector_properties() + " ! heterotrack tracking-type=deep-sort device=GPU ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_EQ(outcome.problem(), "");
  ASSERT_EQ(outcome.warnings.size(), 2u);
  EXPECT_NE(outcome.warnings[0].text.find("device=GPU"), std::string::npos);
  EXPECT_NE(outcome.warnings[1].text.find("heteroinference"), std::string::npos);
}

}  // namespace
}  // namespace het::gst_test
