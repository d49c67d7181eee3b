#include "serving/metrics/http/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::metrics {
namespace {

Answer ask(std::string_view method, std::string_view path, std::string_view accept = "",
           const std::string& reason = "") {
  const Told told = {
      [](TextFormat format) { return format == TextFormat::OpenMetrics ? "open" : "older"; },
      [reason] { return reason; }};
  return answer({method, path, accept}, told);
}

TEST(Answer, MetricsAreOpenMetricsUnlessOnlyTheOlderTextIsAskedFor) {
  EXPECT_EQ(ask("GET", "/metrics").text, "open");
  EXPECT_EQ(ask("GET", "/metrics", "*/*").text, "open");
  EXPECT_EQ(ask("GET", "/metrics", "text/plain;version=0.0.4").text, "older");
  EXPECT_EQ(ask("GET", "/metrics", "Application/OpenMetrics-Text;version=1.0.0,text/plain").text,
            "open");
  EXPECT_EQ(ask("GET", "/metrics").type,
            "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(ask("GET", "/metrics", "text/plain").type, "text/plain; version=0.0.4; charset=utf-8");
}

TEST(Answer, HealthSaysWhyItIsNotReady) {
  EXPECT_EQ(ask("GET", "/health/live", "", "x").status, 200u);
  EXPECT_EQ(ask("GET", "/health/ready").status, 200u);
  const Answer refused = ask("HEAD", "/health/ready", "", "no pipeline plays");
  EXPECT_EQ(refused.status, 503u);
  EXPECT_EQ(refused.text, "not ready: no pipeline plays\n");
}

TEST(Answer, AllElseIsRefused) {
  for (const char* path : {"/", "", "/metrics/", "/METRICS", "/health", "/../etc/passwd"})
    EXPECT_EQ(ask("GET", path).status, 404u) << path;
  for (const char* method : {"POST", "PUT", "DELETE", "get", "OPTIONS", ""}) {
    EXPECT_EQ(ask(method, "/metrics").status, 405u) << method;
    EXPECT_TRUE(ask(method, "/metrics").allows_get);
  }
}

}  // namespace
}  // namespace het::metrics
