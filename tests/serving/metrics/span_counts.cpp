#include "serving/metrics/watch/span_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace het::metrics {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

SpanTime at(int ms) {
  return SpanTime(milliseconds(1000 + ms));
}

TEST(CoveredTime, OverlapsCountOnce) {
  CoveredTime time;
  time.take(at(0), at(10));
  time.take(at(5), at(15));
  EXPECT_NEAR(time.seconds(), 0.015, 1e-9);
  time.take(at(20), at(30));
  time.take(at(2), at(4));
  EXPECT_NEAR(time.seconds(), 0.025, 1e-9);
  time.take(at(1), at(40));  // over the gap and beyond
  EXPECT_NEAR(time.seconds(), 0.040, 1e-9);
  time.take(at(40), at(40));
  time.take(at(50), at(45));
  EXPECT_NEAR(time.seconds(), 0.040, 1e-9);
}

TEST(CoveredTime, ManyIntervalsAreForgottenInTheirOrder) {
  CoveredTime time;
  for (int i = 0; i < 1000; ++i) time.take(at(2 * i), at(2 * i + 1));
  EXPECT_NEAR(time.seconds(), 1.0, 1e-9);
  // The last ones are known: only the gaps between them are new.
  time.take(at(1900), at(1999));
  EXPECT_NEAR(time.seconds(), 1.049, 1e-9);
}

std::string text_of(const SpanCounts& counts) {
  MetricText text(TextFormat::OpenMetrics);
  counts.write(text);
  return text.finish();
}

TEST(SpanCounts, FramesOfABatchAreOneExecution) {
  SpanCounts counts;
  for (uint64_t frame = 1; frame <= 4; ++frame)
    counts.take({FramePart::Infer, "CPU", frame, at(0), at(8 + static_cast<int>(frame)), "m"});
  counts.take({FramePart::Infer, "CPU", 5, at(20), at(30), "m"});
  counts.take({FramePart::Infer, "CPU", 5, at(20), at(30), "another"});
  const std::string text = text_of(counts);
  EXPECT_THAT(text, HasSubstr("hetero_device_executions_total{device=\"CPU\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("hetero_device_frames_total{device=\"CPU\"} 6\n"));
  EXPECT_THAT(text, HasSubstr("hetero_device_busy_seconds_total{device=\"CPU\"} 0.022"));
}

TEST(SpanCounts, PartsAreOfTheElementOrTheDevice) {
  SpanCounts counts;
  counts.take({FramePart::Wait, "detect", 1, at(0), at(3)});
  counts.take({FramePart::Queue, "GPU", 1, at(3), at(4), "m"});
  std::string text = text_of(counts);
  EXPECT_THAT(text, HasSubstr("hetero_element_part_duration_seconds_count{element=\"detect\","
                              "part=\"wait\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("hetero_device_part_duration_seconds_count{device=\"GPU\","
                              "part=\"queue\"} 1\n"));
  counts.forget("detect");
  EXPECT_THAT(text_of(counts), Not(HasSubstr("detect")));
}

TEST(SpanCounts, NamesAreBounded) {
  SpanCounts counts;
  for (int i = 0; i < 300; ++i)
    counts.take({FramePart::Push, "e" + std::to_string(i), 1, at(0), at(1)});
  EXPECT_THAT(text_of(counts), HasSubstr("element=\"_other\",part=\"push\"} 44\n"));
}

class CountingSink final : public FrameSpanSink {
 public:
  void take(const FrameSpan&) override { ++count; }
  int count = 0;
};

TEST(FrameSpanSinks, EachHearsOfASpanUntilItIsRemoved) {
  const auto first = std::make_shared<CountingSink>();
  const auto second = std::make_shared<CountingSink>();
  const FrameSpan span{FramePart::Push, "e", 1, at(0), at(1)};
  add_frame_span_sink(first);
  add_frame_span_sink(second);
  add_frame_span_sink(second);
  add_frame_span_sink(nullptr);
  report_frame_span(span);
  EXPECT_EQ(first->count, 1);
  EXPECT_EQ(second->count, 1);
  remove_frame_span_sink(first.get());
  remove_frame_span_sink(first.get());
  EXPECT_TRUE(frame_spans_wanted());
  report_frame_span(span);
  EXPECT_EQ(first->count, 1);
  EXPECT_EQ(second->count, 2);
  remove_frame_span_sink(second.get());
  EXPECT_FALSE(frame_spans_wanted());
  report_frame_span(span);
  EXPECT_EQ(second->count, 2);
  EXPECT_EQ(second.use_count(), 1);
}

}  // namespace
}  // namespace het::metrics
