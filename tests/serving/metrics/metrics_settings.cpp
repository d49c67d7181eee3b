#include "serving/metrics/metrics_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::metrics {
namespace {

using testing::HasSubstr;

TEST(MetricsSettings, WithoutParametersItIsThisMachineAlone) {
  for (const char* text : {static_cast<const char*>(nullptr), ""}) {
    const MetricsSettings settings = read_settings(text);
    EXPECT_EQ(settings.port, 9464);
    EXPECT_EQ(settings.address, "127.0.0.1");
    EXPECT_FALSE(settings.measures_pipelines || settings.measures_elements);
    EXPECT_TRUE(settings.refused.empty());
  }
}

TEST(MetricsSettings, EachParameterIsTaken) {
  const MetricsSettings settings =
      read_settings("port=0,address=::1,latency=pipeline+element,stall=2.5");
  EXPECT_TRUE(settings.refused.empty()) << settings.refused.front();
  EXPECT_EQ(settings.port, 0);
  EXPECT_EQ(settings.address, "::1");
  EXPECT_TRUE(settings.measures_pipelines && settings.measures_elements);
  EXPECT_EQ(settings.stall_s, 2.5);
  EXPECT_TRUE(read_settings("latency=element").measures_elements);
  EXPECT_FALSE(read_settings("latency=element").measures_pipelines);
  EXPECT_FALSE(read_settings("latency=none").measures_elements);
}

TEST(MetricsSettings, WhatIsWrongIsSaidAndHasNoEffect) {
  for (const char* text : {"port=65536", "port=-1", "port=http", "port=1.5", "address=5",
                           "latency=all", "latency=pipeline+", "latency=+element", "latency=1",
                           "stall=0", "stall=-3", "stall=soon", "prot=9464"}) {
    const MetricsSettings settings = read_settings(text);
    ASSERT_EQ(settings.refused.size(), 1u) << text;
    EXPECT_THAT(settings.refused[0], HasSubstr("'" + std::string(text) + "' is not taken")) << text;
    EXPECT_THAT(settings.refused[0], HasSubstr("port=NUMBER"));
    EXPECT_EQ(settings.port, 9464) << text;
    EXPECT_EQ(settings.stall_s, 10) << text;
    EXPECT_FALSE(settings.measures_pipelines || settings.measures_elements) << text;
  }
  EXPECT_THAT(read_settings("port=1,,").refused, testing::SizeIs(1));
  EXPECT_EQ(read_settings("foo=1,port=7").port, 7);
}

}  // namespace
}  // namespace het::metrics
