#include <gtest/gtest.h>

#include "tests/decoders/match_reference.h"

namespace het::test {
namespace {

const ReferenceObject kCat{"cat", 0.9f, 0, 0, 100, 100};

TEST(Matching, FindsTheSameObject) {
  const MatchCounts counts = match_objects("a.jpg", {kCat}, {{"cat", 0.6f, 1, 1, 101, 101}});
  EXPECT_EQ(counts.wanted, 1);
  EXPECT_EQ(counts.found, 1);
  EXPECT_EQ(counts.extra, 0);
  EXPECT_TRUE(counts.misses.empty());
}

TEST(Matching, AnotherLabelOrPlaceIsAMissAndAnExtra) {
  for (const ReferenceObject& other : {ReferenceObject{"dog", 0.9f, 0, 0, 100, 100},
                                       ReferenceObject{"cat", 0.9f, 80, 0, 180, 100}}) {
    const MatchCounts counts = match_objects("a.jpg", {kCat}, {other});
    EXPECT_EQ(counts.found, 0);
    EXPECT_EQ(counts.extra, 1);
    EXPECT_EQ(counts.misses.size(), 2u);
    EXPECT_EQ(counts.found_share(), 0.0);
    EXPECT_EQ(counts.extra_share(), 1.0);
  }
}

TEST(Matching, AShiftedObjectIsAMissButNoExtra) {
  const MatchCounts counts = match_objects("a.jpg", {kCat}, {{"cat", 0.9f, 20, 0, 120, 100}});
  EXPECT_EQ(counts.found, 0);
  EXPECT_EQ(counts.extra, 0);
}

TEST(Matching, OneFoundObjectServesOnce) {
  const MatchCounts counts = match_objects("a.jpg", {kCat, kCat}, {kCat});
  EXPECT_EQ(counts.wanted, 2);
  EXPECT_EQ(counts.found, 1);
}

TEST(Matching, WeakObjectsDoNotCount) {
  ReferenceObject weak = kCat;
  weak.score = 0.5f;
  EXPECT_EQ(match_objects("a.jpg", {weak}, {}).wanted, 0);
  EXPECT_EQ(match_objects("a.jpg", {}, {weak}).extra, 0);
  // A weak reference object explains a strong one that was found.
  EXPECT_EQ(match_objects("a.jpg", {weak}, {kCat}).extra, 0);
}

}  // namespace
}  // namespace het::test
