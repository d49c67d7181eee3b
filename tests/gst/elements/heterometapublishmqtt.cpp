/// What needs no broker; messages that arrive are in brokers/mqtt.cpp.

#include <gtest/gtest.h>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

const std::string kMqttMessages =
    "videotestsrc num-buffers=1 ! heterometaconvert add-empty-results=true ! "
    "heterometapublishmqtt name=publish ";

/// The one error of a run with such a file of mqtt-config.
std::string config_error(const std::string& config) {
  const ScratchFolder folder;
  write_text(folder.file("mqtt.json"), config);
  PipelineRun run(kMqttMessages + "mqtt-config=" + folder.file("mqtt.json") + " ! fakesink");
  const std::vector<PostedError> errors = run.play().errors_of("publish");
  if (errors.size() != 1) return std::to_string(errors.size()) + " errors";
  EXPECT_NE(errors[0].text.find("mqtt.json"), std::string::npos) << errors[0].text;
  return errors[0].text;
}

TEST(HeteroMetaPublishMqtt, WrongConfigsAreOneErrorWithTheKey) {
  const std::pair<const char*, const char*> wrong[] = {
      {"", "no JSON object"},
      {"[1]", "no JSON object"},
      {R"({"adress": "a:1"})", R"("adress" is not known; address, client-id)"},
      {R"({"address": 7})", R"("address" is a number; a string is wanted)"},
      {R"({"max-connect-attempts": -1})", R"("max-connect-attempts" is -1; a whole number from 1)"},
      {R"({"max-reconnect-interval": 1e3})", R"("max-reconnect-interval" is 1000.0)"},
      {R"({"TLS": 1})", R"("TLS" is 1; true or false is wanted)"},
      {R"({"ssl_verify": 99999999999999999999})", R"("ssl_verify" is )"},
  };
  for (const auto& [config, words] : wrong)
    EXPECT_NE(config_error(config).find(words), std::string::npos) << config_error(config);
  PipelineRun absent(kMqttMessages + "mqtt-config=/absent/mqtt.json ! fakesink");
  const std::vector<PostedError> errors = absent.play().errors_of("publish");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].text.find("/absent/mqtt.json"), std::string::npos) << errors[0].text;
}

TEST(HeteroMetaPublishMqtt, APasswordIsInNoMessage) {
  const std::string text = config_error(R"({"password": ["open sesame"]})");
  EXPECT_NE(text.find("\"password\" is a array"), std::string::npos) << text;
  EXPECT_EQ(text.find("sesame"), std::string::npos) << text;
}

TEST(HeteroMetaPublishMqtt, HasTheNamesOfGvametapublishmqtt) {
  GstElement* element = gst_element_factory_make("heterometapublishmqtt", nullptr);
  ASSERT_NE(element, nullptr);
  GObjectClass* klass = G_OBJECT_GET_CLASS(element);
  for (const char* name : {"address", "client-id", "topic", "max-connect-attempts",
                           "max-reconnect-interval", "username", "password", "mqtt-config"})
    EXPECT_NE(g_object_class_find_property(klass, name), nullptr) << name;
  for (const char* name : {"method", "file-path", "mqtt-client-id"})
    EXPECT_EQ(g_object_class_find_property(klass, name), nullptr) << name;
  gst_object_unref(element);
}

}  // namespace
}  // namespace het::gst_test
