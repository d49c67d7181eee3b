#include "gst/metadata/object_classes.h"

#include <gst/gst.h>
#include <gtest/gtest.h>

#include <string>

namespace het::gst {
namespace {

TEST(ObjectClasses, TheFirstHundredLabelsAreToldApart) {
  ObjectClasses classes;
  for (int label = 0; label < 150; ++label) {
    for (int i = 0; i <= label % 3; ++i) classes.count("label " + std::to_string(label));
  }
  classes.count("label 7");
  GstStructure* stats = gst_structure_new_empty("stats");
  classes.add_to(stats, "objects-by-class");
  const GValue* array = gst_structure_get_value(stats, "objects-by-class");
  ASSERT_TRUE(array && GST_VALUE_HOLDS_ARRAY(array));
  ASSERT_EQ(gst_value_array_get_size(array), ObjectClasses::kMostLabels + 1);
  guint64 all = 0;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    const GstStructure* one = gst_value_get_structure(gst_value_array_get_value(array, i));
    guint64 count = 0;
    ASSERT_TRUE(gst_structure_get_uint64(one, "count", &count));
    all += count;
    const std::string label = gst_structure_get_string(one, "label");
    if (label == "label 7") {
      EXPECT_EQ(count, 3u);
    }
    if (label == ObjectClasses::kOtherLabels) {
      EXPECT_EQ(count, 101u);
    }
  }
  EXPECT_EQ(all, 301u);
  gst_structure_free(stats);
}

}  // namespace
}  // namespace het::gst
