#include "gst/metadata/picture_change.h"

#include <gtest/gtest.h>

#include "gst/metadata/metadata.h"

namespace het::gst {
namespace {

GstVideoInfo picture(int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, static_cast<guint>(width),
                            static_cast<guint>(height));
  return info;
}

TEST(PictureChange, ScaledAsBeforeInAllVersions) {
  GstVideoInfo from = picture(200, 100);
  GstVideoInfo to = picture(100, 50);
  GstVideoMetaTransform scale{&from, &to};
  const auto change = PictureChange::from(g_quark_from_static_string("gst-video-scale"), &scale);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->keeps_relative_places());
  EXPECT_EQ(change->rect({20, 25, 50, 50}), (Rect{10, 13, 25, 25}));
  EXPECT_EQ(change->rect({190, 90, 50, 50}), (Rect{95, 45, 5, 5}));
  EXPECT_FALSE(PictureChange::from(g_quark_from_static_string("other"), &scale));
}

#if GST_CHECK_VERSION(1, 28, 0)

/// A change by a matrix of the part `in` of a picture to the part `out` of another one.
class ByMatrix : public testing::Test {
 protected:
  void set(const GstVideoInfo& from, const GstVideoRectangle& in, const GstVideoInfo& to,
           const GstVideoRectangle& out) {
    from_ = from;
    to_ = to;
    gst_video_meta_transform_matrix_init(&matrix_, &from_, &in, &to_, &out);
  }
  std::optional<PictureChange> change() {
    return PictureChange::from(gst_video_meta_transform_matrix_get_quark(), &matrix_);
  }
  /// A frame with one object at (100, 40) of 60x20 and a mask, as it is behind the change.
  std::vector<FrameObject> objects_behind(MetadataForm form) {
    GstBuffer* before = gst_buffer_new();
    Detection dog;
    dog.x_min = 100.0f;
    dog.y_min = 40.0f;
    dog.x_max = 160.0f;
    dog.y_max = 60.0f;
    dog.label = "dog";
    dog.mask.width = 2;
    dog.mask.height = 1;
    dog.mask.values = {0.25f, 0.75f};
    dog.landmarks.points = {{115.0f, 45.0f}};
    dog.landmarks.confidences = {1.0f};
    attach_results(before, from_, "m", form, {{-1, {{dog}, {}}}});
    GstBuffer* behind = gst_buffer_new();
    gpointer state = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta(before, &state))
      meta->info->transform_func(behind, meta, before, gst_video_meta_transform_matrix_get_quark(),
                                 &matrix_);
    std::vector<FrameObject> objects =
        frame_objects(behind, GST_VIDEO_INFO_WIDTH(&to_), GST_VIDEO_INFO_HEIGHT(&to_));
    gst_buffer_unref(before);
    gst_buffer_unref(behind);
    return objects;
  }

  GstVideoInfo from_, to_;
  GstVideoMetaTransformMatrix matrix_;
};

TEST_F(ByMatrix, CutPicturesMoveAllPlaces) {
  set(picture(200, 100), {80, 20, 100, 50}, picture(100, 50), {0, 0, 100, 50});
  for (const MetadataForm form : {MetadataForm::Analytics, MetadataForm::RegionOfInterest}) {
    const std::vector<FrameObject> found = objects_behind(form);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rect, (Rect{20, 20, 60, 20}));
    EXPECT_NEAR(found[0].detection.value().x_min, 0.2, 1e-6);
    EXPECT_NEAR(found[0].detection.value().y_max, 0.8, 1e-6);
    ASSERT_EQ(found[0].tensors.masks.size(), 1u);
    EXPECT_NEAR(found[0].tensors.masks[0].x_max, 0.8, 1e-6);
    ASSERT_EQ(found[0].tensors.keypoints.size(), 1u);
    EXPECT_NEAR(found[0].tensors.keypoints[0].x(0), 0.25f, 1e-6f);
    EXPECT_NEAR(found[0].tensors.keypoints[0].y(0), 0.25f, 1e-6f);
  }
}

TEST_F(ByMatrix, BordersMoveAllPlaces) {
  set(picture(200, 100), {0, 0, 200, 100}, picture(100, 100), {0, 25, 100, 50});
  for (const MetadataForm form : {MetadataForm::Analytics, MetadataForm::RegionOfInterest}) {
    const std::vector<FrameObject> found = objects_behind(form);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rect, (Rect{50, 45, 30, 10}));
    EXPECT_NEAR(found[0].detection.value().x_min, 0.5, 1e-6);
    EXPECT_NEAR(found[0].detection.value().y_min, 0.45, 1e-6);
  }
}

/// Half of the region is cut off: points are relative to what is left of it.
TEST_F(ByMatrix, ARegionAtTheSideIsCutOff) {
  set(picture(200, 100), {0, 0, 130, 100}, picture(130, 100), {0, 0, 130, 100});
  const std::vector<FrameObject> found = objects_behind(MetadataForm::RegionOfInterest);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rect, (Rect{100, 40, 30, 20}));
  ASSERT_EQ(found[0].tensors.keypoints.size(), 1u);
  EXPECT_NEAR(found[0].tensors.keypoints[0].x(0), 0.5f, 1e-6f);
  EXPECT_NEAR(found[0].tensors.keypoints[0].y(0), 0.25f, 1e-6f);
}

TEST_F(ByMatrix, ARegionThatIsCutAwayIsGone) {
  set(picture(200, 100), {0, 0, 100, 100}, picture(100, 100), {0, 0, 100, 100});
  EXPECT_TRUE(objects_behind(MetadataForm::RegionOfInterest).empty());
}

TEST_F(ByMatrix, AMirroredPictureHasNoMasks) {
  set(picture(200, 100), {0, 0, 200, 100}, picture(200, 100), {0, 0, 200, 100});
  matrix_.matrix[0][0] = -1.0f;
  matrix_.matrix[0][2] = 200.0f;
  for (const MetadataForm form : {MetadataForm::Analytics, MetadataForm::RegionOfInterest}) {
    const std::vector<FrameObject> found = objects_behind(form);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rect, (Rect{40, 40, 60, 20}));
    EXPECT_NEAR(found[0].detection.value().x_min, 0.2, 1e-6);
    EXPECT_NEAR(found[0].detection.value().x_max, 0.5, 1e-6);
    EXPECT_TRUE(found[0].tensors.masks.empty());
    ASSERT_EQ(found[0].tensors.keypoints.size(), 1u);
    EXPECT_NEAR(found[0].tensors.keypoints[0].x(0), 0.75f, 1e-6f);
    EXPECT_NEAR(found[0].tensors.keypoints[0].y(0), 0.25f, 1e-6f);
  }
}

/// x' = 100 - y, y' = x: a quarter clockwise.
TEST_F(ByMatrix, ATurnedPicture) {
  set(picture(200, 100), {0, 0, 200, 100}, picture(100, 200), {0, 0, 100, 200});
  matrix_.matrix[0][0] = matrix_.matrix[1][1] = 0.0f;
  matrix_.matrix[0][1] = -1.0f;
  matrix_.matrix[0][2] = 100.0f;
  matrix_.matrix[1][0] = 1.0f;
  for (const MetadataForm form : {MetadataForm::Analytics, MetadataForm::RegionOfInterest}) {
    const std::vector<FrameObject> found = objects_behind(form);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rect, (Rect{40, 100, 20, 60}));
    EXPECT_NEAR(found[0].detection.value().x_min, 0.4, 1e-6);
    EXPECT_NEAR(found[0].detection.value().y_min, 0.5, 1e-6);
    ASSERT_EQ(found[0].tensors.keypoints.size(), 1u);
    EXPECT_NEAR(found[0].tensors.keypoints[0].x(0), 0.75f, 1e-6f);
    EXPECT_NEAR(found[0].tensors.keypoints[0].y(0), 0.25f, 1e-6f);
  }
}

TEST_F(ByMatrix, ShearedPicturesHaveNoRectangles) {
  set(picture(200, 100), {0, 0, 200, 100}, picture(200, 100), {0, 0, 200, 100});
  matrix_.matrix[0][1] = 0.5f;
  EXPECT_FALSE(change());
}

#endif

}  // namespace
}  // namespace het::gst
