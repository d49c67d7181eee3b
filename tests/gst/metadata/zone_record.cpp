#include "gst/metadata/zone_record.h"

#include <gst/video/video.h>
#include <gtest/gtest.h>

namespace het::gst {
namespace {

ZoneRecord sample_record() {
  ZoneRecord record;
  ZoneRecord::Zone& yard = record.zones.emplace_back();
  yard.id = "yard";
  yard.points = {0.0, 0.0, 0.5, 0.0, 0.5, 1.0};
  yard.is_drawn = true;
  yard.drawing = {std::array<int, 3>{1, 2, 3}, 5};
  yard.counts["car"] = {2, 7, 5, 900, 400};
  yard.counts["person"] = {1, 1, 0, 0, 0};
  ZoneRecord::Zone& spot = record.zones.emplace_back();
  spot.id = "spot \"1\"";
  spot.is_circle = true;
  spot.points = {0.25, 0.75};
  spot.radius_x = 0.1;
  spot.radius_y = 0.2;
  ZoneRecord::Tripwire& gate = record.tripwires.emplace_back();
  gate.id = "gate";
  gate.points = {0.5, 1.0, 0.5, 0.0};
  gate.counts["car"] = {3, 4};
  return record;
}

void expect_sample(const ZoneRecord& record) {
  ASSERT_EQ(record.zones.size(), 2u);
  EXPECT_EQ(record.zones[0].id, "yard");
  EXPECT_EQ(record.zones[0].points, (std::vector<double>{0.0, 0.0, 0.5, 0.0, 0.5, 1.0}));
  EXPECT_TRUE(record.zones[0].is_drawn);
  EXPECT_EQ((*record.zones[0].drawing.color)[2], 3);
  EXPECT_EQ(record.zones[0].drawing.thickness, 5);
  EXPECT_EQ(record.zones[0].counts.at("car").visits, 7u);
  EXPECT_EQ(record.zones[0].counts.at("car").longest_ns, 400);
  EXPECT_EQ(record.zones[0].total().occupancy, 3u);
  EXPECT_EQ(record.zones[1].id, "spot \"1\"");
  EXPECT_TRUE(record.zones[1].is_circle);
  EXPECT_FALSE(record.zones[1].is_drawn);
  EXPECT_EQ(record.zones[1].radius_y, 0.2);
  ASSERT_EQ(record.tripwires.size(), 1u);
  EXPECT_EQ(record.tripwires[0].total().backward, 4u);
}

TEST(ZoneRecord, IsReadAsItWasWrittenAlsoFromACopy) {
  GstBuffer* buffer = gst_buffer_new();
  EXPECT_TRUE(read_zone_record(buffer).empty());
  attach_zone_record(buffer, sample_record());
  expect_sample(read_zone_record(buffer));
  GstBuffer* copy = gst_buffer_copy(buffer);
  gst_buffer_unref(buffer);
  expect_sample(read_zone_record(copy));
  gst_buffer_unref(copy);
}

TEST(ZoneRecord, TwoElementsRecordsAreOne) {
  GstBuffer* buffer = gst_buffer_new();
  attach_zone_record(buffer, sample_record());
  attach_zone_record(buffer, sample_record());
  EXPECT_EQ(read_zone_record(buffer).zones.size(), 4u);
  gst_buffer_unref(buffer);
}

TEST(ZoneRecord, APartOfAFrameHasNone) {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 100, nullptr);
  attach_zone_record(buffer, sample_record());
  GstBuffer* part = gst_buffer_copy_region(buffer, GST_BUFFER_COPY_ALL, 10, 20);
  EXPECT_TRUE(read_zone_record(part).empty());
  gst_buffer_unref(part);
  gst_buffer_unref(buffer);
}

TEST(ZoneRecord, WhatOthersHaveWrittenWronglyIsLeftOut) {
  GstBuffer* buffer = gst_buffer_new();
  attach_zone_record(buffer, sample_record());
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstHeteroZonesMeta");
  ASSERT_NE(meta, nullptr);
  GstStructure* structure = gst_custom_meta_get_structure(meta);
  for (const char* zones :
       {"m, zones=(int)3;", "m, zones=<(int)3>;",
        "m, zones=<(structure)[zone,zone_id=(string)a,points=<0.5,0.5>]>;",
        "m, zones=<(structure)[zone,points=<0.0,0.0,1.0,1.0,1.0,0.0>]>;",
        "m, zones=<(structure)[zone,zone_id=(string)a,points=<0.0,0.0,1.0,1.0,1.0,0.0,1.0>]>;"}) {
    GstStructure* other = gst_structure_from_string(zones, nullptr);
    ASSERT_NE(other, nullptr) << zones;
    gst_structure_set_value(structure, "zones", gst_structure_get_value(other, "zones"));
    gst_structure_free(other);
    EXPECT_TRUE(read_zone_record(buffer).zones.empty()) << zones;
    EXPECT_EQ(read_zone_record(buffer).tripwires.size(), 1u);
  }
  gst_buffer_unref(buffer);
}

TEST(ZoneRecord, ObjectsHaveParamsInBothForms) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, 200, 100);
  std::vector<MetadataForm> forms{MetadataForm::RegionOfInterest};
  if (has_analytics()) forms.push_back(MetadataForm::Analytics);
  for (const MetadataForm form : forms) {
    GstBuffer* buffer = gst_buffer_new();
    Results results;
    for (int i = 0; i < 2; ++i) {
      Detection& found = results.detections.emplace_back();
      found.x_max = found.y_max = 50.0f + static_cast<float>(i);
      found.label = "dog";
    }
    const ResultAge age{2, GST_SECOND};
    attach_results(buffer, info, "model", form, {{-1, results}}, &age);
    zones::Configuration configuration;
    configuration.zones.resize(1);
    configuration.zones[0].id = "yard";
    configuration.tripwires.resize(1);
    configuration.tripwires[0].id = "gate";
    add_zone_params(buffer, configuration, {{}, {{{0, 10, 30}}, {{0, -1, 20}}}});
    const std::vector<FrameObject> objects = frame_objects(buffer, 200, 100);
    ASSERT_EQ(objects.size(), 2u);
    EXPECT_TRUE(objects[0].zones.empty());
    EXPECT_TRUE(objects[0].is_carried);
    ASSERT_EQ(objects[1].zones.size(), 1u);
    EXPECT_EQ(objects[1].zones[0].id, "yard");
    EXPECT_EQ(objects[1].zones[0].enter_ns, 10u);
    EXPECT_EQ(objects[1].zones[0].dwell_ns, 30u);
    ASSERT_EQ(objects[1].crossings.size(), 1u);
    EXPECT_EQ(objects[1].crossings[0].direction, -1);
    EXPECT_TRUE(objects[1].attributes.empty());
    gst_buffer_unref(buffer);
  }
}

}  // namespace
}  // namespace het::gst
