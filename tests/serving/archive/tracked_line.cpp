#include "serving/archive/merge/tracked_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::archive {
namespace {

using testing::HasSubstr;

TEST(TrackedLine, ReadsObjectsWithIds) {
  const auto read = read_tracked_line(
      R"({"objects":[{"detection":{"bounding_box":{"x_max":0.5,"x_min":0.25,"y_max":1.0,"y_min":0.5}},)"
      R"("h":10,"id":7,"roi_type":"car","w":20,"x":1,"y":2},{"h":1,"w":2,"x":3,"y":4}],"timestamp":40})",
      "line 1");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->timestamp_ns, 40);
  ASSERT_EQ(read->objects.size(), 1u);
  EXPECT_EQ(read->objects[0].id, 7);
  EXPECT_EQ(read->objects[0].label, "car");
  EXPECT_EQ(read->objects[0].box, (ObjectBox{0.25, 0.5, 0.5, 1.0}));
}

TEST(TrackedLine, RegionsWithoutDetectionHaveTheirRectangle) {
  const auto read =
      read_tracked_line(R"({"objects":[{"h":4,"id":1,"w":3,"x":1,"y":2}],"timestamp":0})", "it");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->objects[0].box, (ObjectBox{1, 2, 4, 6}));
}

TEST(TrackedLine, OnlyTheIdsChange) {
  // Spaces, numbers that a writer would write otherwise, escapes, ids of others, and brackets in
  // texts.
  const std::string line =
      R"({ "id" : 3, "tags" : {"id": 4, "objects": [{"id": 5}]}, "note": "\"objects\":[{\"id\":6}] }\\",)"
      R"( "objects" : [ {"a":[{"id":9}], "id" : 12 , "x":1.50e0}, {"x":1}, {"id":"text"}, {"y":0.10,"id":3} ],)"
      R"( "timestamp" : 5 } )";
  const auto read = read_tracked_line(line, "it");
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->objects.size(), 2u);
  std::string wanted = line;
  wanted.replace(wanted.find(R"("id" : 12)") + 7, 2, "1000");
  wanted.replace(wanted.find(R"("id":3} ])") + 5, 1, "44");
  EXPECT_EQ(with_ids(line, *read, {1000, 44}), wanted);
  EXPECT_EQ(with_ids(line, *read, {12, 3}), line);
}

TEST(TrackedLine, RefusesWhatHasNoTime) {
  const auto read = read_tracked_line(R"({"objects":[]})", "line 3 of 'x'");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message(), HasSubstr("line 3 of 'x' has no whole number 'timestamp'"));
  EXPECT_FALSE(read_tracked_line("{", "it"));
  EXPECT_FALSE(read_tracked_line("[]", "it"));
  EXPECT_FALSE(read_tracked_line("", "it"));
}

TEST(TrackedLine, OverlapOfBoxes) {
  EXPECT_DOUBLE_EQ(overlap({0, 0, 2, 2}, {1, 0, 3, 2}), 1.0 / 3);
  EXPECT_EQ(overlap({0, 0, 1, 1}, {1, 0, 2, 1}), 0);
  EXPECT_EQ(overlap({1, 1, 1, 1}, {1, 1, 1, 1}), 0);
}

}  // namespace
}  // namespace het::archive
