#include "hetero/multi/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hetero/multi/service_times.h"

namespace het::hetero {
namespace {

using std::chrono::microseconds;

std::string refused(std::string_view list) {
  const auto entries = parse_listed_devices("MULTI", list);
  return entries ? "no error" : entries.error().message();
}

TEST(MultiList, DevicesHaveLimits) {
  const auto entries = parse_listed_devices("MULTI", "GPU.1(2), CPU;REF(1024)");
  ASSERT_TRUE(entries) << entries.error().message();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, "GPU.1");
  EXPECT_EQ((*entries)[0].limit, 2u);
  EXPECT_EQ((*entries)[1].name, "CPU");
  EXPECT_EQ((*entries)[1].limit, std::nullopt);
  EXPECT_EQ((*entries)[2].limit, 1024u);
}

TEST(MultiList, MalformedListsAreErrors) {
  for (const char* list :
       {"GPU(0)", "GPU(1025)", "GPU(2", "GPU()", "GPU(x)", "GPU(2)x", "GPU(-1)"}) {
    EXPECT_THAT(refused(list), testing::HasSubstr("not of the form DEVICE(REQUESTS)")) << list;
  }
  for (const char* list : {"", "GPU,,CPU", "GPU,", "(2)"}) {
    EXPECT_THAT(refused(list), testing::HasSubstr("an empty name")) << list;
  }
  EXPECT_THAT(refused("GPU(2),GPU"), testing::HasSubstr("names GPU twice"));
}

TEST(ServiceTimes, AreMediansOfTheLatest) {
  ServiceTimes times;
  EXPECT_FALSE(times.expected(0));
  times.add(0, microseconds(50));
  EXPECT_EQ(times.expected(0), microseconds(50));
  for (const int time : {10, 11, 12, 900}) times.add(0, microseconds(time));
  EXPECT_EQ(times.expected(0), microseconds(12));
  // The first two, 50 and 10, are forgotten.
  for (const int time : {11, 11}) times.add(0, microseconds(time));
  EXPECT_EQ(times.expected(0), microseconds(11));
}

TEST(ServiceTimes, DifferByWhatElseRuns) {
  ServiceTimes times;
  times.add(0, microseconds(10));
  EXPECT_FALSE(times.expected(1));
  times.add(1, microseconds(20));
  times.add(100, microseconds(70));
  EXPECT_EQ(times.expected(0), microseconds(10));
  EXPECT_EQ(times.expected(1), microseconds(20));
  EXPECT_EQ(times.expected(ServiceTimes::kMostOthers), microseconds(70));
}

}  // namespace
}  // namespace het::hetero
