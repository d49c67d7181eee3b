#include "serving/density/command/density_options.h"

#include <gtest/gtest.h>

#include "serving/density/command/progress_line.h"

namespace het::density {
namespace {

ParsedDensity parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "hetero-density");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return parse_density_options(static_cast<int>(words.size()), pointers.data());
}

TEST(DensityOptions, All) {
  const ParsedDensity all = parsed({"--fps",        "25",
                                    "--p99",        "0.1s",
                                    "--drop",       "0.02",
                                    "--device",     "CPU",
                                    "--device",     "HETERO:GPU,CPU",
                                    "--seconds",    "4",
                                    "--first",      "4",
                                    "--most",       "64",
                                    "--confirm",    "5",
                                    "--time-limit", "2min",
                                    "--",           "gst-launch-1.0",
                                    "videotestsrc", "!",
                                    "fakesink"});
  ASSERT_FALSE(all.exit_status);
  const DensityOptions& options = all.options;
  EXPECT_EQ(options.goal.fps, 25);
  EXPECT_EQ(options.goal.p99_ms, 100);
  EXPECT_EQ(options.goal.drop, 0.02);
  EXPECT_EQ(options.devices, (std::vector<std::string>{"CPU", "HETERO:GPU,CPU"}));
  EXPECT_EQ(options.window_s, 4);
  EXPECT_EQ(options.search.first, 4u);
  EXPECT_EQ(options.search.most, 64u);
  EXPECT_EQ(options.search.confirm, 5u);
  EXPECT_EQ(options.time_limit_s, 120);
  EXPECT_EQ(options.line, (std::vector<std::string>{"videotestsrc", "!", "fakesink"}));
}

TEST(DensityOptions, Refusals) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--"},
      {"--p99", "0", "--", "x"},
      {"--p99", "fast", "--", "x"},
      {"--fps", "0", "--", "x"},
      {"--drop", "1", "--", "x"},
      {"--seconds", "0.1", "--", "x"},
      {"--seconds", "1", "--fps", "5", "--", "x"},
      {"--first", "9", "--most", "8", "--", "x"},
      {"--confirm", "0", "--", "x"},
      {"--chart", "x.jpg", "--", "x"},
      {"--device", "CPU", "--device", "CPU", "--", "x"},
      {"--program", "--sink", "s", "--", "x"},
      {"--unknown", "--", "x"}};
  for (const auto& words : wrong) {
    const ParsedDensity refused = parsed(words);
    EXPECT_EQ(refused.exit_status, 2) << testing::PrintToString(words);
  }
  EXPECT_EQ(parsed({"--help"}).exit_status, 0);
}

TEST(ProgressLine, Clock) {
  EXPECT_EQ(clock_text(72), "1:12");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  RemainingTime remaining;
  EXPECT_EQ(remaining.of(3), 0);
  remaining.add(10);
  remaining.add(20);
  EXPECT_EQ(remaining.of(3), 45);
}

}  // namespace
}  // namespace het::density
