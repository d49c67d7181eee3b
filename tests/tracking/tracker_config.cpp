#include <gtest/gtest.h>

#include "inference/tracking/tracker.h"

namespace het::tracking {
namespace {

TEST(TrackerConfig, SetsWhatItNames) {
  TrackerSettings settings;
  ASSERT_TRUE(read_tracker_config("tracking_per_class=false, max_num_objects=7,max_age=12",
                                  "max_iou_distance=0.5,nn_budget=0,object_class=person,n_init=1",
                                  settings)
                  .ok());
  EXPECT_FALSE(settings.per_class);
  EXPECT_EQ(settings.max_objects, 7u);
  EXPECT_EQ(settings.max_age, 12);
  EXPECT_FLOAT_EQ(settings.max_overlap_distance, 0.5f);
  EXPECT_EQ(settings.feature_budget, 0u);
  EXPECT_EQ(settings.object_class, "person");
  EXPECT_EQ(settings.confirmations, 1);
  EXPECT_FLOAT_EQ(settings.max_cosine_distance, 0.2f) << "others keep their defaults";
  ASSERT_TRUE(read_tracker_config("max_num_objects=-1", "", settings).ok());
  EXPECT_EQ(settings.max_objects, 0u) << "DL Streamer's word for no limit";
}

TEST(TrackerConfig, ErrorsNamePropertyKeyAndValue) {
  TrackerSettings settings;
  const auto expect = [&](const char* config, const char* deep_sort,
                          const std::vector<std::string>& words) {
    const Status status = read_tracker_config(config, deep_sort, settings);
    ASSERT_FALSE(status.ok()) << config << deep_sort;
    for (const std::string& word : words)
      EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
  };
  expect("max_objects=3", "", {"config", "max_objects", "max_num_objects", "tracking_per_class"});
  expect("tracking_per_class=yes", "", {"config", "tracking_per_class", "'yes'", "true"});
  expect("", "max_age=0", {"deepsort-trck-cfg", "max_age", "'0'", "1"});
  expect("", "max_cosine_distance=nan", {"max_cosine_distance", "nan"});
  expect("", "max_iou_distance=0.5x", {"max_iou_distance", "0.5x"});
  expect("nonsense", "", {"config", "KEY=VALUE"});
}

}  // namespace
}  // namespace het::tracking
