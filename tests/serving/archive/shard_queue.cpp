#include "serving/archive/supervise/shard_queue.h"

#include <gtest/gtest.h>

namespace het::archive {
namespace {

TEST(ShardQueue, GivesEachWorkerAsManyAsItMayHave) {
  ShardQueue queue({"a", "b", "c"}, 2);
  EXPECT_EQ(queue.next(0), "a");
  EXPECT_EQ(queue.next(0), "b");
  EXPECT_EQ(queue.next(0), "");
  EXPECT_EQ(queue.next(1), "c");
  EXPECT_EQ(queue.next(1), "");
  queue.finished(0, "a");
  queue.finished(0, "b");
  EXPECT_EQ(queue.left(), 1U);
}

TEST(ShardQueue, WhatFailedComesBehindAllOthers) {
  ShardQueue queue({"a", "b"}, 1);
  EXPECT_EQ(queue.next(0), "a");
  queue.failed(0, "a");
  EXPECT_EQ(queue.next(0), "b");
  queue.finished(0, "b");
  EXPECT_EQ(queue.next(0), "a");
}

TEST(ShardQueue, OneAloneIsToBlameForACrash) {
  ShardQueue queue({"a"}, 3);
  EXPECT_EQ(queue.next(0), "a");
  EXPECT_EQ(queue.crashed(0), "a");
  EXPECT_EQ(queue.left(), 0U);
  queue.suspect("a");
  EXPECT_EQ(queue.next(0), "a");
}

TEST(ShardQueue, OfSeveralEachIsDoneAlone) {
  ShardQueue queue({"a", "b", "c", "d"}, 2);
  EXPECT_EQ(queue.next(0), "a");
  EXPECT_EQ(queue.next(0), "b");
  EXPECT_EQ(queue.crashed(0), "");
  EXPECT_EQ(queue.next(0), "a");
  EXPECT_EQ(queue.next(0), "") << "a is alone";
  EXPECT_EQ(queue.next(1), "b");
  EXPECT_EQ(queue.crashed(0), "a") << "now it is known";
  queue.finished(1, "b");
  EXPECT_EQ(queue.next(1), "c");
  EXPECT_EQ(queue.next(1), "d");
  EXPECT_EQ(queue.next(0), "");
}

TEST(ShardQueue, WithSuspectsABusyWorkerGetsNothingNew) {
  ShardQueue queue({"a", "b", "c", "d", "e"}, 2);
  EXPECT_EQ(queue.next(0), "a");
  EXPECT_EQ(queue.next(1), "b");
  EXPECT_EQ(queue.next(1), "c");
  EXPECT_EQ(queue.crashed(1), "");
  EXPECT_EQ(queue.next(0), "") << "it would never be empty, and the suspects never done";
  queue.finished(0, "a");
  EXPECT_EQ(queue.next(0), "b");
}

TEST(ShardQueue, WhatAWorkerReturnsComesFirst) {
  ShardQueue queue({"a", "b", "c"}, 1);
  EXPECT_EQ(queue.next(0), "a");
  queue.returned(0);
  EXPECT_EQ(queue.under_way(0).size(), 0U);
  EXPECT_EQ(queue.next(1), "a");
  EXPECT_EQ(queue.left(), 3U);
}

}  // namespace
}  // namespace het::archive
