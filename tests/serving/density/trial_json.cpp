#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/density/trial_order.h"
#include "serving/density/trial_report.h"

namespace het::density {
namespace {

TEST(TrialOrder, ThereAndBack) {
  TrialOrder order;
  order.streams = 7;
  order.fps = 29.97;
  order.device = "HETERO:GPU,CPU";
  order.sink = "out";
  order.pipeline = {"videotestsrc", "!", "fakesink"};
  const auto read = TrialOrder::parse(order.to_json());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, order);
}

TEST(TrialOrder, RefusesWhatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"streams": -1})"}) {
    EXPECT_FALSE(TrialOrder::parse(text)) << text;
  }
  TrialOrder order;
  order.streams = 0;
  EXPECT_FALSE(TrialOrder::parse(order.to_json()));
}

TEST(TrialReport, ThereAndBack) {
  TrialReport report;
  report.window_s = 10;
  report.cpu_s = 3.5;
  report.memory_mib = 120;
  report.ended_early = true;
  report.streams = {{3, {{0.1, 12.5}, {0.2, 13.25}}}, {3, {}}};
  report.elements = {{"heterodetect", 8.5}};
  report.notes = {"a note"};
  const auto read = TrialReport::parse(report.to_line());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->to_line(), report.to_line());
  EXPECT_EQ(read->streams[0].arrivals[1].latency_ms, 13.25);
}

TEST(TrialReport, OnlyMeasuresAreNeeded) {
  const auto read = TrialReport::parse(
      R"({"window_s": 5, "cpu_s": 1, "memory_mib": 9, "streams": [{"due": 1, "due_s": [0], "latency_ms": [4]}]})");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->streams[0].due, 1u);
  const auto failed = TrialReport::parse(R"({"error": "no camera"})");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->error, "no camera");
}

TEST(TrialReport, RefusesWhatCannotBe) {
  const auto message_of = [](const std::string& stream) {
    const auto read = TrialReport::parse(
        R"({"window_s": 5, "cpu_s": 1, "memory_mib": 9, "streams": [)" + stream + "]}");
    return read ? "it was taken" : read.error().message();
  };
  EXPECT_THAT(message_of(""), testing::HasSubstr("0 streams"));
  EXPECT_THAT(message_of(R"({"due": 1, "due_s": [0, 1], "latency_ms": [4, 4]})"),
              testing::HasSubstr("2 frames arrived of 1"));
  EXPECT_THAT(message_of(R"({"due": 1, "due_s": [0], "latency_ms": []})"),
              testing::HasSubstr("not numbers of as many frames"));
  EXPECT_THAT(message_of(R"({"due": 1, "due_s": ["x"], "latency_ms": [4]})"),
              testing::HasSubstr("not numbers"));
  EXPECT_THAT(message_of(R"({"due": 1, "due_s": [0], "latency_ms": [4], "more": 1})"),
              testing::HasSubstr("more"));
  EXPECT_FALSE(TrialReport::parse("text"));
}

}  // namespace
}  // namespace het::density
