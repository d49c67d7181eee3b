/// What needs no broker; messages that arrive are in brokers/kafka.cpp.

#include <gtest/gtest.h>

#include "tests/gst/pipeline_run.h"

namespace het::gst_test {
namespace {

TEST(HeteroMetaPublishKafka, WithoutABrokerItIsOneError) {
  PipelineRun run(
      "videotestsrc num-buffers=1 ! heterometaconvert add-empty-results=true ! "
      "heterometapublishkafka name=publish address=127.0.0.1:1 topic=frames max-connect-attempts=2 "
      "! fakesink");
  const Outcome outcome = run.play();
  ASSERT_EQ(outcome.errors_of("publish").size(), 1u);
  const std::string text = outcome.errors_of("publish")[0].text;
  EXPECT_TRUE(text.find("127.0.0.1:1 after 2 attempts") != std::string::npos ||
              text.find("heterobrokers") != std::string::npos)
      << text;
}

TEST(HeteroMetaPublishKafka, HasTheNamesOfGvametapublishkafka) {
  GstElement* element = gst_element_factory_make("heterometapublishkafka", nullptr);
  ASSERT_NE(element, nullptr);
  GObjectClass* klass = G_OBJECT_GET_CLASS(element);
  for (const char* name : {"address", "topic", "max-connect-attempts", "max-reconnect-interval"})
    EXPECT_NE(g_object_class_find_property(klass, name), nullptr) << name;
  for (const char* name : {"method", "file-path", "mqtt-config", "mqtt-qos"})
    EXPECT_EQ(g_object_class_find_property(klass, name), nullptr) << name;
  gst_object_unref(element);
}

}  // namespace
}  // namespace het::gst_test
