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

TEST(TrackerConfig, ThresholdsOfConfidenceBelongToTheTrackersThatTakeLowOnes) {
  TrackerSettings settings;
  settings.type = TrackerType::OcSort;
  ASSERT_TRUE(read_tracker_config(
                  "track_threshold=0.4,new_threshold=0.7,low_threshold=0.2,n_init=3", "", settings)
                  .ok());
  EXPECT_FLOAT_EQ(settings.track_threshold, 0.4f);
  EXPECT_FLOAT_EQ(settings.new_threshold.value(), 0.7f);
  EXPECT_FLOAT_EQ(settings.low_threshold, 0.2f);
  EXPECT_EQ(settings.first_observations, 3);
  const auto message = [](TrackerType type, const char* config) {
    TrackerSettings fresh;
    fresh.type = type;
    const Status status = read_tracker_config(config, "", fresh);
    return status.ok() ? std::string() : status.message();
  };
  EXPECT_EQ(message(TrackerType::ByteTrack, "track_threshold=0.95"), "");
  const std::string other = message(TrackerType::Association, "track_threshold=0.4");
  EXPECT_NE(other.find("track_threshold"), std::string::npos) << other;
  EXPECT_NE(other.find("byte-track"), std::string::npos) << other;
  const std::string order = message(TrackerType::ByteTrack, "track_threshold=0.05");
  EXPECT_NE(order.find("low_threshold 0.1"), std::string::npos) << order;
  const std::string turned =
      message(TrackerType::ByteTrack, "track_threshold=0.8,new_threshold=0.6");
  EXPECT_NE(turned.find("new_threshold 0.6"), std::string::npos) << turned;
  const std::string far = message(TrackerType::OcSort, "low_threshold=2");
  EXPECT_NE(far.find("'2'"), std::string::npos) << far;
}

TEST(TrackerConfig, EveryNameIsATypeAndOthersAreListed) {
  for (const TrackerName& named : tracker_names()) {
    const Result<TrackerType> type = tracker_type(named.name);
    ASSERT_TRUE(type.has_value()) << named.name;
    EXPECT_EQ(*type, named.type);
  }
  const Result<TrackerType> none = tracker_type("psychic");
  ASSERT_FALSE(none.has_value());
  for (const char* word : {"'psychic'", "zero-term", "byte-track", "oc-sort"})
    EXPECT_NE(none.error().message().find(word), std::string::npos) << none.error().message();
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
