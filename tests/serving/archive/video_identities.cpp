#include "serving/archive/merge/video_identities.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "serving/archive/merge/identity_join.h"

namespace het::archive {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

TrackedObject object(int64_t id, double left, const char* label = "car") {
  return {id, label, {left, 0, left + 10, 10}, 0, 0};
}

TrackedLine frame(int64_t time, std::vector<TrackedObject> objects) {
  return {time, std::move(objects)};
}

TEST(JoinIdentities, SameBoxInTheSameFrame) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0), object(6, 100)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 100), object(2, 0)})}),
              UnorderedElementsAre(Pair(1, 6), Pair(2, 5)));
}

TEST(JoinIdentities, OtherLabelsAndOtherFramesDoNotCount) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0)}), frame(2, {object(6, 100)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 0, "person")}), frame(2, {object(1, 0)}),
                                       frame(3, {object(1, 0)})}),
              IsEmpty());
}

TEST(JoinIdentities, AnObjectThatVanishesBeforeTheBorderIsJoined) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0)}), frame(2, {}), frame(3, {})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 0)}), frame(2, {}), frame(3, {})}),
              ElementsAre(Pair(1, 5)));
}

TEST(JoinIdentities, AfterAnExchangeTheLastFramesCount) {
  // The range that begins earlier has lost and exchanged two that met in frame 3.
  std::deque<TrackedLine> before;
  std::vector<TrackedLine> overlap;
  for (int i = 1; i <= 3; ++i) {
    before.push_back(frame(i, {object(5, 0), object(6, 100)}));
    overlap.push_back(frame(i, {object(1, 0), object(2, 100)}));
  }
  before.push_back(frame(4, {object(6, 0), object(5, 100)}));
  overlap.push_back(frame(4, {object(1, 0), object(2, 100)}));
  EXPECT_THAT(join_identities(before, overlap), UnorderedElementsAre(Pair(1, 6), Pair(2, 5)));
}

TEST(JoinIdentities, OfTwoEqualBoxesOtherFramesDecide) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0), object(6, 100)}),
                                          frame(2, {object(5, 50), object(6, 50)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(2, 0), object(1, 100)}),
                                       frame(2, {object(1, 50), object(2, 50)})}),
              UnorderedElementsAre(Pair(1, 6), Pair(2, 5)));
}

TEST(JoinIdentities, TwoEqualBoxesAllTheWayAreTakenInTheirOrder) {
  const std::deque<TrackedLine> before = {frame(1, {object(6, 50), object(5, 50)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 50), object(2, 50)})}),
              UnorderedElementsAre(Pair(1, 5), Pair(2, 6)));
}

TEST(JoinIdentities, SupposedBoxesThatDifferALittle) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0), object(6, 3)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 2.5), object(2, 0.5)})}),
              UnorderedElementsAre(Pair(1, 6), Pair(2, 5)));
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 30)})}), IsEmpty());
}

TEST(JoinIdentities, NoTwoBecomeOne) {
  const std::deque<TrackedLine> before = {frame(1, {object(5, 0)}), frame(2, {object(5, 0)})};
  EXPECT_THAT(join_identities(before, {frame(1, {object(1, 0)}), frame(2, {object(2, 0)})}),
              ElementsAre(Pair(2, 5)));
}

TEST(VideoIdentities, TheFirstRangeKeepsItsIds) {
  VideoIdentities identities;
  identities.begin_video();
  EXPECT_THAT(identities.number(frame(1, {object(3, 0), object(1, 50)})), ElementsAre(3, 1));
}

TEST(VideoIdentities, JoinedOnesGoOnAndOthersGetTheNextNumber) {
  VideoIdentities identities;
  identities.begin_video();
  identities.keep_from(2);
  identities.number(frame(1, {object(1, 0)}));
  identities.number(frame(2, {object(2, 100), object(3, 200)}));
  // 1 vanished before the overlap; the range knows 2 and 3 as 1 and 2.
  identities.begin_range({frame(2, {object(1, 100), object(2, 200)})});
  identities.keep_from(100);
  // In one frame new ones are numbered as the tracker does it, not as they stand in the line.
  EXPECT_THAT(identities.number(frame(3, {object(4, 0), object(3, 10), object(2, 205)})),
              ElementsAre(5, 4, 3));
  EXPECT_EQ(identities.border().crossed, 1u);
  EXPECT_THAT(identities.number(frame(4, {object(1, 105)})), ElementsAre(2));
  EXPECT_EQ(identities.border().crossed, 2u);
  EXPECT_EQ(identities.border().joined, 2u);
  EXPECT_THAT(identities.border().new_ids, IsEmpty());
}

TEST(VideoIdentities, WhatIsNotJoinedIsTold) {
  VideoIdentities identities;
  identities.begin_video();
  identities.number(frame(1, {object(1, 0)}));
  identities.begin_range({frame(1, {object(1, 500), object(2, 800)})});
  identities.number(frame(2, {object(1, 500)}));
  EXPECT_EQ(identities.border().crossed, 1u);
  EXPECT_EQ(identities.border().joined, 0u);
  EXPECT_THAT(identities.border().new_ids, ElementsAre(2));
}

TEST(VideoIdentities, WithoutAnOverlapIdsBeginAnew) {
  VideoIdentities identities;
  identities.begin_video();
  identities.number(frame(1, {object(1, 0)}));
  identities.begin_range({});
  EXPECT_THAT(identities.number(frame(2, {object(1, 0)})), ElementsAre(2));
  EXPECT_EQ(identities.border().crossed, 0u);
}

TEST(VideoIdentities, OverARangeThatIsAsShortAsTheOverlap) {
  // The third range begins where the second one did.
  VideoIdentities identities;
  identities.begin_video();
  identities.keep_from(1);
  identities.number(frame(1, {object(1, 0)}));
  identities.begin_range({frame(1, {object(1, 0)})});
  identities.keep_from(1);
  identities.number(frame(2, {object(1, 1), object(2, 50)}));
  identities.begin_range({frame(1, {object(1, 0)}), frame(2, {object(2, 50), object(1, 1)})});
  EXPECT_THAT(identities.number(frame(3, {object(1, 2), object(2, 51), object(3, 90)})),
              ElementsAre(1, 2, 3));
}

TEST(VideoIdentities, EachVideoBeginsAnew) {
  VideoIdentities identities;
  identities.begin_video();
  identities.number(frame(1, {object(4, 0)}));
  identities.begin_video();
  identities.begin_range({});
  EXPECT_THAT(identities.number(frame(1, {object(9, 0)})), ElementsAre(1));
}

}  // namespace
}  // namespace het::archive
