#include "gst/metadata/metadata.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace het::gst {
namespace {

Detection detection(float x_min, float y_min, float x_max, float y_max) {
  Detection found;
  found.x_min = x_min;
  found.y_min = y_min;
  found.x_max = x_max;
  found.y_max = y_max;
  found.confidence = 0.75f;
  found.label_id = 3;
  found.label = "dog";
  return found;
}

/// Everything holds in both forms.
class Metadata : public testing::TestWithParam<MetadataForm> {
 protected:
  void SetUp() override {
    gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_I420, 200, 100);
    buffer_ = gst_buffer_new();
  }
  void TearDown() override { gst_buffer_unref(buffer_); }

  int attach(const Detection& found) {
    return attach_results(buffer_, info_, "model", GetParam(), {{-1, {{found}, {}}}});
  }

  GstVideoInfo info_;
  GstBuffer* buffer_;
};

class RegionOfInterest : public Metadata {};

TEST_P(RegionOfInterest, HoldsADetection) {
  EXPECT_EQ(attach(detection(20.0f, 25.0f, 70.4f, 75.0f)), 1);
  const GstVideoRegionOfInterestMeta* region =
      gst_buffer_get_video_region_of_interest_meta(buffer_);
  ASSERT_NE(region, nullptr);
  EXPECT_STREQ(g_quark_to_string(region->roi_type), "dog");
  EXPECT_EQ(region->x, 20u);
  EXPECT_EQ(region->y, 25u);
  EXPECT_EQ(region->w, 50u);
  EXPECT_EQ(region->h, 50u);
  const GstStructure* params = gst_video_region_of_interest_meta_get_param(
      const_cast<GstVideoRegionOfInterestMeta*>(region), "detection");
  ASSERT_NE(params, nullptr);
  double x_max = 0.0;
  int label_id = 0;
  ASSERT_TRUE(gst_structure_get(params, "x_max", G_TYPE_DOUBLE, &x_max, "label_id", G_TYPE_INT,
                                &label_id, nullptr));
  EXPECT_NEAR(x_max, 0.352, 1e-6);
  EXPECT_EQ(label_id, 3);
  EXPECT_STREQ(gst_structure_get_string(params, "model_name"), "model");
  EXPECT_STREQ(gst_structure_get_string(params, "label"), "dog");
}

TEST_P(Metadata, BoxesAreClippedToThePicture) {
  EXPECT_EQ(attach(detection(-50.0f, -20.0f, 1000.0f, 50.0f)), 1);
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].rect, (Rect{0, 0, 200, 50}));
  EXPECT_EQ(objects[0].detection->x_min, 0.0);
  EXPECT_EQ(objects[0].detection->x_max, 1.0);
}

TEST_P(Metadata, ASmallBoxHasOnePixelAtLeast) {
  EXPECT_EQ(attach(detection(199.6f, 99.7f, 199.9f, 99.9f)), 1);
  EXPECT_EQ(frame_objects(buffer_, 200, 100)[0].rect, (Rect{199, 99, 1, 1}));
}

TEST_P(Metadata, WhatIsNotInThePictureIsLeftOut) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(attach(detection(200.0f, 0.0f, 300.0f, 50.0f)), 0);
  EXPECT_EQ(attach(detection(-30.0f, 0.0f, 0.0f, 50.0f)), 0);
  EXPECT_EQ(attach(detection(50.0f, 50.0f, 40.0f, 60.0f)), 0);
  EXPECT_EQ(attach(detection(nan, 0.0f, 10.0f, 10.0f)), 0);
  EXPECT_EQ(attach(detection(0.0f, 0.0f, nan, nan)), 0);
  EXPECT_EQ(attach(detection(-inf, -inf, inf, inf)), 1);
  EXPECT_EQ(frame_objects(buffer_, 200, 100)[0].rect, (Rect{0, 0, 200, 100}));
}

TEST_P(Metadata, ATurnedBoxKeepsItsSidesInAnUprightRegion) {
  // 40 x 20 about (100, 50), turned by a quarter: the region is 20 x 40.
  Detection ship = detection(80.0f, 40.0f, 120.0f, 60.0f);
  ship.rotation = 1.57079633f;
  EXPECT_EQ(attach(ship), 1);
  const FrameObject object = frame_objects(buffer_, 200, 100).at(0);
  EXPECT_EQ(object.rect, (Rect{90, 30, 20, 40}));
  EXPECT_NEAR(object.detection->rotation, 1.57079633, 1e-6);
  EXPECT_NEAR(object.detection->x_min, 0.4, 1e-6);
  EXPECT_NEAR(object.detection->x_max, 0.6, 1e-6);
  EXPECT_NEAR(object.detection->y_min, 0.4, 1e-6);
  EXPECT_NEAR(object.detection->y_max, 0.6, 1e-6);
}

TEST_P(Metadata, MasksAndJointsGoWithTheirObject) {
  Detection person = detection(20.0f, 20.0f, 60.0f, 100.0f);
  person.mask = {2, 3, {0.1f, 0.9f, 0.2f, 0.8f, 0.0f, 0.5f}};
  person.landmarks.points = {{30.0f, 60.0f}, {50.0f, 40.0f}};
  person.landmarks.confidences = {0.75f, 0.0f};
  person.landmarks.names = {"head", "foot"};
  person.landmarks.connections = {{0, 1}};
  attach(person);
  const FrameObject object = frame_objects(buffer_, 200, 100).at(0);
  ASSERT_EQ(object.tensors.masks.size(), 1u);
  const ObjectMask& mask = object.tensors.masks[0];
  EXPECT_EQ(mask.columns(), 2);
  EXPECT_EQ(mask.rows(), 3);
  EXPECT_EQ(mask.origin.format, "instance_segmentation");
  EXPECT_NEAR(mask.x_min, 0.1, 1e-6);
  EXPECT_NEAR(mask.y_max, 1.0, 1e-6);
  EXPECT_TRUE(mask.covers(1));
  EXPECT_TRUE(mask.covers(5));
  EXPECT_FALSE(mask.covers(4));
  EXPECT_FALSE(object.landmarks);
  ASSERT_EQ(object.tensors.keypoints.size(), 1u);
  const ObjectKeypoints& body = object.tensors.keypoints[0];
  EXPECT_FLOAT_EQ(body.x(0), 0.25f);
  EXPECT_FLOAT_EQ(body.y(0), 0.5f);
  EXPECT_FALSE(body.found(1));
  EXPECT_EQ(body.names[1], "foot");
  EXPECT_EQ(body.connections.size(), 1u);
}

TEST_P(Metadata, AMaskThatDoesNotFitItsSizeIsLeftOut) {
  Detection odd = detection(20.0f, 20.0f, 60.0f, 100.0f);
  odd.mask = {2, 3, {0.5f}};
  EXPECT_EQ(attach(odd), 1);
  EXPECT_TRUE(frame_objects(buffer_, 200, 100).at(0).tensors.empty());
}

TEST_P(Metadata, LandmarksAndAttributesReadBack) {
  Detection face = detection(10.0f, 10.0f, 60.0f, 60.0f);
  face.landmarks.points = {{20.0f, 30.0f}, {40.0f, 30.0f}};
  face.landmarks.names = {"left_eye", "right_eye"};
  attach(face);
  attach(detection(100.0f, 10.0f, 150.0f, 60.0f));
  Classification color;
  color.attribute = "color";
  color.label = "red";
  color.label_id = 1;
  color.confidence = 0.5f;
  Classification nameless;
  nameless.label_id = 7;
  EXPECT_EQ(attach_results(buffer_, info_, "second", GetParam(), {{1, {{}, {color, nameless}}}}),
            0);

  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 2u);
  ASSERT_TRUE(objects[0].landmarks);
  EXPECT_EQ(objects[0].landmarks->names, face.landmarks.names);
  EXPECT_NEAR(objects[0].landmarks->x[1], 0.2, 1e-6);
  EXPECT_NEAR(objects[0].landmarks->y[1], 0.3, 1e-6);
  EXPECT_TRUE(objects[0].attributes.empty());
  ASSERT_EQ(objects[1].attributes.size(), 2u);
  EXPECT_EQ(objects[1].attributes[0].name, "color");
  EXPECT_EQ(objects[1].attributes[0].label, "red");
  EXPECT_EQ(objects[1].attributes[0].model_name, "second");
  EXPECT_EQ(objects[1].attributes[0].confidence, 0.5);
  EXPECT_FALSE(objects[1].attributes[1].label);
  EXPECT_EQ(objects[1].attributes[1].label_id, 7);
}

TEST_P(Metadata, AttributesOfTheWholePicture) {
  Classification scene;
  scene.attribute = "scene";
  scene.label = "street";
  EXPECT_EQ(attach_results(buffer_, info_, "m", GetParam(), {{-1, {{}, {scene}}}}), 1);
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].rect, (Rect{0, 0, 200, 100}));
  EXPECT_EQ(objects[0].type, "");
  EXPECT_FALSE(objects[0].detection);
}

TEST_P(Metadata, ResultsGoAlongWithACopyOfTheBuffer) {
  attach(detection(10.0f, 10.0f, 60.0f, 60.0f));
  Classification color;
  color.attribute = "color";
  color.label = "red";
  attach_results(buffer_, info_, "m", GetParam(), {{0, {{}, {color}}}});
  GstBuffer* copy = gst_buffer_copy(buffer_);
  const std::vector<FrameObject> objects = frame_objects(copy, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].type, "dog");
  EXPECT_EQ(objects[0].attributes.size(), 1u);
  gst_buffer_unref(copy);
}

/// Results with one of everything that is neither a box nor an attribute.
Results other_results() {
  Results results;
  results.tensors.push_back({"id", "out", "cosine_distance", Tensor::from<float>({1, 2}, {1, 2})});
  Keypoints body;
  body.format = "body";
  body.layer = "heat";
  body.confidence = 0.5f;
  body.landmarks.points = {{60.0f, 35.0f}, {-1.0f, -1.0f}};
  body.landmarks.confidences = {0.75f, 0.0f};
  body.landmarks.names = {"head", "foot"};
  body.landmarks.connections = {{0, 1}};
  results.keypoints.push_back(body);
  results.segmentations.push_back(
      {"road", "prob", -20.0f, 0.0f, 220.0f, 100.0f, 2, 1, {1, 300}, {"BG", "road"}});
  PictureResult picture;
  picture.attribute = "large";
  picture.image = make_host_image(PixelFormat::BGR, 3, 2).value();
  std::fill_n(picture.image.planes[0].buffer->host(), 18, std::byte{7});
  results.pictures.push_back(picture);
  return results;
}

TEST_P(Metadata, TensorsOfARegionReadBack) {
  attach(detection(20.0f, 25.0f, 120.0f, 75.0f));
  EXPECT_EQ(attach_results(buffer_, info_, "m", GetParam(), {{0, other_results()}}), 0);
  GstBuffer* copy = gst_buffer_copy(buffer_);
  gst_buffer_unref(buffer_);
  buffer_ = copy;
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  const ObjectTensors& tensors = objects[0].tensors;
  ASSERT_EQ(tensors.tensors.size(), 1u);
  EXPECT_EQ(tensors.tensors[0].origin.attribute, "id");
  EXPECT_EQ(tensors.tensors[0].origin.format, "cosine_distance");
  EXPECT_EQ(tensors.tensors[0].origin.model_name, "m");
  EXPECT_EQ(to_float_vector(tensors.tensors[0].values).value(), (std::vector<float>{1, 2}));
  ASSERT_EQ(tensors.keypoints.size(), 1u);
  const ObjectKeypoints& body = tensors.keypoints[0];
  EXPECT_EQ(body.names, (std::vector<std::string>{"head", "foot"}));
  EXPECT_EQ(body.connections, (std::vector<std::pair<int, int>>{{0, 1}}));
  EXPECT_NEAR(body.x(0), 0.4f, 1e-6f);  // (60 - 20) / 100
  EXPECT_NEAR(body.y(0), 0.2f, 1e-6f);  // (35 - 25) / 50
  EXPECT_TRUE(body.found(0));
  EXPECT_FALSE(body.found(1));
  ASSERT_EQ(tensors.segmentations.size(), 1u);
  const ObjectSegmentation& road = tensors.segmentations[0];
  EXPECT_EQ(road.values.type(), ElementType::UInt16);
  EXPECT_EQ(road.class_id(1), 300);
  EXPECT_NEAR(road.x_min, -0.1, 1e-6);
  EXPECT_NEAR(road.x_max, 1.1, 1e-6);
  ASSERT_EQ(tensors.pictures.size(), 1u);
  EXPECT_EQ(tensors.pictures[0].width, 3);
  EXPECT_EQ(tensors.pictures[0].format, "BGR");
  EXPECT_TRUE(objects[0].attributes.empty());
}

TEST_P(Metadata, TensorsOfTheWholePictureHaveARegion) {
  EXPECT_EQ(attach_results(buffer_, info_, "m", GetParam(), {{-1, other_results()}}), 1);
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 1u);
  EXPECT_EQ(objects[0].rect, (Rect{0, 0, 200, 100}));
  EXPECT_NEAR(objects[0].tensors.keypoints.at(0).x(0), 0.3f, 1e-6f);
}

TEST_P(Metadata, TensorsOfOthersThatDoNotFitTogetherAreLeftOut) {
  GstVideoRegionOfInterestMeta* region =
      gst_buffer_add_video_region_of_interest_meta(buffer_, "zone", 1, 2, 3, 4);
  attach_results(buffer_, info_, "m", GetParam(), {{0, other_results()}});
  for (GList* link = region->params; link; link = link->next) {
    auto* params = static_cast<GstStructure*>(link->data);
    GValue dims = G_VALUE_INIT;
    g_value_init(&dims, GST_TYPE_ARRAY);
    for (int i = 0; i < 4; ++i) {
      GValue item = G_VALUE_INIT;
      g_value_init(&item, G_TYPE_UINT);
      g_value_set_uint(&item, G_MAXUINT);
      gst_value_array_append_and_take_value(&dims, &item);
    }
    gst_structure_take_value(params, "dims", &dims);
    gst_structure_set(params, "sample", G_TYPE_INT, 3, nullptr);
  }
  EXPECT_TRUE(frame_objects(buffer_, 200, 100).at(0).tensors.empty());
}

TEST_P(Metadata, ATextThatWasReadHasNoLabelId) {
  Classification plate;
  plate.attribute = "plate";
  plate.label = "B-XY";
  plate.label_id = kNoLabelId;
  attach_results(buffer_, info_, "m", GetParam(), {{-1, {{}, {plate}}}});
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  EXPECT_EQ(objects.at(0).attributes.at(0).label, "B-XY");
  EXPECT_FALSE(objects[0].attributes[0].label_id);
}

TEST_P(Metadata, LabelsThatAreNoUtf8DoNoHarm) {
  Detection odd = detection(10.0f, 10.0f, 60.0f, 60.0f);
  odd.label = "a\xff\xfe b";
  EXPECT_EQ(attach(odd), 1);
  EXPECT_TRUE(g_utf8_validate(frame_objects(buffer_, 200, 100)[0].type.c_str(), -1, nullptr));
}

TEST_P(Metadata, RegionsOfOthersAreRead) {
  gst_buffer_add_video_region_of_interest_meta(buffer_, "zone", 1, 2, 3, 4);
  GstVideoRegionOfInterestMeta* huge = gst_buffer_add_video_region_of_interest_meta(
      buffer_, nullptr, G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT);
  gst_video_region_of_interest_meta_add_param(
      huge, gst_structure_new("landmarks", "x", G_TYPE_INT, 5, nullptr));
  gst_video_region_of_interest_meta_add_param(
      huge, gst_structure_new("detection", "x_min", G_TYPE_STRING, "left", nullptr));
  const std::vector<FrameRegion> regions = frame_regions(buffer_);
  ASSERT_EQ(regions.size(), 2u);
  EXPECT_EQ(regions[0].rect, (Rect{1, 2, 3, 4}));
  EXPECT_EQ(regions[0].type, "zone");
  EXPECT_EQ(regions[1].rect.x, G_MAXINT);
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  EXPECT_FALSE(objects[1].detection);
  EXPECT_FALSE(objects[1].landmarks);
}

TEST_P(Metadata, RegionsHaveIdsAndNameTheirParents) {
  attach(detection(10.0f, 10.0f, 60.0f, 60.0f));
  attach(detection(100.0f, 10.0f, 150.0f, 60.0f));
  const Results inside{{detection(110.0f, 20.0f, 120.0f, 30.0f)}, {}};
  attach_results(buffer_, info_, "second", GetParam(), {{1, inside}});
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 3u);
  EXPECT_FALSE(objects[0].parent_id);
  EXPECT_FALSE(objects[1].parent_id);
  ASSERT_TRUE(objects[2].parent_id);
  EXPECT_EQ(objects[2].parent_id, objects[1].region_id);
  EXPECT_NE(objects[0].region_id, objects[1].region_id);
  EXPECT_NE(objects[2].region_id, objects[1].region_id);
}

TEST_P(Metadata, TheWholePictureIsNoRegion) {
  attach_results(buffer_, info_, "m", GetParam(), {{-1, other_results()}});
  EXPECT_FALSE(frame_objects(buffer_, 200, 100).at(0).region_id);
}

TEST_P(RegionOfInterest, ARegionOfOthersGetsAnIdWhenSomethingIsFoundInIt) {
  gst_buffer_add_video_region_of_interest_meta(buffer_, "a", 0, 0, 50, 50);
  gst_buffer_add_video_region_of_interest_meta(buffer_, "b", 50, 0, 50, 50)->id = 3;
  gst_buffer_add_video_region_of_interest_meta(buffer_, "c", 100, 0, 50, 50);
  const Results inside{{detection(60.0f, 20.0f, 70.0f, 30.0f)}, {}};
  attach_results(buffer_, info_, "m", GetParam(), {{0, inside}, {1, inside}});
  const std::vector<FrameObject> objects = frame_objects(buffer_, 200, 100);
  ASSERT_EQ(objects.size(), 5u);
  EXPECT_FALSE(objects[2].region_id);
  EXPECT_EQ(objects[1].region_id, 3);
  EXPECT_EQ(objects[3].parent_id, objects[0].region_id);
  EXPECT_EQ(objects[4].parent_id, 3);
  std::set<int> ids;
  for (const size_t i : {0, 1, 3, 4}) ids.insert(objects[i].region_id.value());
  EXPECT_EQ(ids.size(), 4u);
}

TEST_P(RegionOfInterest, AParentThatIsNotThereIsNotTold) {
  gst_buffer_add_video_region_of_interest_meta(buffer_, "a", 0, 0, 50, 50)->parent_id = 77;
  auto* own = gst_buffer_add_video_region_of_interest_meta(buffer_, "b", 0, 0, 50, 50);
  own->id = own->parent_id = 5;
  for (const FrameObject& object : frame_objects(buffer_, 200, 100))
    EXPECT_FALSE(object.parent_id) << object.type;
}

TEST_P(RegionOfInterest, ScalingKeepsAllButThePlace) {
  attach(detection(10.0f, 20.0f, 50.0f, 60.0f));
  attach_results(buffer_, info_, "m", GetParam(), {{0, other_results()}});
  set_object_id(buffer_, 0, 12);
  GstVideoInfo half;
  gst_video_info_set_format(&half, GST_VIDEO_FORMAT_BGR, 100, 50);
  GstVideoMetaTransform scale{&info_, &half};
  GstBuffer* scaled = gst_buffer_new();
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(buffer_, &state)) {
    EXPECT_TRUE(meta->info->transform_func(scaled, meta, buffer_,
                                           gst_video_meta_transform_scale_get_quark(), &scale));
  }
  const FrameObject before = frame_objects(buffer_, 200, 100).at(0);
  const FrameObject after = frame_objects(scaled, 100, 50).at(0);
  gst_buffer_unref(scaled);
  EXPECT_EQ(after.rect, (Rect{5, 10, 20, 20}));
  EXPECT_EQ(after.type, before.type);
  EXPECT_EQ(after.region_id, before.region_id);
  EXPECT_EQ(after.object_id, 12);
  EXPECT_EQ(after.detection->confidence, before.detection->confidence);
  EXPECT_EQ(after.detection->x_max, before.detection->x_max);
  EXPECT_EQ(after.tensors.keypoints.at(0).x(0), before.tensors.keypoints.at(0).x(0));
  EXPECT_EQ(after.tensors.segmentations.size(), 1u);
}

TEST(MetadataForms, AnalyticsAreTheDefaultWhereTheBuildKnowsThem) {
  EXPECT_EQ(has_analytics(), kHasAnalytics) << "libgstanalytics-1.0.so.0 is not installed";
  EXPECT_EQ(default_metadata_form(),
            kHasAnalytics ? MetadataForm::Analytics : MetadataForm::RegionOfInterest);
}

std::vector<MetadataForm> forms() {
  std::vector<MetadataForm> forms = {MetadataForm::RegionOfInterest};
  if (kHasAnalytics) forms.push_back(MetadataForm::Analytics);
  return forms;
}

std::string name_of(const testing::TestParamInfo<MetadataForm>& form) {
  return form.param == MetadataForm::Analytics ? "analytics" : "roi";
}

INSTANTIATE_TEST_SUITE_P(Forms, Metadata, testing::ValuesIn(forms()), name_of);
INSTANTIATE_TEST_SUITE_P(Forms, RegionOfInterest, testing::Values(MetadataForm::RegionOfInterest),
                         name_of);

}  // namespace
}  // namespace het::gst
