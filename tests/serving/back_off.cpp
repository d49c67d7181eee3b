#include "serving/launch/back_off.h"

#include <gtest/gtest.h>

namespace het::serving {
namespace {

TEST(BackOff, WaitsTwiceAsLongAfterEachFailureUpToTheLongest) {
  Retry retry({.first_s = 1, .longest_s = 5, .stable_s = 60, .most = 5});
  EXPECT_EQ(retry.next(), 1);
  EXPECT_EQ(retry.next(), 2);
  EXPECT_EQ(retry.next(), 4);
  EXPECT_EQ(retry.next(), 5);
  EXPECT_EQ(retry.next(), 5);
  EXPECT_EQ(retry.next(), std::nullopt);
  EXPECT_EQ(retry.failures(), 6u);
}

TEST(BackOff, WhatHasRunLongEnoughCountsAsWellAgain) {
  Retry retry({.first_s = 1, .longest_s = 60, .stable_s = 10, .most = 2});
  EXPECT_EQ(retry.next(), 1);
  EXPECT_EQ(retry.next(), 2);
  retry.succeeded_for(9.9);
  EXPECT_EQ(retry.failures(), 2u);
  retry.succeeded_for(10);
  EXPECT_EQ(retry.next(), 1);
}

TEST(BackOff, NothingComesAgainWhereNoneIsAllowed) {
  Retry retry({.most = 0});
  EXPECT_EQ(retry.next(), std::nullopt);
}

TEST(BackOff, AFirstWaitBeyondTheLongestIsCut) {
  Retry retry({.first_s = 9, .longest_s = 3});
  EXPECT_EQ(retry.next(), 3);
  EXPECT_EQ(retry.next(), 3);
}

TEST(BackOff, WithoutAWaitItStaysWithoutOne) {
  Retry retry({.first_s = 0, .most = 1000000});
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(retry.next(), 0);
}

}  // namespace
}  // namespace het::serving
