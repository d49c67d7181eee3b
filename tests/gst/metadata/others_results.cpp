/// What other elements attach as GstAnalyticsRelationMeta, read by ours.
#include <gst/analytics/analytics.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "gst/metadata/metadata.h"
#include "gst/metadata/metadata_copy.h"

namespace het::gst {
namespace {

constexpr int kOthersWidth = 200;
constexpr int kOthersHeight = 100;

GQuark quark(const char* text) {
  return g_quark_from_string(text);
}

/// A mask of `width` x `height` grey values whose rows lie `stride` bytes apart.
GstBuffer* grey_mask(GstVideoFormat format, guint width, guint height, gint stride,
                     const std::vector<uint8_t>& bytes) {
  GstBuffer* mask = gst_buffer_new_allocate(nullptr, bytes.size(), nullptr);
  gst_buffer_fill(mask, 0, bytes.data(), bytes.size());
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {stride};
  gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, format, width, height, 1, offsets,
                                 strides);
  return mask;
}

class OthersResults : public testing::Test {
 protected:
  void SetUp() override {
    gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_I420, kOthersWidth, kOthersHeight);
    buffer_ = gst_buffer_new();
    relations_ = gst_buffer_add_analytics_relation_meta(buffer_);
  }
  void TearDown() override { gst_buffer_unref(buffer_); }

  /// The id of an ODMtd.
  guint add_cat() {
    GstAnalyticsODMtd cat;
    gst_analytics_relation_meta_add_od_mtd(relations_, quark("cat"), 20, 10, 100, 50, 0.5f, &cat);
    return cat.id;
  }
  void relate(guint from, guint to, GstAnalyticsRelTypes type = GST_ANALYTICS_REL_TYPE_RELATE_TO) {
    gst_analytics_relation_meta_set_relation(relations_, type, from, to);
  }
  guint add_track(guint object, guint64 id) {
    GstAnalyticsTrackingMtd track;
    gst_analytics_relation_meta_add_tracking_mtd(relations_, id, 0, &track);
    relate(object, track.id);
    return track.id;
  }
  guint add_classes(std::vector<GQuark> names, std::vector<gfloat> levels) {
    GstAnalyticsClsMtd classes;
    gst_analytics_relation_meta_add_cls_mtd(relations_, names.size(), levels.data(), names.data(),
                                            &classes);
    return classes.id;
  }
  /// Over the object add_cat() has, or over `rect`; takes the mask.
  guint add_mask(GstBuffer* mask, std::vector<guint> ids, const Rect& rect = {20, 10, 100, 50}) {
    GstAnalyticsSegmentationMtd mtd;
    EXPECT_TRUE(gst_analytics_relation_meta_add_segmentation_mtd(
        relations_, mask, GST_SEGMENTATION_TYPE_INSTANCE, ids.size(), ids.data(), rect.x, rect.y,
        static_cast<guint>(rect.width), static_cast<guint>(rect.height), &mtd));
    return mtd.id;
  }
  std::vector<FrameObject> objects() { return frame_objects(buffer_, kOthersWidth, kOthersHeight); }
  Classification color(const char* label) {
    Classification color;
    color.attribute = std::string("color_of_") + label;
    color.label = label;
    color.confidence = 0.5f;
    return color;
  }

  GstVideoInfo info_;
  GstBuffer* buffer_;
  GstAnalyticsRelationMeta* relations_;
};

TEST_F(OthersResults, ATrackersIdIsTheObjects) {
  add_track(add_cat(), 0);
  EXPECT_EQ(objects().at(0).object_id, 0);
  EXPECT_EQ(frame_regions(buffer_).at(0).object_id, 0);
}

TEST_F(OthersResults, AnIdThatIsNoIntIsNone) {
  add_track(add_cat(), guint64{G_MAXINT} + 1);
  EXPECT_EQ(objects().at(0).object_id, std::nullopt);
}

TEST_F(OthersResults, ATrackWithoutAnObjectIsNobodys) {
  add_cat();
  GstAnalyticsTrackingMtd track;
  gst_analytics_relation_meta_add_tracking_mtd(relations_, 3, 0, &track);
  ASSERT_EQ(objects().size(), 1u);
  EXPECT_EQ(objects()[0].object_id, std::nullopt);
}

TEST_F(OthersResults, OurIdReplacesThatOfAnotherTracker) {
  const guint cat = add_cat();
  add_track(cat, 3);
  for (const int id : {7, 8}) {
    set_object_id(buffer_, 0, id);
    EXPECT_EQ(objects().at(0).object_id, id);
    std::vector<guint64> told;
    gpointer state = nullptr;
    GstAnalyticsMtd track;
    while (gst_analytics_relation_meta_get_direct_related(
        relations_, cat, GST_ANALYTICS_REL_TYPE_ANY, gst_analytics_tracking_mtd_get_mtd_type(),
        &state, &track)) {
      GstClockTime time = 0;
      gboolean lost = FALSE;
      gst_analytics_tracking_mtd_get_info(&track, &told.emplace_back(), &time, &time, &lost);
    }
    EXPECT_EQ(told, (std::vector<guint64>{static_cast<guint64>(id)}));
  }
}

TEST_F(OthersResults, OfSeveralClassesTheBestCounts) {
  relate(add_cat(),
         add_classes({quark("lynx"), quark("tabby"), quark("manx")}, {0.125f, 0.75f, 0.25f}));
  const std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.at(0).attributes.size(), 1u);
  EXPECT_EQ(found[0].attributes[0].label, "tabby");
  EXPECT_EQ(found[0].attributes[0].confidence, 0.75);
}

TEST_F(OthersResults, AClassWithoutALevelHasNoConfidence) {
  relate(add_cat(), add_classes({quark("tabby")}, {-1.0f}));
  ASSERT_EQ(objects().at(0).attributes.size(), 1u);
  EXPECT_EQ(objects()[0].attributes[0].confidence, std::nullopt);
}

TEST_F(OthersResults, AClassOfTheWholePicture) {
  add_classes({quark("indoor"), quark("outdoor")}, {0.25f, 0.75f});
  const std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(is_whole_picture(found[0]));
  EXPECT_EQ(found[0].rect, (Rect{0, 0, kOthersWidth, kOthersHeight}));
  EXPECT_EQ(found[0].region_id, std::nullopt);
  ASSERT_EQ(found[0].attributes.size(), 1u);
  EXPECT_EQ(found[0].attributes[0].label, "outdoor");
  EXPECT_TRUE(frame_regions(buffer_).empty()) << "nothing that could be classified";
}

/// Indices of regions stay the same when something is said of the whole picture.
TEST_F(OthersResults, WhatIsAddedBehindAClassOfTheWholePictureIsFound) {
  add_classes({quark("indoor")}, {0.5f});
  add_cat();
  ASSERT_EQ(frame_regions(buffer_).size(), 1u);
  const int cat = frame_regions(buffer_)[0].index;
  Results colors;
  colors.classifications = {color("brown"), color("white")};
  attach_results(buffer_, info_, "m", MetadataForm::Analytics, {{cat, colors}, {-1, colors}});
  set_object_id(buffer_, cat, 7);
  std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].attributes.size(), 1u);
  EXPECT_EQ(found[1].type, "cat");
  EXPECT_EQ(found[1].object_id, 7);
  ASSERT_EQ(found[1].attributes.size(), 2u) << "both that were found in one object of others";
  EXPECT_EQ(found[1].attributes[1].label, "white");
  EXPECT_EQ(found[2].attributes.size(), 2u) << "ours of the whole picture";
  // As heteroclassify does where it is told to look into a region that stands for the picture.
  RegionMeta::all(buffer_).at(0).add_params(
      gst_structure_new("classification", "label", G_TYPE_STRING, "kitchen", nullptr));
  found = objects();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].attributes.size(), 2u);
}

TEST_F(OthersResults, AMaskWithPaddedRowsIsTheObjects) {
  const guint cat = add_cat();
  relate(cat, add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY8, 3, 2, 4, {0, 5, 5, 9, 5, 0, 0}), {0}));
  const std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].tensors.masks.size(), 1u);
  const ObjectMask& mask = found[0].tensors.masks[0];
  EXPECT_EQ(mask.rows(), 2);
  EXPECT_EQ(mask.columns(), 3);
  std::vector<bool> covered;
  for (size_t cell = 0; cell < 6; ++cell) covered.push_back(mask.covers(cell));
  EXPECT_EQ(covered, (std::vector<bool>{false, true, true, true, false, false}));
  EXPECT_DOUBLE_EQ(mask.x_min, 0.1);
  EXPECT_DOUBLE_EQ(mask.x_max, 0.6);
  EXPECT_DOUBLE_EQ(mask.y_min, 0.1);
  EXPECT_DOUBLE_EQ(mask.y_max, 0.6);
  EXPECT_TRUE(found[0].tensors.segmentations.empty());
}

TEST_F(OthersResults, SeveralRegionsInAnObjectAreASegmentation) {
  relate(add_cat(), add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY8, 2, 1, 2, {1, 2}), {1, 2}));
  ASSERT_EQ(objects().size(), 1u);
  EXPECT_TRUE(objects()[0].tensors.masks.empty());
  EXPECT_EQ(objects()[0].tensors.segmentations.size(), 1u);
}

TEST_F(OthersResults, ASegmentationOfTheWholePictureWithNames) {
  const guint segmentation =
      add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY16_LE, 2, 1, 4, {0x2c, 0x01, 0x02, 0x00}), {300, 2},
               {0, 50, 200, 50});
  relate(segmentation, add_classes({quark("road"), quark("sky")}, {-1.0f, -1.0f}),
         GST_ANALYTICS_REL_TYPE_N_TO_N);
  const std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(is_whole_picture(found[0]));
  EXPECT_TRUE(found[0].attributes.empty()) << "names of regions are no class of the picture";
  ASSERT_EQ(found[0].tensors.segmentations.size(), 1u);
  const ObjectSegmentation& read = found[0].tensors.segmentations[0];
  EXPECT_EQ(read.class_id(0), 300);
  EXPECT_EQ(read.class_id(1), 2);
  EXPECT_EQ(read.labels.at(300), "road");
  EXPECT_EQ(read.labels.at(2), "sky");
  EXPECT_DOUBLE_EQ(read.y_min, 0.5);
  EXPECT_DOUBLE_EQ(read.y_max, 1.0);
}

TEST_F(OthersResults, BigEndianIdsAreTheSame) {
  add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY16_BE, 1, 1, 2, {0x01, 0x2c}), {300});
  ASSERT_EQ(objects().size(), 1u);
  ASSERT_EQ(objects()[0].tensors.segmentations.size(), 1u);
  EXPECT_EQ(objects()[0].tensors.segmentations[0].class_id(0), 300);
}

/// Masks that do not hold what they say are left out, and the object stays.
TEST_F(OthersResults, MalformedMasksAreNotRead) {
  const std::vector<std::function<void(GstVideoMeta*)>> damages = {
      [](GstVideoMeta* meta) { meta->height = 3; },
      [](GstVideoMeta* meta) { meta->height = G_MAXUINT; },
      [](GstVideoMeta* meta) { meta->width = 5; },
      [](GstVideoMeta* meta) { meta->width = 0; },
      [](GstVideoMeta* meta) { meta->stride[0] = 1; },
      [](GstVideoMeta* meta) { meta->stride[0] = -4; },
      [](GstVideoMeta* meta) { meta->stride[0] = G_MAXINT; },
      [](GstVideoMeta* meta) { meta->offset[0] = 2; },
      [](GstVideoMeta* meta) { meta->offset[0] = G_MAXSIZE; },
      [](GstVideoMeta* meta) { meta->format = GST_VIDEO_FORMAT_RGB; },
      [](GstVideoMeta* meta) { meta->format = GST_VIDEO_FORMAT_GRAY16_LE; },
  };
  const guint cat = add_cat();
  size_t damaged = 0;
  for (const auto& damage : damages) {
    GstBuffer* mask = grey_mask(GST_VIDEO_FORMAT_GRAY8, 4, 2, 4, {0, 1, 1, 0, 1, 1, 1, 1});
    GstVideoMeta* meta = gst_buffer_get_video_meta(mask);
    relate(cat, add_mask(mask, {0, 1}));
    ASSERT_EQ(objects().at(0).tensors.masks.size(), 1u) << damaged;
    damage(meta);
    EXPECT_TRUE(objects().at(0).tensors.masks.empty()) << damaged;
    ++damaged;
  }
  relate(cat, add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY8, 1, 1, 1, {1}), {1}, {20, 10, 0, 50}));
  EXPECT_TRUE(objects().at(0).tensors.masks.empty()) << "over nothing";
}

TEST_F(OthersResults, ATurnedBoxIsTurned) {
  GstAnalyticsODMtd ship;
  gst_analytics_relation_meta_add_oriented_od_mtd(relations_, quark("ship"), 80, 40, 40, 20,
                                                  static_cast<gfloat>(G_PI_2), 0.5f, &ship);
  const std::vector<FrameObject> found = objects();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rect, (Rect{90, 30, 20, 40})) << "upright, around it";
  ASSERT_TRUE(found[0].detection);
  EXPECT_NEAR(found[0].detection->rotation, G_PI_2, 1e-6);
  EXPECT_DOUBLE_EQ(found[0].detection->x_min, 0.4);
  EXPECT_DOUBLE_EQ(found[0].detection->y_max, 0.6);
}

TEST_F(OthersResults, CopiesKeepWhatOthersFound) {
  const guint cat = add_cat();
  add_track(cat, 5);
  relate(cat, add_mask(grey_mask(GST_VIDEO_FORMAT_GRAY8, 2, 1, 2, {0, 4}), {0, 4}));
  add_classes({quark("indoor")}, {0.5f});
  GstVideoInfo half;
  gst_video_info_set_format(&half, GST_VIDEO_FORMAT_I420, kOthersWidth / 2, kOthersHeight / 2);
  GstBuffer* to = gst_buffer_new();
  EXPECT_EQ(copy_regions(buffer_, info_, to, half), 2);
  const std::vector<FrameObject> found = frame_objects(to, kOthersWidth / 2, kOthersHeight / 2);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rect, (Rect{10, 5, 50, 25}));
  EXPECT_EQ(found[0].object_id, 5);
  ASSERT_EQ(found[0].tensors.masks.size(), 1u);
  EXPECT_NEAR(found[0].tensors.masks[0].x_max, 0.6, 1e-6);
  EXPECT_TRUE(found[0].tensors.masks[0].covers(1));
  EXPECT_FALSE(found[0].tensors.masks[0].covers(0));
  EXPECT_TRUE(is_whole_picture(found[1]));
  ASSERT_EQ(found[1].attributes.size(), 1u);
  EXPECT_EQ(found[1].attributes[0].label, "indoor");
  gst_buffer_unref(to);
}

}  // namespace
}  // namespace het::gst
