/// Properties of heterometaconvert and what they change in its messages.

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr guint64 kNtpOf1970 = G_GUINT64_CONSTANT(2208988800) * GST_SECOND;

/// The file after one frame with an object, a time code (daily jam 2026-03-04 05:06:07 two hours
/// east of Greenwich, frame 5 of 25 a second) and a sender's time of 7 s after 1970.
std::string published(const std::string& properties, int* handoffs = nullptr) {
  const ScratchFolder folder;
  PipelineRun run(
      "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48,framerate=25/1 ! "
      "heteroattachroi roi=1,2,30,20 ! identity name=stamp ! heterometaconvert name=convert " +
      properties + " ! heterometapublish file-format=json-lines file-path=" + folder.file("out") +
      " ! fakesink");
  run.on_buffer("stamp", [](GstBuffer* buffer) {
    GTimeZone* east = g_time_zone_new_offset(7200);
    GDateTime* jam = g_date_time_new(east, 2026, 3, 4, 0, 0, 0.0);
    gst_buffer_add_video_time_code_meta_full(buffer, 25, 1, jam, GST_VIDEO_TIME_CODE_FLAGS_NONE, 5,
                                             6, 7, 5, 0);
    g_date_time_unref(jam);
    g_time_zone_unref(east);
    GstCaps* ntp = gst_caps_new_empty_simple("timestamp/x-ntp");
    gst_buffer_add_reference_timestamp_meta(buffer, ntp, kNtpOf1970 + 7 * GST_SECOND,
                                            GST_CLOCK_TIME_NONE);
    gst_caps_unref(ntp);
  });
  if (handoffs) {
    g_signal_connect(run.element("convert"), "handoff",
                     G_CALLBACK(+[](GstElement*, GstBuffer* buffer, int* count) {
                       *count += GST_IS_BUFFER(buffer) ? 1 : 0;
                     }),
                     handoffs);
  }
  EXPECT_EQ(run.play().problem(), "");
  return read_text(folder.file("out"));
}

std::string timestamp(const std::string& properties) {
  return json::parse(published(properties)).value("system_timestamp", "");
}

TEST(HeteroMetaConvert, TimeCodesAreSystemTimestamps) {
  EXPECT_EQ(timestamp(""), "2026-03-04T05:06:07.200:+0200");
  EXPECT_EQ(timestamp("timestamp-utc=true"), "2026-03-04T03:06:07.200Z");
  EXPECT_EQ(timestamp("timestamp-microseconds=true"), "2026-03-04T05:06:07.200000:+0200");
  EXPECT_EQ(timestamp("timestamp-utc=true timestamp-microseconds=true"),
            "2026-03-04T03:06:07.200000Z");
}

TEST(HeteroMetaConvert, TheSendersTimeOnRequest) {
  EXPECT_FALSE(json::parse(published("")).contains("rtp"));
  const json message = json::parse(published("add-rtp-timestamp=true"));
  EXPECT_EQ(message["rtp"]["sender_ntp_unix_timestamp_ns"], 7'000'000'000u);
}

TEST(HeteroMetaConvert, Indentation) {
  EXPECT_EQ(published("").find('\n'), published("").size() - 1);
  EXPECT_NE(published("json-indent=3").find("\n   \"objects\""), std::string::npos);
}

TEST(HeteroMetaConvert, AHandoffIsInsteadOfAMessage) {
  int handoffs = 0;
  EXPECT_NE(published("", &handoffs), "");
  EXPECT_EQ(handoffs, 0);
  EXPECT_EQ(published("signal-handoffs=true", &handoffs), "");
  EXPECT_EQ(handoffs, 1);
}

/// Keeps the element's lines of the log.
struct LogLines {
  LogLines() {
    gst_debug_add_log_function(&LogLines::add, this, nullptr);
    gst_debug_set_threshold_for_name("heterometaconvert", GST_LEVEL_INFO);
  }
  ~LogLines() {
    gst_debug_unset_threshold_for_name("heterometaconvert");
    gst_debug_remove_log_function(&LogLines::add);
  }
  static void add(GstDebugCategory* category, GstDebugLevel, const gchar*, const gchar*, gint,
                  GObject*, GstDebugMessage* message, gpointer self) {
    if (std::string(gst_debug_category_get_name(category)) != "heterometaconvert") return;
    static_cast<LogLines*>(self)->text += gst_debug_message_get(message);
  }
  std::string text;  ///< of the streaming thread, read after the end of the run
};

TEST(HeteroMetaConvert, DumpDetectionWritesToTheLogOnly) {
  const LogLines lines;
  EXPECT_EQ(published("format=dump-detection"), "");
  EXPECT_NE(lines.text.find("at (1,2) 29x18"), std::string::npos) << lines.text;
  EXPECT_EQ(lines.text.find('{'), std::string::npos) << lines.text;
}

}  // namespace
}  // namespace het::gst_test
