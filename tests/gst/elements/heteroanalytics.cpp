#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr char kAnalyticsCaps[] = "video/x-raw,format=BGR,width=320,height=240,framerate=25/1";
/// The left half.
constexpr char kYard[] =
    R"([{"id":"yard","points":[{"x":0,"y":0},{"x":160,"y":0},{"x":160,"y":240},{"x":0,"y":240}]}])";
/// Upwards in the middle: forward is to the right.
constexpr char kGate[] = R"([{"id":"gate","points":[{"x":160,"y":240},{"x":160,"y":0}]}])";

/// An object of 20x40 pixels whose foot is here.
struct Foot {
  std::optional<int> id;
  int x = 0;
  int y = 120;
  std::optional<guint> age_frames = {};
};

void add_object(GstBuffer* buffer, const Foot& foot) {
  auto* region = gst_buffer_add_video_region_of_interest_meta(
      buffer, "car", static_cast<guint>(foot.x - 10), static_cast<guint>(foot.y - 40), 20, 40);
  GstStructure* params = gst_structure_new(
      "detection", "x_min", G_TYPE_DOUBLE, (foot.x - 10) / 320.0, "x_max", G_TYPE_DOUBLE,
      (foot.x + 10) / 320.0, "y_min", G_TYPE_DOUBLE, (foot.y - 40) / 240.0, "y_max", G_TYPE_DOUBLE,
      foot.y / 240.0, "confidence", G_TYPE_DOUBLE, 0.9, nullptr);
  if (foot.age_frames)
    gst_structure_set(params, "age-frames", G_TYPE_UINT, *foot.age_frames, nullptr);
  gst_video_region_of_interest_meta_add_param(region, params);
  if (foot.id)
    gst_video_region_of_interest_meta_add_param(
        region, gst_structure_new("object_id", "id", G_TYPE_INT, *foot.id, nullptr));
}

/// "zone, zone_id=(string)yard, ..." of each object of a frame.
std::vector<std::vector<std::string>> places_of(GstBuffer* buffer) {
  std::vector<std::vector<std::string>> places;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    std::vector<std::string>& texts = places.emplace_back();
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    for (const GList* link = region->params; link; link = link->next) {
      const auto* params = static_cast<const GstStructure*>(link->data);
      if (!gst_structure_has_name(params, "zone") && !gst_structure_has_name(params, "tripwire"))
        continue;
      gchar* text = gst_structure_to_string(params);
      texts.emplace_back(text);
      g_free(text);
    }
  }
  return places;
}

/// The element between two pads, with what it says.
class AnalyticsRig {
 public:
  explicit AnalyticsRig(const std::string& zones = kYard, const std::string& tripwires = kGate)
      : rig("heteroanalytics", "") {
    g_object_set(rig.element(), "zones", zones.c_str(), "tripwires", tripwires.c_str(), nullptr);
    rig.on_buffer = [this](GstBuffer* buffer) {
      frames.push_back(places_of(buffer));
      return GST_FLOW_OK;
    };
  }
  void push(int number, const std::vector<Foot>& feet) {
    GstBuffer* buffer = rig.frame(number);
    for (const Foot& foot : feet) add_object(buffer, foot);
    ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  }
  void set(const char* property, const std::string& text) {
    g_object_set(rig.element(), property, text.c_str(), nullptr);
  }
  std::string get(const char* property) {
    gchar* text = nullptr;
    g_object_get(rig.element(), property, &text, nullptr);
    const std::string value = text;
    g_free(text);
    return value;
  }
  guint64 frames_analysed() {
    GstStructure* stats = nullptr;
    g_object_get(rig.element(), "stats", &stats, nullptr);
    guint64 value = 0;
    gst_structure_get_uint64(stats, "frames-analysed", &value);
    gst_structure_free(stats);
    return value;
  }
  /// A number of the n-th entry of an array in stats.
  guint64 stat(const char* array, guint index, const char* field) {
    GstStructure* stats = nullptr;
    g_object_get(rig.element(), "stats", &stats, nullptr);
    guint64 value = G_MAXUINT64;
    const GValue* entries = gst_structure_get_value(stats, array);
    if (entries && index < gst_value_array_get_size(entries))
      gst_structure_get_uint64(gst_value_get_structure(gst_value_array_get_value(entries, index)),
                               field, &value);
    gst_structure_free(stats);
    return value;
  }
  /// Element messages since the last call, and texts of warnings.
  std::vector<std::string> told(GstMessageType type = GST_MESSAGE_ELEMENT) {
    std::vector<std::string> texts;
    GstBus* bus = gst_element_get_bus(rig.element());
    while (GstMessage* message = gst_bus_pop_filtered(
               bus, static_cast<GstMessageType>(GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
      if (GST_MESSAGE_TYPE(message) == type && type == GST_MESSAGE_ELEMENT) {
        gchar* text = gst_structure_to_string(gst_message_get_structure(message));
        texts.emplace_back(text);
        g_free(text);
      } else if (GST_MESSAGE_TYPE(message) == type) {
        GError* warning = nullptr;
        gst_message_parse_warning(message, &warning, nullptr);
        texts.emplace_back(warning->message);
        g_error_free(warning);
      }
      gst_message_unref(message);
    }
    gst_object_unref(bus);
    return texts;
  }

  ElementRig rig;
  std::vector<std::vector<std::vector<std::string>>> frames;
};

TEST(HeteroAnalytics, ObjectsMessagesAndStatsSayWhoIsWhere) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  analytics.push(1, {{1, 120}, {2, 300}});
  analytics.push(2, {{1, 200}, {2, 300}});
  using Texts = std::vector<std::string>;
  ASSERT_EQ(analytics.frames.size(), 3u);
  EXPECT_EQ(analytics.frames[1],
            (std::vector<Texts>{{"zone, zone_id=(string)yard, enter-time=(guint64)0, "
                                 "dwell=(guint64)40000000;"},
                                {}}));
  EXPECT_EQ(analytics.frames[2], (std::vector<Texts>{{"tripwire, direction=(int)1, "
                                                      "time=(guint64)60000000, "
                                                      "tripwire_id=(string)gate;"},
                                                     {}}));
  EXPECT_EQ(analytics.told(),
            (Texts{"hetero-zone, zone-id=(string)yard, event=(string)enter, time=(guint64)0, "
                   "object-id=(int)1, label=(string)car;",
                   "hetero-tripwire, tripwire-id=(string)gate, direction=(int)1, "
                   "time=(guint64)60000000, object-id=(int)1, label=(string)car;",
                   "hetero-zone, zone-id=(string)yard, event=(string)exit, "
                   "dwell=(guint64)40000000, time=(guint64)40000000, object-id=(int)1, "
                   "label=(string)car;"}));
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), 1u);
  EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), 0u);
  EXPECT_EQ(analytics.stat("zones", 0, "dwell"), 40'000'000u);
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 1u);
  EXPECT_EQ(analytics.stat("tripwires", 0, "backward"), 0u);
  EXPECT_TRUE(analytics.told(GST_MESSAGE_WARNING).empty());
}

TEST(HeteroAnalytics, MessagesCanBeLeftOut) {
  AnalyticsRig analytics;
  g_object_set(analytics.rig.element(), "post-messages", FALSE, nullptr);
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  EXPECT_TRUE(analytics.told().empty());
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), 1u);
}

TEST(HeteroAnalytics, ACrowdIsToldAtItsBeginAndItsEnd) {
  AnalyticsRig analytics(
      R"([{"id":"yard","type":"circle","center":{"x":100,"y":120},"radius":50,"max-objects":1,
           "crowd-time":0.1}])");
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  for (int i = 0; i < 6; ++i) analytics.push(i, {{1, 100}, {2, 120}});
  analytics.push(6, {{1, 100}, {2, 300}});
  std::vector<std::string> crowds;
  for (const std::string& text : analytics.told()) {
    if (text.rfind("hetero-crowd", 0) == 0) crowds.push_back(text);
  }
  EXPECT_EQ(crowds,
            (std::vector<std::string>{"hetero-crowd, zone-id=(string)yard, event=(string)begin, "
                                      "occupancy=(guint64)2, time=(guint64)120000000;",
                                      "hetero-crowd, zone-id=(string)yard, event=(string)end, "
                                      "occupancy=(guint64)1, time=(guint64)240000000;"}));
}

TEST(HeteroAnalytics, TheEvaluationPointDecides) {
  // The foot is in the lower half, the centre in the upper one.
  constexpr char kLower[] =
      R"([{"id":"a","points":[{"x":0,"y":120},{"x":320,"y":120},{"x":320,"y":240}]}])";
  for (const auto& [point, found] : {std::pair{"bottom-center", 1u}, {"center", 0u}}) {
    AnalyticsRig analytics(kLower);
    gst_util_set_object_arg(G_OBJECT(analytics.rig.element()), "evaluation-point", point);
    ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
    analytics.push(0, {{1, 250, 130}});
    EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), found) << point;
  }
}

TEST(HeteroAnalytics, WrongJsonIsOneErrorWithItsPlace) {
  const ScratchFolder folder;
  const std::string file = folder.file("zones.json");
  write_text(file,
             R"({"zones":[{"id":"a","points":[{"x":1,"y":1},{"x":"9","y":1},{"x":1,"y":9}]}]})");
  AnalyticsRig analytics("", "");
  analytics.set("config", file);
  EXPECT_FALSE(analytics.rig.start(kAnalyticsCaps));
  EXPECT_EQ(analytics.rig.errors(),
            std::vector<std::string>{"property config: '" + file +
                                     "': zones[0].points[1].x: \"9\" is no number"});
  AnalyticsRig inline_rig("", R"([{"id":"a","points":[{"x":1,"y":1},{"x":1,"y":1}]}])");
  EXPECT_FALSE(inline_rig.rig.start(kAnalyticsCaps));
  EXPECT_EQ(inline_rig.rig.errors(),
            std::vector<std::string>{"property tripwires: tripwires[0].points[1]: is the same as "
                                     "points[0], which is no line"});
  PipelineRun run(
      "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! heteroanalytics "
      "config=/nowhere.json ! fakesink");
  const Outcome outcome = run.play();
  ASSERT_EQ(outcome.errors.size(), 1u) << outcome.problem();
  EXPECT_EQ(outcome.errors[0].text, "property config: cannot open '/nowhere.json'");
}

TEST(HeteroAnalytics, AWrongChangeWhilePlayingIsAWarningAndChangesNothing) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  analytics.set("zones", R"([{"id":"yard","points":3}])");
  EXPECT_EQ(analytics.told(GST_MESSAGE_WARNING),
            std::vector<std::string>{"property zones: zones[0].points: 3 is no JSON array. Zones "
                                     "and tripwires stay as they were."});
  EXPECT_EQ(analytics.get("zones"), kYard);
  analytics.set("camera", "door");
  EXPECT_EQ(analytics.told(GST_MESSAGE_WARNING).size(), 1u);
  EXPECT_EQ(analytics.get("camera"), "");
  analytics.push(1, {{1, 100}});
  EXPECT_EQ(analytics.frames[1][0].size(), 1u);
  EXPECT_TRUE(analytics.rig.errors().empty());
}

TEST(HeteroAnalytics, ChangesWhilePlayingKeepTheCountsOfWhatStays) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  analytics.push(1, {{1, 220}});
  analytics.set("tripwires",
                R"([{"id":"other","points":[{"x":200,"y":240},{"x":200,"y":0}]},
                    {"id":"gate","points":[{"x":160,"y":240},{"x":160,"y":0}],"direction":"forward"}])");
  analytics.set("zones", "");
  analytics.push(2, {{1, 100}});
  analytics.push(3, {{1, 220}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "backward"), 1u);
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 1u);
  EXPECT_EQ(analytics.stat("tripwires", 1, "forward"), 2u) << "one before the change";
  EXPECT_EQ(analytics.stat("tripwires", 1, "backward"), 0u) << "not wanted any more";
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), G_MAXUINT64) << "no zone";
}

TEST(HeteroAnalytics, ACameraOfTheFileIsChosenAndChanged) {
  const ScratchFolder folder;
  write_text(folder.file("site.json"), std::string(R"({"cameras":{"a":{"zones":)") + kYard +
                                           R"(},"b":{"tripwires":)" + kGate + "}}}");
  AnalyticsRig analytics("", "");
  analytics.set("config", folder.file("site.json"));
  analytics.set("camera", "a");
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), 1u);
  analytics.set("camera", "b");
  analytics.push(1, {{1, 200}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 1u);
  EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), G_MAXUINT64);
}

TEST(HeteroAnalytics, HysteresisAndGraceTimeAreProperties) {
  AnalyticsRig analytics;
  g_object_set(analytics.rig.element(), "hysteresis", 30.0, "grace-time", 0.1, nullptr);
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  analytics.push(1, {{1, 185}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 0u);
  EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), 1u);
  g_object_set(analytics.rig.element(), "hysteresis", 10.0, nullptr);
  analytics.push(2, {{1, 185}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 1u);
  EXPECT_EQ(analytics.stat("zones", 0, "occupancy"), 0u);
  analytics.push(3, {});
  analytics.push(5, {{1, 100}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "backward"), 0u) << "another way";
}

TEST(HeteroAnalytics, WhatIsCarriedIsNotCounted) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{1, 100}});
  analytics.push(1, {{1, 220, 120, 1}});
  analytics.push(2, {{1, 100, 120, 2}});
  analytics.push(3, {{1, 220}});
  analytics.push(4, {{1, 100, 120, 1}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 1u);
  EXPECT_EQ(analytics.stat("tripwires", 0, "backward"), 0u);
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), 1u);
  EXPECT_EQ(analytics.frames[1][0].size(), 1u) << "still in the zone";
  EXPECT_EQ(analytics.frames_analysed(), 2u);
}

/// The object of a device that finds the same in every frame, so that nothing may come and go.
TEST(HeteroAnalytics, IntervalsOfTheDetectorEndNoVisit) {
  for (const char* between : {"carry-results=true ! heterotrack", "! heterotrack",
                              "! heterotrack tracking-type=short-term-imageless"}) {
    const ScriptedDevice device;
    PipelineRun run(
        "videotestsrc pattern=solid-color num-buffers=60 ! "
        "video/x-raw,width=320,height=240,framerate=25/1 ! heterodetect " +
        detector_properties() + " device=SCRIPTED inference-interval=10 " + between +
        " ! heteroanalytics name=zones grace-time=0.1 ! fakesink");
    GstElement* element = run.element("zones");
    g_object_set(
        element, "zones",
        R"([{"id":"all","points":[{"x":0,"y":0},{"x":320,"y":0},{"x":320,"y":240},{"x":0,"y":240}]}])",
        nullptr);
    EXPECT_EQ(run.play(60).problem(), "");
    GstStructure* stats = nullptr;
    g_object_get(element, "stats", &stats, nullptr);
    guint64 frames = 0;
    guint64 analysed = 0;
    guint64 visits = 0;
    gst_structure_get_uint64(stats, "frames", &frames);
    gst_structure_get_uint64(stats, "frames-analysed", &analysed);
    const GValue* zones = gst_structure_get_value(stats, "zones");
    gst_structure_get_uint64(gst_value_get_structure(gst_value_array_get_value(zones, 0)), "visits",
                             &visits);
    gst_structure_free(stats);
    EXPECT_EQ(frames, 60u) << between;
    EXPECT_EQ(analysed, 6u) << between;
    EXPECT_EQ(visits, 1u) << between;
  }
}

TEST(HeteroAnalytics, ObjectsWithoutAnIdAreWarnedOfOnce) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(0, {{std::nullopt, 100}, {std::nullopt, 110}});
  analytics.push(1, {{std::nullopt, 220}});
  EXPECT_EQ(analytics.frames[0][0], std::vector<std::string>{"zone, zone_id=(string)yard;"});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 0u);
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), 0u);
  const std::vector<std::string> warnings = analytics.told(GST_MESSAGE_WARNING);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("put heterotrack before this element"), std::string::npos);
}

TEST(HeteroAnalytics, ZonesOutsideOfThePictureAndNoneAtAllAreWarnedOf) {
  AnalyticsRig far_rig(R"([{"id":"far","type":"circle","center":{"x":900,"y":120},"radius":50}])");
  ASSERT_TRUE(far_rig.rig.start(kAnalyticsCaps));
  far_rig.push(0, {});
  far_rig.push(1, {});
  g_object_set(far_rig.rig.element(), "draw-zones", FALSE, nullptr);
  far_rig.push(2, {});
  const std::vector<std::string> warnings = far_rig.told(GST_MESSAGE_WARNING);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].rfind("zone 'far' lies outside of the picture of 320x240", 0), 0u);
  AnalyticsRig none("", "");
  ASSERT_TRUE(none.rig.start(kAnalyticsCaps));
  none.push(0, {{1, 100}});
  EXPECT_EQ(none.told(GST_MESSAGE_WARNING).size(), 1u);
}

TEST(HeteroAnalytics, AFlushEndsVisitsAndKeepsCounts) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  analytics.push(50, {{1, 100}});
  analytics.told();
  analytics.rig.event(gst_event_new_flush_start());
  analytics.rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  analytics.rig.event(gst_event_new_segment(&segment));
  const std::vector<std::string> told = analytics.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("event=(string)exit"), std::string::npos);
  analytics.push(0, {{1, 220}});
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 0u) << "an id of before is another object";
  EXPECT_EQ(analytics.stat("zones", 0, "visits"), 1u);
}

TEST(HeteroAnalytics, EventsKeepTheirPlaceAndSharedBuffersTheirMetadata) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  GstBuffer* shared = analytics.rig.frame(0);
  add_object(shared, {1, 100});
  gst_buffer_ref(shared);
  const GstMemory* pixels = gst_buffer_peek_memory(shared, 0);
  const GstMemory* pixels_out = nullptr;
  analytics.rig.on_buffer = [&](GstBuffer* buffer) {
    pixels_out = gst_buffer_peek_memory(buffer, 0);
    analytics.frames.push_back(places_of(buffer));
    return GST_FLOW_OK;
  };
  analytics.rig.marker(1);
  ASSERT_EQ(analytics.rig.push(shared), GST_FLOW_OK);
  analytics.rig.marker(2);
  EXPECT_EQ(analytics.frames[0][0].size(), 1u);
  EXPECT_TRUE(places_of(shared)[0].empty()) << "another owner's buffer is not changed";
  gst_buffer_unref(shared);
  EXPECT_EQ(pixels, pixels_out) << "no pixel is copied";
  const std::vector<std::string> arrived = analytics.rig.arrived();
  EXPECT_EQ(std::vector<std::string>(arrived.end() - 3, arrived.end()),
            (std::vector<std::string>{"marker 1", "buffer 0", "marker 2"}));
}

TEST(HeteroAnalytics, FramesWithoutATimeFollowTheFrameRate) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  for (int i = 0; i < 3; ++i) {
    GstBuffer* buffer = analytics.rig.frame(0);
    GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
    add_object(buffer, {1, 100});
    ASSERT_EQ(analytics.rig.push(buffer), GST_FLOW_OK);
  }
  EXPECT_NE(analytics.frames[2][0][0].find("dwell=(guint64)80000000"), std::string::npos)
      << analytics.frames[2][0][0];
}

TEST(HeteroAnalytics, PropertiesMayChangeFromOtherThreads) {
  AnalyticsRig analytics;
  ASSERT_TRUE(analytics.rig.start(kAnalyticsCaps));
  std::atomic<bool> is_over = false;
  std::thread changes([&] {
    for (int i = 0; !is_over; ++i) {
      analytics.set("zones", i % 3 == 0 ? "[" : i % 3 == 1 ? "" : kYard);
      g_object_set(analytics.rig.element(), "hysteresis", i % 7 * 1.0, nullptr);
      analytics.stat("tripwires", 0, "forward");
    }
  });
  for (int i = 0; i < 300; ++i) analytics.push(i, {{1, i % 2 == 0 ? 100 : 220}});
  is_over = true;
  changes.join();
  EXPECT_EQ(analytics.stat("tripwires", 0, "forward"), 150u);
  EXPECT_EQ(analytics.stat("tripwires", 0, "backward"), 149u);
}

TEST(HeteroAnalytics, JsonHasGvaanalyticsKeysAndTheCounts) {
  const ScratchFolder folder;
  const std::string regions = R"({"objects":[{"roi_type":"car","x":80,"y":80,"w":20,"h":40}]})";
  write_text(folder.file("in.json"),
             "[" + regions + "," + regions + "," + regions + "," + regions + "]");
  PipelineRun run(
      "videotestsrc num-buffers=4 ! video/x-raw,width=320,height=240,framerate=25/1 ! "
      "heteroattachroi file-path=" +
      folder.file("in.json") +
      " ! heterotrack ! heteroanalytics name=zones ! heterometaconvert ! heterometapublish "
      "file-path=" +
      folder.file("out.json") + " ! fakesink");
  g_object_set(run.element("zones"), "zones", kYard, "tripwires", kGate, nullptr);
  EXPECT_EQ(run.play().problem(), "");
  const json messages = json::parse(read_text(folder.file("out.json")));
  ASSERT_EQ(messages.size(), 4u);
  const json& object = messages[3]["objects"][0];
  EXPECT_EQ(object["zone_violations"], json({"yard"}));
  EXPECT_EQ(object["zone_visits"],
            json::parse(R"([{"dwell":120000000,"enter_time":0,"zone_id":"yard"}])"));
  EXPECT_FALSE(object.contains("tripwire_crossings"));
  ASSERT_TRUE(messages[3].contains("zones")) << messages[3];
  EXPECT_EQ(messages[3]["zones"], json::parse(R"([{"zone_id":"yard","occupancy":1,"visits":1,
                             "classes":{"car":{"occupancy":1,"visits":1}}}])"));
  EXPECT_EQ(messages[3]["tripwires"],
            json::parse(R"([{"tripwire_id":"gate","forward":0,"backward":0,"classes":{}}])"));
}

/// Pixels that are not black in columns of a black picture that was scaled to half its size.
struct DrawnColumns {
  int zone = 0;      ///< at the right side of the yard
  int tripwire = 0;  ///< the gate, which is there at x = 240
};

DrawnColumns drawn_columns(gboolean draw_zones, gboolean draw_tripwires) {
  PipelineRun run(
      "videotestsrc pattern=black num-buffers=1 ! "
      "video/x-raw,format=RGB,width=320,height=240,framerate=25/1 ! heteroanalytics name=zones ! "
      "videoscale ! video/x-raw,width=160,height=120 ! heterowatermark displ-cfg=show-labels=false "
      "! fakesink name=sink");
  g_object_set(run.element("zones"), "zones", kYard, "tripwires",
               R"([{"id":"gate","points":[{"x":240,"y":240},{"x":240,"y":0}]}])", "draw-zones",
               draw_zones, "draw-tripwires", draw_tripwires, nullptr);
  DrawnColumns drawn;
  run.on_buffer("sink", [&](GstBuffer* buffer) {
    GstMapInfo map;
    gst_buffer_map(buffer, &map, GST_MAP_READ);
    for (int y = 0; y < 120; ++y) {
      const auto red = [&](int x) { return map.data[(y * 160 + x) * 3] > 100 ? 1 : 0; };
      drawn.zone += red(80);
      drawn.tripwire += red(120);
    }
    gst_buffer_unmap(buffer, &map);
  });
  EXPECT_EQ(run.play().problem(), "");
  return drawn;
}

TEST(HeteroAnalytics, TheWatermarkDrawsZonesAndTripwiresAlsoOfScaledFrames) {
  const DrawnColumns both = drawn_columns(TRUE, TRUE);
  EXPECT_EQ(both.zone, 120);
  EXPECT_EQ(both.tripwire, 120);
  const DrawnColumns lines = drawn_columns(FALSE, TRUE);
  EXPECT_LE(lines.zone, 2);
  EXPECT_EQ(lines.tripwire, 120);
  const DrawnColumns zones = drawn_columns(TRUE, FALSE);
  EXPECT_EQ(zones.zone, 120);
  EXPECT_LE(zones.tripwire, 4);
}

}  // namespace
}  // namespace het::gst_test
