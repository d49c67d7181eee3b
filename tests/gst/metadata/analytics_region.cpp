#include "gst/metadata/analytics_region.h"

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include "gst/metadata/metadata.h"

namespace het::gst {
namespace {

class AnalyticsMetadata : public testing::Test {
 protected:
  void SetUp() override {
    gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_I420, 200, 100);
    buffer_ = gst_buffer_new();
  }
  void TearDown() override { gst_buffer_unref(buffer_); }

  void attach_dog() {
    Detection dog;
    dog.x_min = 20.0f;
    dog.y_min = 25.0f;
    dog.x_max = 70.0f;
    dog.y_max = 75.0f;
    dog.confidence = 0.75f;
    dog.label = "dog";
    attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{-1, {{dog}, {}}}});
  }
  void attach_class(int region) {
    Classification color;
    color.attribute = "color";
    color.label = "brown";
    color.confidence = 0.5f;
    attach_results(buffer_, info_, "second", MetadataForm::Analytics, {{region, {{}, {color}}}});
  }
  GstAnalyticsRelationMeta* relations() { return gst_buffer_get_analytics_relation_meta(buffer_); }
  /// The next Mtd of a type; fails where there is none.
  bool next(gpointer* state, GstAnalyticsMtdType type, GstAnalyticsMtd* mtd) {
    return gst_analytics_relation_meta_iterate(relations(), state, type, mtd);
  }

  GstVideoInfo info_;
  GstBuffer* buffer_;
};

TEST_F(AnalyticsMetadata, OthersFindObjectsAndTheirClasses) {
  attach_dog();
  attach_class(0);
  EXPECT_EQ(gst_buffer_get_video_region_of_interest_meta(buffer_), nullptr);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  ASSERT_TRUE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &mtd));
  Rect rect;
  gfloat confidence = 0.0f;
  gst_analytics_od_mtd_get_location(&mtd, &rect.x, &rect.y, &rect.width, &rect.height, &confidence);
  EXPECT_EQ(rect, (Rect{20, 25, 50, 50}));
  EXPECT_EQ(confidence, 0.75f);
  EXPECT_STREQ(g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&mtd)), "dog");
  GstAnalyticsMtd cls;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations(), mtd.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_cls_mtd_get_mtd_type(),
      nullptr, &cls));
  EXPECT_STREQ(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&cls, 0)), "brown");
  EXPECT_EQ(gst_analytics_cls_mtd_get_level(&cls, 0), 0.5f);
  EXPECT_FALSE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &mtd));
}

TEST_F(AnalyticsMetadata, OthersFindTheTrack) {
  attach_dog();
  set_object_id(buffer_, 0, 7);
  set_object_id(buffer_, 0, 7);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  ASSERT_TRUE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &mtd));
  GstAnalyticsMtd track;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations(), mtd.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_tracking_mtd_get_mtd_type(), nullptr, &track));
  guint64 id = 0;
  GstClockTime first = 0;
  GstClockTime last = 0;
  gboolean lost = FALSE;
  ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&track, &id, &first, &last, &lost));
  EXPECT_EQ(id, 7u);
  EXPECT_EQ(frame_objects(buffer_, 200, 100).at(0).object_id, 7);
  state = nullptr;
  EXPECT_TRUE(next(&state, gst_analytics_tracking_mtd_get_mtd_type(), &mtd));
  EXPECT_FALSE(next(&state, gst_analytics_tracking_mtd_get_mtd_type(), &mtd));
}

TEST_F(AnalyticsMetadata, AClassOfTheWholePictureIsNoObject) {
  attach_class(-1);
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  EXPECT_FALSE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &mtd));
  state = nullptr;
  EXPECT_TRUE(next(&state, gst_analytics_cls_mtd_get_mtd_type(), &mtd));
}

TEST_F(AnalyticsMetadata, ObjectsOfOtherElementsAreRegions) {
  auto* meta = gst_buffer_add_analytics_relation_meta(buffer_);
  GstAnalyticsODMtd cat;
  gst_analytics_relation_meta_add_od_mtd(meta, g_quark_from_string("cat"), 20, 10, 100, 50, 0.5f,
                                         &cat);
  GstAnalyticsClsMtd cls;
  gst_analytics_relation_meta_add_one_cls_mtd(meta, 0.25f, g_quark_from_string("tabby"), &cls);
  gst_analytics_relation_meta_set_relation(meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, cat.id, cls.id);
  ASSERT_EQ(frame_regions(buffer_).size(), 1u);
  EXPECT_EQ(frame_regions(buffer_)[0].type, "cat");
  attach_class(0);

  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].rect, (Rect{20, 10, 100, 50}));
  ASSERT_TRUE(objects[0].detection);
  EXPECT_EQ(objects[0].detection->confidence, 0.5);
  EXPECT_NEAR(objects[0].detection->x_max, 0.6, 1e-9);
  EXPECT_NEAR(objects[0].detection->y_min, 0.1, 1e-9);
  ASSERT_EQ(objects[0].attributes.size(), 2u);
  EXPECT_EQ(objects[0].attributes[0].label, "brown");
  EXPECT_EQ(objects[0].attributes[0].name, "color");
  EXPECT_EQ(objects[0].attributes[1].label, "tabby");
  EXPECT_EQ(objects[0].attributes[1].confidence, 0.25);
}

TEST_F(AnalyticsMetadata, OthersFindASegmentationAndTheNamesOfItsClasses) {
  Results results;
  Segmentation& street = results.segmentations.emplace_back();
  street.x_max = 200.0f;
  street.y_min = 50.0f;
  street.y_max = 100.0f;
  street.width = 3;
  street.height = 2;
  street.class_ids = {0, 2, 2, 300, 2, 0};
  street.labels = {"sky", "tree", "road"};
  attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{-1, results}});
  gpointer state = nullptr;
  GstAnalyticsSegmentationMtd mtd;
  ASSERT_TRUE(next(&state, gst_analytics_segmentation_mtd_get_mtd_type(), &mtd));
  // Upstream's overlay takes the ids for indices of the names.
  ASSERT_EQ(gst_analytics_segmentation_mtd_get_region_count(&mtd), 301u);
  EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_id(&mtd, 2), 2u);
  EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_id(&mtd, 300), 300u);
  Rect rect;
  guint width = 0;
  guint height = 0;
  GstBuffer* mask =
      gst_analytics_segmentation_mtd_get_mask(&mtd, &rect.x, &rect.y, &width, &height);
  EXPECT_EQ(rect.y, 50);
  EXPECT_EQ(width, 200u);
  EXPECT_EQ(height, 50u);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(mask);
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->format, GST_VIDEO_FORMAT_GRAY16_LE);
  EXPECT_EQ(meta->width, 3u);
  std::vector<uint16_t> ids(6);
  EXPECT_EQ(gst_buffer_extract(mask, 0, ids.data(), 12), 12u);
  EXPECT_EQ(ids, street.class_ids);
  gst_buffer_unref(mask);
  for (const auto relation : {GST_ANALYTICS_REL_TYPE_RELATE_TO, GST_ANALYTICS_REL_TYPE_N_TO_N}) {
    GstAnalyticsMtd cls;
    ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
        relations(), mtd.id, relation, gst_analytics_cls_mtd_get_mtd_type(), nullptr, &cls));
    EXPECT_STREQ(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&cls, 2)), "road");
  }
  // It is not read twice.
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].tensors.segmentations.size(), 1u);
  EXPECT_TRUE(objects[0].attributes.empty());
}

/// Upstream's overlay would draw it in another place.
TEST_F(AnalyticsMetadata, OthersFindThePartOfAMaskInsideThePicture) {
  Detection dog;
  dog.x_min = -50.0f;
  dog.y_min = 25.0f;
  dog.x_max = 50.0f;
  dog.y_max = 75.0f;
  dog.mask.width = 4;
  dog.mask.height = 1;
  dog.mask.values = {1.0f, 0.0f, 0.0f, 1.0f};
  attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{-1, {{dog, dog}, {}}}});
  gpointer state = nullptr;
  for (const uint8_t number : {1, 2}) {
    GstAnalyticsSegmentationMtd mtd;
    ASSERT_TRUE(next(&state, gst_analytics_segmentation_mtd_get_mtd_type(), &mtd));
    Rect rect;
    guint width = 0;
    guint height = 0;
    GstBuffer* mask =
        gst_analytics_segmentation_mtd_get_mask(&mtd, &rect.x, &rect.y, &width, &height);
    EXPECT_EQ(rect.x, 0);
    EXPECT_EQ(width, 50u);
    EXPECT_EQ(height, 50u);
    uint8_t covered[2] = {9, 9};
    EXPECT_EQ(gst_buffer_extract(mask, 0, covered, 2), 2u);
    EXPECT_EQ(gst_buffer_get_size(mask), 2u);
    EXPECT_EQ(covered[0], 0);
    EXPECT_EQ(covered[1], number) << "objects differ";
    gst_buffer_unref(mask);
  }
  EXPECT_EQ(frame_objects(buffer_, 200, 100).at(0).tensors.masks.size(), 1u) << "ours, once";
}

TEST_F(AnalyticsMetadata, OthersFindATurnedBox) {
  Detection ship;
  ship.x_min = 80.0f;
  ship.y_min = 40.0f;
  ship.x_max = 120.0f;
  ship.y_max = 60.0f;
  ship.rotation = -static_cast<float>(G_PI_2);
  attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{-1, {{ship}, {}}}});
  gpointer state = nullptr;
  GstAnalyticsODMtd mtd;
  ASSERT_TRUE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &mtd));
  Rect rect;
  gfloat rotation = 0.0f;
  gst_analytics_od_mtd_get_oriented_location(&mtd, &rect.x, &rect.y, &rect.width, &rect.height,
                                             &rotation, nullptr);
  EXPECT_EQ(rect, (Rect{80, 40, 40, 20}));
  EXPECT_NEAR(rotation, 1.5 * G_PI, 1e-5) << "0 to 2 pi";
  gst_analytics_od_mtd_get_location(&mtd, &rect.x, &rect.y, &rect.width, &rect.height, nullptr);
  EXPECT_EQ(rect, (Rect{90, 30, 20, 40})) << "upright, around it";
  EXPECT_EQ(frame_objects(buffer_, 200, 100).at(0).rect, rect);
}

TEST_F(AnalyticsMetadata, OthersFindAnObjectsMask) {
  Detection dog;
  dog.x_min = 20.0f;
  dog.y_min = 25.0f;
  dog.x_max = 70.0f;
  dog.y_max = 75.0f;
  dog.label = "dog";
  dog.mask.width = 2;
  dog.mask.height = 1;
  dog.mask.values = {0.25f, 0.75f};
  attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{-1, {{dog}, {}}}});
  gpointer state = nullptr;
  GstAnalyticsMtd object;
  ASSERT_TRUE(next(&state, gst_analytics_od_mtd_get_mtd_type(), &object));
  GstAnalyticsMtd mtd;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations(), object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_segmentation_mtd_get_mtd_type(), nullptr, &mtd));
  Rect rect;
  guint width = 0;
  guint height = 0;
  GstBuffer* mask =
      gst_analytics_segmentation_mtd_get_mask(&mtd, &rect.x, &rect.y, &width, &height);
  EXPECT_EQ(rect.x, 20);
  EXPECT_EQ(width, 50u);
  uint8_t covered[2] = {9, 9};
  EXPECT_EQ(gst_buffer_extract(mask, 0, covered, 2), 2u);
  EXPECT_EQ(covered[0], 0);
  EXPECT_EQ(covered[1], 1);
  gst_buffer_unref(mask);
}

TEST_F(AnalyticsMetadata, ParamsAreCopiedAndFreedWithTheirBuffers) {
  attach_dog();
  GstBuffer* payload = gst_buffer_new();
  RegionMeta::all(buffer_).at(0).add_params(
      gst_structure_new("own", "payload", GST_TYPE_BUFFER, payload, nullptr));
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(payload), 2);
  GstBuffer* copy = gst_buffer_copy(buffer_);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(payload), 3);
  EXPECT_EQ(g_list_length(const_cast<GList*>(RegionMeta::all(copy).at(0).params())), 2u);
  gst_buffer_unref(copy);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(payload), 2);
  gst_buffer_unref(buffer_);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(payload), 1);
  gst_buffer_unref(payload);
  buffer_ = gst_buffer_new();
}

/// A pool keeps the meta on its buffers and clears it when they come back.
TEST_F(AnalyticsMetadata, ABufferThatReturnsToItsPoolForgets) {
  GstBufferPool* pool = gst_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, nullptr, 16, 1, 1);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool, config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  GstBuffer* payload = gst_buffer_new();
  for (int round = 0; round < 3; ++round) {
    gst_buffer_unref(buffer_);
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer_, nullptr), GST_FLOW_OK);
    EXPECT_TRUE(frame_regions(buffer_).empty());
    attach_dog();
    RegionMeta::all(buffer_).at(0).add_params(
        gst_structure_new("own", "payload", GST_TYPE_BUFFER, payload, nullptr));
  }
  gst_buffer_unref(buffer_);
  EXPECT_EQ(GST_MINI_OBJECT_REFCOUNT_VALUE(payload), 1);
  gst_buffer_unref(payload);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
  buffer_ = gst_buffer_new();
}

TEST_F(AnalyticsMetadata, RegionsFollowAScaledPicture) {
  attach_dog();
  attach_class(-1);
  GstVideoInfo half;
  gst_video_info_set_format(&half, GST_VIDEO_FORMAT_I420, 100, 50);
  GstVideoMetaTransform scale{&info_, &half};
  GstBuffer* scaled = gst_buffer_new();
  auto* meta = reinterpret_cast<GstMeta*>(relations());
  ASSERT_TRUE(meta->info->transform_func(scaled, meta, buffer_,
                                         g_quark_from_static_string("gst-video-scale"), &scale));
  const std::vector<FrameObject> objects = frame_objects(scaled, 100, 50);
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0].rect, (Rect{10, 12, 25, 25}));
  EXPECT_EQ(objects[1].rect, (Rect{0, 0, 100, 50}));
  gst_buffer_unref(scaled);
}

}  // namespace
}  // namespace het::gst
