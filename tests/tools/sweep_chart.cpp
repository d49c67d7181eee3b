#include "tools/sweep_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tools/pareto.h"

namespace het {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Throughput that saturates: more requests wait for each other.
SweepResult saturating(bool has_knee) {
  SweepResult result;
  result.device_name = "A <fast> & small processor";
  result.round_seconds = 0.5;
  for (const int streams : {1, 2, 4}) {
    for (const int64_t batch : {1, 8}) {
      for (const int requests : {1, 2, 4, 8, 16}) {
        const double capacity = 100.0 * streams * (batch == 8 ? 1.3 : 1.0);
        const double load = static_cast<double>(requests) / streams;
        const double throughput = capacity * load / (load + 0.4);
        const double latency = 1000.0 * static_cast<double>(batch * requests) / throughput;
        SweepSetting setting{std::to_string(streams), requests, batch, {}};
        for (const double noise : {0.97, 1.0, 1.04}) {
          setting.rounds.push_back({latency / noise, throughput * noise});
        }
        result.settings.push_back(setting);
      }
    }
  }
  std::vector<LoadPoint> points;
  for (const SweepSetting& setting : result.settings) {
    points.push_back({setting.rounds[1].latency_ms, setting.rounds[1].throughput});
  }
  result.front = pareto_front(points);
  if (has_knee) result.knee = static_cast<int>(*knee_of(points, result.front));
  return result;
}

TEST(SweepChart, ShowsEveryLineTheFrontAndTheKneeWithItsSettings) {
  BenchOptions options;
  options.models = {"folder/net & more.onnx"};
  const SweepResult result = saturating(true);
  const std::string svg = sweep_chart(options, result);
  if (const char* path = std::getenv("HET_WRITE_CHART")) std::ofstream(path) << svg;
  EXPECT_THAT(svg, HasSubstr("net &amp; more.onnx on CPU"));
  EXPECT_THAT(svg, HasSubstr("A &lt;fast> &amp; small processor"));
  EXPECT_THAT(svg, HasSubstr("4 streams, batch 8"));
  EXPECT_THAT(svg,
              HasSubstr("knee: " + describe(result.settings[static_cast<size_t>(result.knee)])));
  EXPECT_THAT(svg, HasSubstr("latency of a request, ms (logarithmic)"));
  EXPECT_THAT(svg, HasSubstr("throughput, items/s"));
  EXPECT_THAT(sweep_chart(options, saturating(false)), Not(HasSubstr("knee")));
}

TEST(SweepChart, OnePointAndNoTimeAtAllAreCharts) {
  BenchOptions options;
  options.models = {"net.onnx"};
  SweepResult result;
  result.settings.push_back({"1", 1, 1, {{0.0, 0.0}}});
  result.front = {0};
  const std::string svg = sweep_chart(options, result);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, HasSubstr("1 stream, batch 1"));
}

}  // namespace
}  // namespace het
