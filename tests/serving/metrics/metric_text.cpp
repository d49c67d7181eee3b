#include "serving/metrics/exposition/metric_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace het::metrics {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(MetricText, LabelsAreEscaped) {
  EXPECT_EQ(label_text({}), "");
  EXPECT_EQ(label_text({{"a", "x"}, {"b", ""}}), R"({a="x",b=""})");
  EXPECT_EQ(label_text({{"a", "say \"hi\" \\ and\nmore"}}), R"({a="say \"hi\" \\ and\nmore"})");
  EXPECT_EQ(label_text({{"a", "Ampel grün 信号 🚦"}}), R"({a="Ampel grün 信号 🚦"})");
}

TEST(MetricText, BytesThatAreNoUtf8AreReplaced) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(label_text({{"a", "caf\xe9!"}}), "{a=\"caf" + mark + "!\"}");
  // Cut short, longer than it has to be, half of a pair, above the last character.
  EXPECT_EQ(label_text({{"a", "\xe2\x82"}}), "{a=\"" + mark + mark + "\"}");
  EXPECT_EQ(label_text({{"a", "\xc0\xaf"}}), "{a=\"" + mark + mark + "\"}");
  EXPECT_EQ(label_text({{"a", "\xed\xa0\x80"}}), "{a=\"" + mark + mark + mark + "\"}");
  EXPECT_EQ(label_text({{"a", "\xf5\x80\x80\x80"}}), "{a=\"" + mark + mark + mark + mark + "\"}");
}

TEST(MetricText, LongLabelsAreCutBetweenCharacters) {
  std::string umlauts;
  for (int i = 0; i < 1000; ++i) umlauts += "ü";
  const std::string text = label_text({{"a", umlauts}});
  EXPECT_EQ(text.size(), 512 + 6);
  EXPECT_THAT(text, EndsWith("ü\"}"));
}

TEST(MetricText, OpenMetricsNamesTheFamilyAndEndsWithEof) {
  MetricText text(TextFormat::OpenMetrics);
  text.add("gst_source_bytes", {{"pipeline", "p"}, {"element", "e"}}, 12345678901234);
  text.add("process_threads", {}, 3);
  text.add("target", {{"service_name", "x"}}, 1);
  EXPECT_EQ(text.finish(),
            "# HELP target What is measured\n"
            "# TYPE target info\n"
            "target_info{service_name=\"x\"} 1\n"
            "# HELP process_threads Threads\n"
            "# TYPE process_threads gauge\n"
            "process_threads 3\n"
            "# HELP gst_source_bytes Bytes of these buffers\n"
            "# TYPE gst_source_bytes counter\n"
            "# UNIT gst_source_bytes bytes\n"
            "gst_source_bytes_total{pipeline=\"p\",element=\"e\"} 12345678901234\n"
            "# EOF\n");
}

TEST(MetricText, TheOlderTextNamesCountersWithTheirEnding) {
  MetricText text(TextFormat::Prometheus);
  text.add("process_cpu_seconds", {}, 0.25);
  text.add("target", {{"service_name", "x"}}, 1);
  EXPECT_EQ(text.finish(),
            "# HELP target_info What is measured\n"
            "# TYPE target_info gauge\n"
            "target_info{service_name=\"x\"} 1\n"
            "# HELP process_cpu_seconds_total Processor time, of users and system\n"
            "# TYPE process_cpu_seconds_total counter\n"
            "process_cpu_seconds_total 0.25\n");
}

TEST(MetricText, BucketsOfHistogramsAddUp) {
  TimeHistogram values;
  for (const double seconds : {0.0001, 0.002, 0.002, 7.0}) values.take(seconds);
  MetricText text(TextFormat::OpenMetrics);
  text.add("gst_element_latency_seconds", {{"pipeline", "p"}, {"element", "e"}}, values);
  const std::string done = text.finish();
  const std::string name = "gst_element_latency_seconds";
  const std::string labels = "{pipeline=\"p\",element=\"e\"";
  EXPECT_THAT(done, HasSubstr(name + "_bucket" + labels + ",le=\"0.0001\"} 1\n"));
  EXPECT_THAT(done, HasSubstr(name + "_bucket" + labels + ",le=\"0.001\"} 1\n"));
  EXPECT_THAT(done, HasSubstr(name + "_bucket" + labels + ",le=\"0.0025\"} 3\n"));
  EXPECT_THAT(done, HasSubstr(name + "_bucket" + labels + ",le=\"5.0\"} 3\n"));
  EXPECT_THAT(done, HasSubstr(name + "_bucket" + labels + ",le=\"+Inf\"} 4\n"));
  EXPECT_THAT(done, HasSubstr(name + "_count" + labels + "} 4\n"));
  EXPECT_THAT(done, HasSubstr(name + "_sum" + labels + "} 7.0041"));
}

TEST(MetricText, FamiliesKeepToTheRulesOfOpenMetrics) {
  std::set<std::string_view> names;
  for (const Family& one : families()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_THAT(one.name, Not(EndsWith("_total")));
    if (!one.unit.empty()) {
      EXPECT_THAT(one.name, EndsWith("_" + std::string(one.unit)));
    }
    EXPECT_FALSE(one.meaning.empty()) << one.name;
  }
}

}  // namespace
}  // namespace het::metrics
