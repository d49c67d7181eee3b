#include "serving/density/results/density_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "serving/density/results/density_chart.h"

namespace het::density {
namespace {

using testing::HasSubstr;

TrialRecord trial_of(size_t streams, double p99_ms, const Goal& goal) {
  TrialRecord trial;
  trial.verdict.streams = streams;
  trial.verdict.worst = {p99_ms / 2, p99_ms * 0.9, p99_ms, p99_ms * 1.1};
  trial.verdict.rate = goal.fps;
  trial.verdict.cpus = 0.1 * static_cast<double>(streams);
  trial.verdict.memory_mib = 100;
  if (p99_ms > goal.p99_ms) {
    trial.verdict.limit = Limit::Latency;
    trial.verdict.failed_streams = 1;
  }
  trial.elements = {{"heterodetect", 7.5}};
  trial.other_cpus = 0.6;
  return trial;
}

DensityResults results_of() {
  DensityResults results;
  results.line = "videotestsrc ! fakesink";
  results.processor = "a processor";
  results.confirm = 3;
  DeviceResult& cpu = results.devices.emplace_back();
  cpu.device = "CPU";
  for (const double p99 : {90, 95, 120}) cpu.trials.push_back(trial_of(12, p99, results.goal));
  for (const double p99 : {340, 400}) cpu.trials.push_back(trial_of(13, p99, results.goal));
  cpu.search.streams = 12;
  cpu.search.is_confirmed = true;
  cpu.search.tallies = {{12, {3, 0}}, {13, {0, 2}}};
  DeviceResult& other = results.devices.emplace_back();
  other.device = "REF";
  other.trials.push_back(trial_of(1, 1800, results.goal));
  other.search.tallies = {{1, {0, 1}}};
  return results;
}

TEST(DensityResults, TextTellsWhatIsBehindANumber) {
  const std::string text = results_text(results_of());
  EXPECT_THAT(text, HasSubstr("on a processor"));
  EXPECT_THAT(text, HasSubstr("CPU            12    47.5    85.5    95.0   104.5     15.00"));
  EXPECT_THAT(text, HasSubstr("12 streams: 3 of 3 runs passed, p99 90.0 to 120.0 ms"));
  EXPECT_THAT(text, HasSubstr("13 streams: 2 of 2 runs failed"));
  EXPECT_THAT(text, HasSubstr("limit: latency, by 1 of 13 streams: p99 of 400 ms is above 200 ms"));
  EXPECT_THAT(text, HasSubstr("other processes kept 0.6 processors busy"));
  EXPECT_THAT(text, HasSubstr("heterodetect: 7.5 ms a frame"));
  EXPECT_THAT(text, HasSubstr("REF             0\n"));
  EXPECT_THAT(text, HasSubstr("limit: latency, by 1 of 1 stream: p99 of 1800 ms is above 200 ms"));
}

TEST(DensityResults, JsonHasItAll) {
  const auto value = nlohmann::json::parse(results_json(results_of()));
  EXPECT_EQ(value["format"], "hetero-density 1");
  EXPECT_EQ(value["fps"], 15);
  const auto& cpu = value["devices"][0];
  EXPECT_EQ(cpu["device"], "CPU");
  EXPECT_EQ(cpu["streams"], 12);
  EXPECT_EQ(cpu["confirmed"], true);
  EXPECT_EQ(cpu["passed_runs"], 3);
  EXPECT_EQ(cpu["failed_runs_of_one_more"], 2);
  EXPECT_EQ(cpu["limit"], "latency");
  EXPECT_EQ(cpu["p99_ms_of_runs"], nlohmann::json({90.0, 95.0, 120.0}));
  EXPECT_EQ(cpu["trials"].size(), 5u);
  EXPECT_EQ(cpu["trials"][3]["passes"], false);
  EXPECT_EQ(cpu["trials"][0]["element_mean_ms"]["heterodetect"], 7.5);
  EXPECT_EQ(value["devices"][1]["streams"], 0);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DensityChart, DrawsSvgAndPng) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const auto svg = folder / "density_chart_test.svg";
  const auto png = folder / "density_chart_test.png";
  for (const auto& path : {svg, png}) {
    const Status status = draw_density_chart(results_of(), path.string());
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_THAT(bytes_of(svg), HasSubstr("<svg"));
  EXPECT_THAT(bytes_of(png), testing::StartsWith("\x89PNG"));
  EXPECT_GT(std::filesystem::file_size(png), 5000u);
  DensityResults none = results_of();
  for (DeviceResult& result : none.devices) result.trials.clear();
  EXPECT_TRUE(draw_density_chart(none, svg.string()).ok());
  for (const auto& path : {svg, png}) std::filesystem::remove(path);
}

TEST(DensityChart, TellsWhatItCannotWrite) {
  for (const char* path : {"/nowhere/x.svg", "/nowhere/x.png"}) {
    const Status status = draw_density_chart(results_of(), path);
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
  EXPECT_FALSE(is_chart_file("x.jpg"));
  EXPECT_TRUE(is_chart_file("x.svg"));
}

}  // namespace
}  // namespace het::density
