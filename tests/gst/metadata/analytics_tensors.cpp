#include "gst/metadata/analytics_tensors.h"

#include <gst/analytics/analytics.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include "gst/metadata/metadata.h"

namespace het::gst {
namespace {

class AnalyticsTensors : public testing::Test {
 protected:
  void SetUp() override {
    gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_I420, 200, 100);
    buffer_ = gst_buffer_new();
  }
  void TearDown() override { gst_buffer_unref(buffer_); }

  static ExchangedTensor tensor(const std::string& id, bool column_major = false) {
    return {id, column_major, Tensor::from<float>({1, 2}, {3.0f, 4.0f})};
  }
  void attach(int region, MetadataForm form, std::vector<ExchangedTensor> tensors) {
    RegionResults part;
    part.index = region;
    part.tensors = std::move(tensors);
    attach_results(buffer_, info_, "model", form, {part});
  }

  GstVideoInfo info_;
  GstBuffer* buffer_;
};

void expect_values(const GstTensor* tensor, const char* id, const void* memory) {
  ASSERT_NE(tensor, nullptr);
  EXPECT_STREQ(g_quark_to_string(tensor->id), id);
  EXPECT_EQ(tensor->data_type, GST_TENSOR_DATA_TYPE_FLOAT32);
  ASSERT_EQ(tensor->num_dims, 2u);
  EXPECT_EQ(tensor->dims[0], 1u);
  EXPECT_EQ(tensor->dims[1], 2u);
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(tensor->data, &map, GST_MAP_READ));
  EXPECT_EQ(map.size, 2 * sizeof(float));
  EXPECT_EQ(map.data, memory) << "the values were copied";
  gst_buffer_unmap(tensor->data, &map);
}

TEST_F(AnalyticsTensors, OfAPictureAreATensorMetaWithoutACopy) {
  const ExchangedTensor planes = tensor("planes", true);
  attach(-1, MetadataForm::Analytics, {planes, tensor("rows")});
  GstTensorMeta* meta = gst_buffer_get_tensor_meta(buffer_);
  ASSERT_NE(meta, nullptr);
  ASSERT_EQ(meta->num_tensors, 2u);
  expect_values(meta->tensors[0], "planes", planes.values.bytes());
  EXPECT_EQ(meta->tensors[0]->dims_order, GST_TENSOR_DIM_ORDER_COL_MAJOR);
  EXPECT_EQ(meta->tensors[1]->dims_order, GST_TENSOR_DIM_ORDER_ROW_MAJOR);
}

TEST_F(AnalyticsTensors, IdsAreThoseOfThisVersionsDecoders) {
  attach(-1, MetadataForm::Analytics, {tensor("ssd-mobilenet-v1-variant-1-out-scores")});
  const GstTensorMeta* meta = gst_buffer_get_tensor_meta(buffer_);
  ASSERT_NE(meta, nullptr);
  EXPECT_STREQ(g_quark_to_string(meta->tensors[0]->id),
               GST_CHECK_VERSION(1, 28, 0) ? "ssd-mobilenet-v1-variant-1-out-scores"
                                           : "Gst.Model.ObjectDetector.Scores");
}

TEST_F(AnalyticsTensors, RegionsOfInterestHaveNoPlaceForThem) {
  attach(-1, MetadataForm::RegionOfInterest, {tensor("t")});
  EXPECT_EQ(gst_buffer_get_tensor_meta(buffer_), nullptr);
}

TEST_F(AnalyticsTensors, OfAnObjectAreTensorMtdsThatItRelatesTo) {
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(buffer_);
  GstAnalyticsODMtd object;
  ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_string("dog"), 0, 0,
                                                     10, 10, 0.5f, &object));
  const ExchangedTensor embedding = tensor("embedding");
  attach(0, MetadataForm::Analytics, {embedding});
  EXPECT_EQ(gst_buffer_get_tensor_meta(buffer_), nullptr);
#if GST_CHECK_VERSION(1, 28, 0)
  GstAnalyticsTensorMtd mtd;
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
      relations, object.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      gst_analytics_tensor_mtd_get_mtd_type(), nullptr, &mtd));
  expect_values(gst_analytics_tensor_mtd_get_tensor(&mtd), "embedding", embedding.values.bytes());
#endif
}

}  // namespace
}  // namespace het::gst
