#include "serving/launch/command/instance_choice.h"

#include <gtest/gtest.h>

namespace het::serving {
namespace {

TEST(InstanceChoice, TakesTheFewestThatAreAsGood) {
  EXPECT_EQ(best_instances({{1, {}, 100}, {2, {}, 150}, {4, {}, 140}}), 2u);
  EXPECT_EQ(best_instances({{1, {}, 98}, {2, {}, 100}, {4, {}, 99}}), 1u) << "within 3 %";
  EXPECT_EQ(best_instances({{1, {}, 96}, {2, {}, 100}, {4, {}, 99}}), 2u);
  EXPECT_EQ(best_instances({{4, {}, 100}, {2, {}, 100}}), 2u) << "whatever their order";
}

}  // namespace
}  // namespace het::serving
