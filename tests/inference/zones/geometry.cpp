#include "inference/zones/geometry.h"

#include <gtest/gtest.h>

#include <limits>

namespace het::zones {
namespace {

std::vector<Place> places(std::initializer_list<std::pair<int, int>> points) {
  std::vector<Place> result;
  for (const auto& [x, y] : points) result.push_back(place_at(x, y));
  return result;
}

TEST(ZoneGeometry, AConcavePolygonHasItsEdges) {
  const auto hook = places({{0, 0}, {100, 0}, {100, 20}, {20, 20}, {20, 100}, {0, 100}});
  EXPECT_TRUE(polygon_contains(hook, place_at(10, 90)));
  EXPECT_TRUE(polygon_contains(hook, place_at(90, 10)));
  EXPECT_FALSE(polygon_contains(hook, place_at(50, 50)));
  for (const auto& [x, y] : {std::pair{0, 0}, {100, 20}, {60, 20}, {20, 60}, {0, 50}, {20, 20}})
    EXPECT_TRUE(polygon_contains(hook, place_at(x, y))) << x << "," << y;
  EXPECT_FALSE(polygon_contains(hook, place_at(20.0 + 1.0 / 256, 60)));
}

TEST(ZoneGeometry, WhatAPolygonCoversTwiceIsOutside) {
  const auto star = places({{50, 0}, {80, 100}, {0, 35}, {100, 35}, {20, 100}});
  EXPECT_TRUE(polygon_contains(star, place_at(50, 20)));
  EXPECT_FALSE(polygon_contains(star, place_at(50, 50)));
}

TEST(ZoneGeometry, ACircleHasItsRim) {
  const Place centre = place_at(10, 10);
  EXPECT_TRUE(circle_contains(centre, length_in_places(5), place_at(13, 14)));
  EXPECT_FALSE(circle_contains(centre, length_in_places(5), place_at(13, 14.01)));
}

TEST(ZoneGeometry, ForwardIsFromTheLeftOfALineToItsRight) {
  const Place a = place_at(50, 0);
  const Place b = place_at(50, 100);  // downwards: its right is where x is smaller
  const auto right_to_left = line_crossing(place_at(60, 50), place_at(40, 50), a, b);
  ASSERT_TRUE(right_to_left);
  EXPECT_EQ(right_to_left->direction, 1);
  EXPECT_DOUBLE_EQ(right_to_left->fraction, 0.5);
  EXPECT_EQ(line_crossing(place_at(40, 50), place_at(80, 50), a, b)->direction, -1);
}

TEST(ZoneGeometry, AWayThroughAnEndCrossesAndOnePastItDoesNot) {
  const Place a = place_at(50, 10);
  const Place b = place_at(50, 100);
  EXPECT_TRUE(line_crossing(place_at(40, 10), place_at(60, 10), a, b));
  EXPECT_FALSE(line_crossing(place_at(40, 9.99), place_at(60, 9.99), a, b));
  EXPECT_TRUE(line_crossing(place_at(40, 100), place_at(60, 100), a, b));
}

TEST(ZoneGeometry, AWayThatStopsOnTheLineCrossesOnce) {
  const Place a = place_at(50, 0);
  const Place b = place_at(50, 100);
  int crossings = 0;
  crossings += line_crossing(place_at(40, 50), place_at(50, 50), a, b) ? 1 : 0;
  crossings += line_crossing(place_at(50, 50), place_at(60, 50), a, b) ? 1 : 0;
  EXPECT_EQ(crossings, 1);
}

TEST(ZoneGeometry, PlacesFarOutAndNumbersThatAreNoneAreBounded) {
  EXPECT_EQ(place_at(1e300, -1e300), place_at(1e6, -1e6));
  EXPECT_EQ(place_at(std::numeric_limits<double>::quiet_NaN(), 1.0), place_at(0.0, 1.0));
  const auto crossing = line_crossing(place_at(-1e6, -1e6), place_at(1e6, 1e6), place_at(-1e6, 1e6),
                                      place_at(1e6, -1e6));
  ASSERT_TRUE(crossing);
  EXPECT_DOUBLE_EQ(crossing->fraction, 0.5);
  EXPECT_TRUE(is_near_segment(place_at(-1e6, -1e6), place_at(1e6, 1e6), length_in_places(1e6),
                              place_at(1e6, 0)));
}

}  // namespace
}  // namespace het::zones
