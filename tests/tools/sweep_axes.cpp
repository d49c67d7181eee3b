#include "tools/sweep_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het {
namespace {

using ::testing::HasSubstr;

TEST(SweepAxes, WhatIsLeftOutHasOneEntry) {
  const auto axes = parse_sweep({"requests=1,2,8", "batch=4"});
  ASSERT_TRUE(axes) << axes.error().message();
  EXPECT_EQ(axes->streams, std::vector<std::string>{""});
  EXPECT_EQ(axes->requests, (std::vector<int>{1, 2, 8}));
  EXPECT_EQ(axes->batches, std::vector<int64_t>{4});
}

TEST(SweepAxes, WrongWordsAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> table = {
      {{"threads=1"}, "'threads=1'"},
      {{"model.onnx"}, "the model stands before it"},
      {{"streams="}, "not '' in 'streams='"},
      {{"streams=1,,2"}, "not '' in"},
      {{"streams=1,"}, "not '' in"},
      {{"streams=0"}, "from 1 to 1024, not '0'"},
      {{"streams=2x"}, "'2x'"},
      {{"requests=-1"}, "'-1'"},
      {{"requests=99999999999999999999"}, "99999999999999999999"},
      {{"batch=1,2,1"}, "1 twice in 'batch=1,2,1'"},
      {{"batch=1", "batch=2"}, "batch twice"},
      {{"streams=1,2,3,4,5,6,7,8", "requests=1,2,3,4,5,6,7,8", "batch=1,2,3,4,5"},
       "320 combinations, at most 256"},
  };
  for (const auto& [words, part] : table) {
    const auto axes = parse_sweep(words);
    ASSERT_FALSE(axes) << words.front();
    EXPECT_THAT(axes.error().message(), HasSubstr(part));
  }
}

}  // namespace
}  // namespace het
