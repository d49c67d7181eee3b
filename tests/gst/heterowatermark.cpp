#include <gtest/gtest.h>

#include <algorithm>

#include "element_rig.h"

namespace het::gst_test {
namespace {

TEST(HeteroWatermark, DrawsInPlaceAndOnlyWhereObjectsAre) {
  for (const char* format :
       {"NV12", "I420", "RGB", "BGR", "RGBx", "BGRx", "RGBA", "BGRA", "GRAY8"}) {
    ElementRig rig("heterowatermark", "");
    ASSERT_TRUE(
        rig.start(std::string("video/x-raw,width=161,height=121,framerate=25/1,format=") + format));
    std::vector<size_t> changed;
    std::vector<GstMemory*> memories;
    rig.on_buffer = [&](GstBuffer* buffer) {
      GstMapInfo map;
      gst_buffer_map(buffer, &map, GST_MAP_READ);
      changed.push_back(map.size -
                        static_cast<size_t>(std::count(map.data, map.data + map.size, 9)));
      gst_buffer_unmap(buffer, &map);
      memories.push_back(gst_buffer_peek_memory(buffer, 0));
      return GST_FLOW_OK;
    };
    GstBuffer* plain = rig.frame(0, 9);
    GstBuffer* marked = rig.frame(1, 9);
    const std::vector<GstMemory*> sent{gst_buffer_peek_memory(plain, 0),
                                       gst_buffer_peek_memory(marked, 0)};
    auto* region = gst_buffer_add_video_region_of_interest_meta(marked, "dog", 40, 50, 60, 40);
    gst_video_region_of_interest_meta_add_param(
        region,
        gst_structure_new("detection", "x_min", G_TYPE_DOUBLE, 0.25, "x_max", G_TYPE_DOUBLE, 0.62,
                          "y_min", G_TYPE_DOUBLE, 0.41, "y_max", G_TYPE_DOUBLE, 0.74, "confidence",
                          G_TYPE_DOUBLE, 0.9, "label_id", G_TYPE_INT, 16, nullptr));
    EXPECT_EQ(rig.push(plain), GST_FLOW_OK);
    EXPECT_EQ(rig.push(marked), GST_FLOW_OK);
    ASSERT_EQ(changed.size(), 2u);
    EXPECT_EQ(changed[0], 0u) << format;
    EXPECT_GT(changed[1], 300u) << format;
    EXPECT_EQ(memories, sent) << format << " was copied";
  }
}

}  // namespace
}  // namespace het::gst_test
