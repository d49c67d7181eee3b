#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <set>

#include "scene.h"

namespace het::tracking {
namespace {

/// ByteTrack and OC-SORT.
class ConfidenceTrackers : public testing::TestWithParam<TrackerType> {
 protected:
  std::unique_ptr<Tracker> tracker(const std::string& config = "") const {
    return tracker(GetParam(), config);
  }
  static std::unique_ptr<Tracker> tracker(TrackerType type, const std::string& config = "") {
    TrackerSettings settings;
    settings.type = type;
    EXPECT_TRUE(read_tracker_config(config, "", settings).ok());
    return create_tracker(settings);
  }
};

INSTANTIATE_TEST_SUITE_P(All, ConfidenceTrackers,
                         testing::Values(TrackerType::ByteTrack, TrackerType::OcSort),
                         [](const auto& param) {
                           return param.param == TrackerType::ByteTrack ? "ByteTrack" : "OcSort";
                         });

Observation seen(const Box& box, float confidence) {
  return {box, "person", confidence, {}};
}

/// The ids that one object had in the frames in which it was seen, one each.
std::set<int> ids_of(Tracker& tracker, const std::vector<std::optional<Box>>& path) {
  std::set<int> ids;
  for (const std::optional<Box>& box : path) {
    if (box) {
      ids.insert(tracker.update({seen(*box, 0.9f)}).ids[0]);
    } else {
      tracker.update({});
    }
  }
  return ids;
}

TEST_P(ConfidenceTrackers, EveryObjectKeepsItsIdBesideOthersAndMissedDetections) {
  std::vector<Actor> actors;
  for (size_t i = 0; i < 10; ++i) {
    const auto lane = static_cast<float>(i);
    actors.push_back({moving(50.0f + 130.0f * lane, 100.0f, 3.0f - 0.6f * lane, 0.5f * lane)});
    actors.back().hidden = [i](int frame) {
      return frame > 2 && (static_cast<size_t>(frame) * 7 + i * 3) % 5 == 0;
    };
  }
  const auto tracker = this->tracker();
  const Story story = play(*tracker, actors, 80, 3.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
  EXPECT_EQ(story.actors.size(), 10u);
}

TEST_P(ConfidenceTrackers, LowConfidencesCarryAnObjectThroughAnOcclusion) {
  // Half hidden for longer than a missing object is remembered.
  const auto truth = moving(0.0f, 100.0f, 4.0f, 0.5f);
  for (const auto& [confidence, same] : {std::pair{0.2f, true}, std::pair{0.05f, false}}) {
    const auto tracker = this->tracker();
    std::set<int> ids;
    for (int frame = 0; frame < 90; ++frame) {
      const bool is_half_hidden = frame >= 20 && frame < 60;
      const TrackedFrame tracked =
          tracker->update({seen(truth(frame), is_half_hidden ? confidence : 0.9f)});
      EXPECT_EQ(tracked.rejected.empty(), !is_half_hidden || same) << frame;
      if (tracked.ids[0] != kNoId) ids.insert(tracked.ids[0]);
    }
    EXPECT_EQ(ids.size(), same ? 1u : 2u) << confidence;
  }
}

TEST_P(ConfidenceTrackers, AnObjectThatComesOutIsFoundByALowConfidence) {
  const auto truth = moving(0.0f, 100.0f, 3.0f, 0.0f);
  const auto tracker = this->tracker();
  for (int frame = 0; frame < 20; ++frame) tracker->update({seen(truth(frame), 0.9f)});
  for (int frame = 20; frame < 40; ++frame) tracker->update({});
  EXPECT_EQ(tracker->update({seen(truth(40), 0.3f)}).ids, std::vector<int>{1});
}

TEST_P(ConfidenceTrackers, WhatIsNotSureAndOfNoTrackIsRejected) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto at = [](float x) { return moving(x, 100.0f, 0.0f, 0.0f)(0); };
  const auto tracker = this->tracker();
  tracker->update({seen(at(0), 0.9f)});
  for (int frame = 0; frame < 3; ++frame) {
    const TrackedFrame tracked =
        tracker->update({seen(at(300), 0.3f), seen(at(1), 0.2f), seen(at(600), nan),
                         seen(at(900), 0.55f), seen({nan, 0, 1, 1}, 0.4f), seen(at(2), 0.05f)});
    EXPECT_EQ(tracked.ids, (std::vector<int>{kNoId, 1, kNoId, kNoId, kNoId, kNoId}));
    EXPECT_EQ(tracked.rejected, (std::vector<size_t>{0, 2, 4, 5}))
        << "0.55 is an object, but not sure enough to be followed";
  }
}

TEST_P(ConfidenceTrackers, AStrangerDoesNotPushIdsAside) {
  // The second one is hidden when a third comes: the first one's box, taken for the second, and the
  // stranger's, taken for the first, would be two pairs instead of one good one.
  const auto at = [](float x) { return moving(x, 100.0f, 0.0f, 0.0f)(0); };
  const auto tracker = this->tracker();
  for (int frame = 0; frame < 10; ++frame)
    EXPECT_EQ(tracker->update({seen(at(0), 0.9f), seen(at(20), 0.9f)}).ids,
              (std::vector<int>{1, 2}));
  EXPECT_EQ(tracker->update({seen(at(0), 0.9f), seen(at(-18), 0.9f)}).ids,
            (std::vector<int>{1, kNoId}));
}

TEST_P(ConfidenceTrackers, ThresholdsAreThoseOfTheConfig) {
  const auto box = moving(0.0f, 0.0f, 1.0f, 0.0f);
  const auto strict = tracker("track_threshold=0.8");
  EXPECT_EQ(strict->update({seen(box(0), 0.75f)}).rejected, std::vector<size_t>{0});
  EXPECT_EQ(strict->update({seen(box(1), 0.85f)}).ids, std::vector<int>{kNoId})
      << "new_threshold follows";
  const auto eager = tracker("new_threshold=0.5,low_threshold=0.3");
  EXPECT_EQ(eager->update({seen(box(0), 0.55f)}).ids, std::vector<int>{1});
  EXPECT_EQ(eager->update({seen(box(1), 0.25f)}).rejected, std::vector<size_t>{0});
}

TEST_P(ConfidenceTrackers, AnObjectGetsItsIdWhenItIsConfirmed) {
  const auto box = moving(0.0f, 0.0f, 2.0f, 0.0f);
  for (const auto& [config, without_id] :
       {std::pair{"", 1}, std::pair{"n_init=1", 0}, std::pair{"n_init=4", 3}}) {
    const auto tracker = this->tracker(config);
    EXPECT_EQ(tracker->update({seen({500, 500, 540, 580}, 0.9f)}).ids, std::vector<int>{1})
        << "the first frame has nothing to compare with";
    for (int frame = 0; frame < 6; ++frame) {
      EXPECT_EQ(tracker->update({seen(box(frame), 0.9f)}).ids[0], frame < without_id ? kNoId : 2)
          << config << " " << frame;
    }
  }
  // One that flickers is none.
  const auto tracker = this->tracker();
  tracker->update({seen({500, 500, 540, 580}, 0.9f)});
  for (int frame = 0; frame < 10; ++frame) {
    std::vector<Observation> observations;
    if (frame % 2 == 0) observations.push_back(seen(box(0), 0.9f));
    for (int id : tracker->update(observations).ids) EXPECT_EQ(id, kNoId);
  }
}

TEST_P(ConfidenceTrackers, EmptyFramesAreRememberedForMaxAge) {
  for (const auto& [empty_frames, same] : {std::pair{30, true}, std::pair{31, false}}) {
    const auto tracker = this->tracker();
    const auto box = moving(0.0f, 0.0f, 1.0f, 0.0f);
    for (int i = 0; i < 3; ++i) tracker->update({});
    tracker->update({seen(box(0), 0.9f)});
    for (int frame = 0; frame < empty_frames; ++frame) {
      EXPECT_TRUE(tracker->update({}).ids.empty());
      EXPECT_TRUE(tracker->pass().ids.empty()) << "nobody looked: nothing is missed";
    }
    EXPECT_EQ(tracker->update({seen(box(0), 0.9f)}).ids[0] == 1, same) << empty_frames;
  }
}

TEST_P(ConfidenceTrackers, ResetForgets) {
  const auto tracker = this->tracker();
  const auto at = [](float x) { return moving(x, 0.0f, 0.0f, 0.0f)(0); };
  EXPECT_EQ(tracker->update({seen(at(0), 0.9f), seen(at(90), 0.8f)}).ids, (std::vector<int>{1, 2}));
  tracker->reset();
  EXPECT_EQ(tracker->update({seen(at(90), 0.9f)}).ids, std::vector<int>{1});
}

TEST_P(ConfidenceTrackers, LabelsSeparateUnlessTrackingIsNotPerClass) {
  const auto box = moving(0.0f, 0.0f, 2.0f, 0.0f);
  for (const auto& [config, same] :
       {std::pair{"", false}, std::pair{"tracking_per_class=false", true}}) {
    const auto tracker = this->tracker(config);
    EXPECT_EQ(tracker->update({{box(0), "car", 0.9f, {}}}).ids[0], 1);
    EXPECT_EQ(tracker->update({{box(1), "truck", 0.9f, {}}}).ids[0], same ? 1 : kNoId) << config;
  }
}

TEST_P(ConfidenceTrackers, IdsAreNeverShared) {
  std::minstd_rand random(5);
  std::uniform_real_distribution<float> place(0.0f, 400.0f);
  std::uniform_real_distribution<float> confidence(0.0f, 1.0f);
  const auto tracker = this->tracker("n_init=1");
  for (int frame = 0; frame < 400; ++frame) {
    std::vector<Observation> observations;
    for (int i = 0; i < 25; ++i)
      observations.push_back(
          seen(moving(place(random), place(random), 0, 0)(0), confidence(random)));
    const TrackedFrame tracked = tracker->update(observations);
    ASSERT_EQ(tracked.ids.size(), observations.size());
    std::set<int> ids;
    for (int id : tracked.ids) {
      if (id == kNoId) continue;
      EXPECT_TRUE(ids.insert(id).second) << "id " << id << " twice in " << frame;
    }
    for (size_t i : tracked.rejected) EXPECT_EQ(tracked.ids[i], kNoId);
  }
}

TEST_P(ConfidenceTrackers, BrokenBoxesGetNoId) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float huge = std::numeric_limits<float>::max();
  const auto tracker = this->tracker();
  for (int frame = 0; frame < 5; ++frame) {
    const TrackedFrame tracked =
        tracker->update({seen({nan, 0, 1, 1}, 0.9f), seen({0, 0, huge, huge}, 1.0f),
                         seen({5, 5, 5, 5}, 0.9f), seen({0, 0, nan, 1}, nan)});
    EXPECT_EQ(tracked.ids, (std::vector<int>{kNoId, kNoId, kNoId, kNoId}));
    EXPECT_EQ(tracked.rejected, std::vector<size_t>{3});
  }
}

TEST_P(ConfidenceTrackers, HundredsOfObjectsTakeLittleTime) {
  std::vector<Actor> actors;
  for (int i = 0; i < 500; ++i) {
    const auto column = static_cast<float>(i % 30);
    const auto row = static_cast<float>(i / 30);
    actors.push_back({moving(60.0f * column, 100.0f * row, column / 15.0f - 1.0f, 0.3f)});
  }
  const auto tracker = this->tracker();
  constexpr int kFrames = 50;
  const auto start = std::chrono::steady_clock::now();
  const Story story = play(*tracker, actors, kFrames, 1.0f);
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(story.switches(), 0);
  // Some 5 ms; sanitizers and busy machines are slower.
  EXPECT_LT(taken.count() / kFrames, 200.0) << "ms a frame";
}

TEST_P(ConfidenceTrackers, MoreObjectsThanAreFollowedGetNoId) {
  std::vector<Observation> many;
  for (int i = 0; i < 3000; ++i) {
    const float x = 20.0f * static_cast<float>(i);
    many.push_back(seen({x, 0, x + 15, 15}, i % 3 == 0 ? 0.3f : 0.9f));
  }
  const auto tracker = this->tracker();
  for (int frame = 0; frame < 2; ++frame) {
    const TrackedFrame tracked = tracker->update(many);
    EXPECT_EQ(std::count(tracked.ids.begin(), tracked.ids.end(), kNoId),
              3000 - static_cast<int>(kMaxObjects));
  }
  const auto two = this->tracker("max_num_objects=2");
  EXPECT_EQ(two->update({many.begin(), many.begin() + 7}).ids,
            (std::vector<int>{kNoId, 1, 2, kNoId, kNoId, kNoId, kNoId}));
}

TEST(OcSortTracker, WhoStoodWhileHiddenIsFoundWhereItWas) {
  std::vector<std::optional<Box>> path;
  const auto walking = moving(0.0f, 100.0f, 5.0f, 0.0f);
  for (int frame = 0; frame < 20; ++frame) path.push_back(walking(frame));
  path.insert(path.end(), 20, std::nullopt);
  path.insert(path.end(), 5, walking(20));
  for (const auto& [type, count] :
       {std::pair{TrackerType::OcSort, 1u}, std::pair{TrackerType::ByteTrack, 3u}}) {
    TrackerSettings settings;
    settings.type = type;
    // A second one, and none until that is confirmed.
    EXPECT_EQ(ids_of(*create_tracker(settings), path).size(), count);
  }
}

TEST(OcSortTracker, APathIsCorrectedAfterAGap) {
  // It turns while hidden, is seen once, and is hidden again: it is found where it then goes.
  std::vector<std::optional<Box>> path;
  float x = 0.0f;
  float y = 0.0f;
  const auto go = [&](int frames, bool is_seen, float down) {
    for (int frame = 0; frame < frames; ++frame) {
      path.push_back(is_seen ? std::optional(Box{x, y, x + 40.0f, y + 80.0f}) : std::nullopt);
      x += 4.0f;
      y += down;
    }
  };
  go(20, true, 0.0f);
  go(3, false, 4.0f);
  go(1, true, 4.0f);
  go(25, false, 4.0f);
  go(4, true, 4.0f);
  TrackerSettings settings;
  settings.type = TrackerType::OcSort;
  EXPECT_EQ(ids_of(*create_tracker(settings), path), std::set<int>{1});
}

TEST(OcSortTracker, ThoseWhoMeetAndPassKeepTheirIds) {
  // Two that meet and pass: at the middle both boxes are as near to either track.
  const std::vector<Actor> actors{{moving(0.0f, 100.0f, 7.0f, 0.0f)},
                                  {moving(357.0f, 100.0f, -7.0f, 0.0f)}};
  TrackerSettings settings;
  settings.type = TrackerType::OcSort;
  const auto tracker = create_tracker(settings);
  const Story story = play(*tracker, actors, 50, 1.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
}

}  // namespace
}  // namespace het::tracking
