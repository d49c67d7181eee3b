#include "serving/metrics/scrape.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gst/gst.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "../../gst/pipeline_run.h"
#include "../../gst/test_files.h"
#include "serving/metrics/watch/readiness.h"
#include "serving/metrics/watch/registry.h"
#include "test_tracer.h"

namespace het::metrics {
namespace {

using gst_test::PipelineRun;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

std::string scraped() {
  static const SpanCounts spans;
  return scrape(TextFormat::OpenMetrics, spans, 10);
}

/// The value of one line; nothing where it is not there.
std::optional<double> value_of(const std::string& text, const std::string& series) {
  const size_t line = text.find("\n" + series + " ");
  if (line == std::string::npos) return std::nullopt;
  return std::stod(text.substr(line + series.size() + 2));
}

std::string of(const char* family, const std::string& pipeline, const std::string& element) {
  return fmt::format("{}{{pipeline=\"{}\",element=\"{}\"}}", family, pipeline, element);
}

class Scrape : public testing::Test {
 protected:
  void SetUp() override { test::begin_watching(true, true); }

  /// Plays to its end and leaves it PLAYING.
  static void play_to_end(GstElement* pipeline) {
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    GstBus* bus = gst_element_get_bus(pipeline);
    GstMessage* message = gst_bus_timed_pop_filtered(
        bus, 60 * GST_SECOND, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(GST_MESSAGE_TYPE(message), GST_MESSAGE_EOS);
    gst_message_unref(message);
    gst_object_unref(bus);
  }
};

TEST_F(Scrape, AnyPipelineIsCounted) {
  PipelineRun run(
      "videotestsrc num-buffers=25 name=camera ! "
      "video/x-raw,width=32,height=16,format=GRAY8 ! queue name=line ! fakesink name=screen");
  play_to_end(run.pipeline());
  const std::string text = scraped();
  gchar* name = gst_object_get_name(GST_OBJECT(run.pipeline()));
  const std::string pipeline = name;
  g_free(name);
  EXPECT_EQ(value_of(text, of("gst_source_buffers_total", pipeline, "camera")), 25);
  EXPECT_EQ(value_of(text, of("gst_source_bytes_total", pipeline, "camera")), 25 * 32 * 16);
  EXPECT_EQ(value_of(text, of("gst_sink_buffers_total", pipeline, "screen")), 25);
  EXPECT_EQ(value_of(text, of("gst_sink_rendered_total", pipeline, "screen")), 25);
  EXPECT_EQ(value_of(text, of("gst_sink_dropped_total", pipeline, "screen")), 0);
  EXPECT_EQ(value_of(text, of("gst_queue_buffers", pipeline, "line")), 0);
  EXPECT_EQ(value_of(text, of("gst_element_latency_seconds_count", pipeline, "line")), 25);
  EXPECT_EQ(value_of(text, fmt::format("gst_pipeline_latency_seconds_count{{pipeline=\"{}\","
                                       "source=\"camera\",sink=\"screen\"}}",
                                       pipeline)),
            25);
  EXPECT_EQ(value_of(text, fmt::format("gst_pipeline_state{{pipeline=\"{}\",state=\"playing\"}}",
                                       pipeline)),
            1);
  EXPECT_EQ(value_of(text, fmt::format("gst_pipeline_starts_total{{pipeline=\"{}\"}}", pipeline)),
            1);
}

/// A whole number of an element's `stats`.
double stat(GstElement* element, const char* field) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  guint64 number = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, field, &number)) << field;
  gst_structure_free(stats);
  return static_cast<double>(number);
}

TEST_F(Scrape, ValuesOfElementsAreThoseOfStats) {
  PipelineRun run(
      "videotestsrc num-buffers=30 ! video/x-raw,width=320,height=240 ! heterodetect name=find "
      "inference-interval=3 carry-results=true threshold=0.05 " +
      gst_test::detector_properties() +
      "! heterotrack name=follow ! heterometaconvert add-empty-results=true ! heterometapublish "
      "file-path=/dev/null name=tell ! fakesink");
  play_to_end(run.pipeline());
  const std::string text = scraped();
  gchar* name = gst_object_get_name(GST_OBJECT(run.pipeline()));
  const std::string pipeline = name;
  g_free(name);
  const struct {
    const char* element;
    const char* family;
    const char* field;
  } rows[] = {
      {"find", "hetero_frames_in_total", "frames-in"},
      {"find", "hetero_frames_out_total", "frames"},
      {"find", "hetero_frames_analysed_total", "frames-analysed"},
      {"find", "hetero_frames_carried_total", "frames-carried"},
      {"find", "hetero_frames_late_total", "frames-late"},
      {"find", "hetero_frames_dropped_total", "frames-dropped"},
      {"find", "hetero_frames_in_flight", "frames-in-flight"},
      {"find", "hetero_regions_analysed_total", "regions"},
      {"find", "hetero_regions_skipped_total", "regions-skipped"},
      {"find", "hetero_objects_total", "objects"},
      {"find", "hetero_requests", "requests"},
      {"find", "hetero_requests_busy", "requests-busy"},
      {"follow", "hetero_track_frames_total", "frames"},
      {"follow", "hetero_track_objects_total", "objects"},
      {"follow", "hetero_track_ids_total", "ids"},
      {"tell", "hetero_messages_written_total", "written"},
      {"tell", "hetero_messages_delivered_total", "delivered"},
      {"tell", "hetero_messages_dropped_total", "dropped"},
      {"tell", "hetero_messages_waiting", "waiting"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(value_of(text, of(row.family, pipeline, row.element)),
              stat(run.element(row.element), row.field))
        << row.family;
  }
  EXPECT_EQ(stat(run.element("find"), "frames-in"), 30);
  EXPECT_EQ(stat(run.element("find"), "frames"), 30);
  EXPECT_EQ(stat(run.element("find"), "frames-analysed"), 10);
  EXPECT_EQ(stat(run.element("find"), "requests-busy"), 0);
  EXPECT_GT(stat(run.element("find"), "objects"), 0);
  EXPECT_GT(stat(run.element("follow"), "objects"), 0);
  EXPECT_GT(stat(run.element("follow"), "ids"), 0);
  // Classes add up.
  double of_classes = 0;
  const std::string class_series = fmt::format(
      "hetero_objects_by_class_total{{pipeline=\"{}\",element=\"find\",class=\"", pipeline);
  for (size_t at = text.find(class_series); at != std::string::npos;
       at = text.find(class_series, at + 1)) {
    of_classes += std::stod(text.substr(text.find("} ", at) + 2));
  }
  EXPECT_EQ(of_classes, stat(run.element("find"), "objects"));
}

TEST_F(Scrape, NamesOfUsersAreEscapedAndToldApart) {
  PipelineRun run("videotestsrc num-buffers=1 ! fakesink");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "a \"b\\\n\xff");
  PipelineRun other("videotestsrc num-buffers=1 ! fakesink");
  gst_object_set_name(GST_OBJECT(other.pipeline()), "a \"b\\\n\xff");
  play_to_end(run.pipeline());
  play_to_end(other.pipeline());
  const std::string text = scraped();
  EXPECT_THAT(text, HasSubstr("gst_pipeline_ready{pipeline=\"a \\\"b\\\\\\n\xEF\xBF\xBD\"}"));
  EXPECT_THAT(text, HasSubstr("gst_pipeline_ready{pipeline=\"a \\\"b\\\\\\n\xEF\xBF\xBD-2\"}"));
}

TEST_F(Scrape, WhatHasBeenFreedIsGone) {
  {
    PipelineRun run("videotestsrc num-buffers=1 name=gone ! fakesink");
    play_to_end(run.pipeline());
    EXPECT_THAT(scraped(), HasSubstr("element=\"gone\""));
  }
  // A thread of GStreamer's may let go of the last reference a little later.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (scraped().find("element=\"gone\"") != std::string::npos &&
         std::chrono::steady_clock::now() < limit) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(scraped(), Not(HasSubstr("element=\"gone\"")));
  EXPECT_TRUE(Registry::of_process().pipelines().empty());
  EXPECT_TRUE(Registry::of_process().elements().empty());
}

TEST_F(Scrape, APipelineThatStartsAgainGoesOn) {
  PipelineRun run("videotestsrc num-buffers=5 name=camera ! fakesink");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "again");
  for (int i = 0; i < 2; ++i) {
    play_to_end(run.pipeline());
    gst_element_set_state(run.pipeline(), GST_STATE_NULL);
  }
  const std::string text = scraped();
  EXPECT_EQ(value_of(text, of("gst_source_buffers_total", "again", "camera")), 10);
  EXPECT_EQ(value_of(text, "gst_pipeline_starts_total{pipeline=\"again\"}"), 2);
  EXPECT_EQ(value_of(text, "gst_pipeline_state{pipeline=\"again\",state=\"null\"}"), 1);
}

TEST_F(Scrape, APipelineThatIsMadeAgainGoesOn) {
  for (int i = 0; i < 3; ++i) {
    PipelineRun run("videotestsrc num-buffers=2 ! identity error-after=1 ! fakesink");
    gst_object_set_name(GST_OBJECT(run.pipeline()), "made");
    EXPECT_FALSE(run.play(20).errors.empty());
    const std::string text = scraped();
    EXPECT_EQ(value_of(text, "gst_pipeline_starts_total{pipeline=\"made\"}"), i + 1);
    // Sources post one of their own.
    EXPECT_GE(value_of(text, "gst_pipeline_messages_total{pipeline=\"made\",type=\"error\"}"),
              i + 1);
  }
}

TEST_F(Scrape, ElementsMayEndWhileItRuns) {
  std::atomic<bool> ends = false;
  std::atomic<int> scrapes = 0;
  std::thread reader([&] {
    while (!ends) {
      EXPECT_THAT(scraped(), HasSubstr("# EOF\n"));
      why_not_ready(Registry::of_process(), 10);
      ++scrapes;
    }
  });
  std::vector<std::thread> makers;
  for (int maker = 0; maker < 2; ++maker) {
    makers.emplace_back([] {
      for (int i = 0; i < 40; ++i) {
        PipelineRun run(
            "videotestsrc num-buffers=20 ! tee name=t ! queue ! fakesink t. ! queue ! fakesink");
        run.play(60);
      }
    });
  }
  for (std::thread& maker : makers) maker.join();
  ends = true;
  reader.join();
  EXPECT_GT(scrapes, 10);
  EXPECT_TRUE(Registry::of_process().elements().empty());
}

class Ready : public Scrape {
 protected:
  static std::string reason(double stall_s = 10) {
    return why_not_ready(Registry::of_process(), stall_s);
  }
  static void change(GstElement* pipeline, GstState state) {
    ASSERT_NE(gst_element_set_state(pipeline, state), GST_STATE_CHANGE_FAILURE);
    ASSERT_NE(gst_element_get_state(pipeline, nullptr, nullptr, 20 * GST_SECOND),
              GST_STATE_CHANGE_FAILURE);
  }
};

TEST_F(Ready, OnlyWhileAPipelinePlays) {
  EXPECT_EQ(reason(), "no pipeline plays");
  PipelineRun run("videotestsrc is-live=true ! fakesink");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "live");
  EXPECT_EQ(reason(), "no pipeline plays");
  change(run.pipeline(), GST_STATE_PLAYING);
  EXPECT_EQ(reason(), "");
  change(run.pipeline(), GST_STATE_PAUSED);
  EXPECT_EQ(reason(), "pipeline 'live' is paused");
  change(run.pipeline(), GST_STATE_PLAYING);
  EXPECT_EQ(reason(), "");
  change(run.pipeline(), GST_STATE_NULL);
  EXPECT_EQ(reason(), "no pipeline plays");
}

TEST_F(Ready, NotAfterTheEndOrAnError) {
  PipelineRun run("videotestsrc num-buffers=3 ! identity name=i ! fakesink");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "short");
  play_to_end(run.pipeline());
  EXPECT_EQ(reason(), "pipeline 'short' has ended");
  change(run.pipeline(), GST_STATE_NULL);
  g_object_set(run.element("i"), "error-after", 2, nullptr);
  EXPECT_FALSE(run.play(20).errors.empty());
  EXPECT_THAT(reason(), testing::StartsWith("pipeline 'short' failed: i: "));
  const std::string text = scraped();
  EXPECT_GE(value_of(text, "gst_pipeline_messages_total{pipeline=\"short\",type=\"error\"}"), 1);
  EXPECT_EQ(value_of(text, "gst_pipeline_ready{pipeline=\"short\"}"), 0);
}

TEST_F(Ready, NotWhenNoFrameReachesASink) {
  PipelineRun run("videotestsrc is-live=true ! valve name=tap ! fakesink async=false");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "dry");
  change(run.pipeline(), GST_STATE_PLAYING);
  EXPECT_EQ(reason(60), "");
  g_object_set(run.element("tap"), "drop", TRUE, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_THAT(reason(0.5),
              MatchesRegex("no frame has reached a sink of pipeline 'dry' for [0-9]+ s"));
  g_object_set(run.element("tap"), "drop", FALSE, nullptr);
  // The machine may be busy for a while.
  for (int i = 0; i < 100 && !reason(0.5).empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(reason(0.5), "");
}

/// What an inference element posts (gst/elements/device_message).
void post_device(GstElement* element, const char* name, GstMessageType type) {
  gst_element_message_full_with_details(element, type, GST_RESOURCE_ERROR,
                                        GST_RESOURCE_ERROR_FAILED, g_strdup("device"), nullptr,
                                        __FILE__, "", __LINE__,
                                        gst_structure_new(name, "model", G_TYPE_STRING, "m",
                                                          "device", G_TYPE_STRING, "VPU", nullptr));
}

TEST_F(Ready, NotWhileADeviceIsLost) {
  PipelineRun run("videotestsrc is-live=true ! identity name=find ! fakesink");
  gst_object_set_name(GST_OBJECT(run.pipeline()), "degraded");
  change(run.pipeline(), GST_STATE_PLAYING);
  post_device(run.element("find"), "device-lost", GST_MESSAGE_WARNING);
  EXPECT_EQ(reason(), "find of pipeline 'degraded' goes on without VPU");
  std::string text = scraped();
  EXPECT_EQ(value_of(text, "hetero_device_losses_total{device=\"VPU\"}"), 1);
  EXPECT_EQ(value_of(text, "hetero_device_lost{device=\"VPU\"}"), 1);
  post_device(run.element("find"), "device-back", GST_MESSAGE_INFO);
  EXPECT_EQ(reason(), "");
  text = scraped();
  EXPECT_EQ(value_of(text, "hetero_device_returns_total{device=\"VPU\"}"), 1);
  EXPECT_EQ(value_of(text, "hetero_device_lost{device=\"VPU\"}"), 0);
}

}  // namespace
}  // namespace het::metrics
