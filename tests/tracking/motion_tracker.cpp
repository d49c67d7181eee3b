#include <gtest/gtest.h>

#include <limits>

#include "scene.h"

namespace het::tracking {
namespace {

std::unique_ptr<Tracker> tracker_of(TrackerType type, const std::string& config = "") {
  TrackerSettings settings;
  settings.type = type;
  EXPECT_TRUE(read_tracker_config(config, "", settings).ok());
  return create_tracker(settings);
}

std::unique_ptr<Tracker> association(const std::string& config = "") {
  return tracker_of(TrackerType::Association, config);
}

std::vector<Actor> crowd() {
  std::vector<Actor> actors;
  for (int i = 0; i < 10; ++i) {
    const auto lane = static_cast<float>(i);
    actors.push_back({moving(50.0f + 130.0f * lane, 100.0f, 3.0f - 0.6f * lane, 0.5f * lane)});
  }
  return actors;
}

TEST(MotionTracker, EveryObjectKeepsItsId) {
  const auto tracker = association();
  const Story story = play(*tracker, crowd(), 80, 3.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
  EXPECT_EQ(story.actors.size(), 10u);
  EXPECT_EQ(story.actors.begin()->first, 1) << "ids begin at 1";
}

TEST(MotionTracker, MissedDetectionsDoNotChangeIds) {
  std::vector<Actor> actors = crowd();
  for (size_t i = 0; i < actors.size(); ++i) {
    actors[i].hidden = [i](int frame) { return (static_cast<size_t>(frame) * 7 + i * 3) % 5 == 0; };
  }
  const auto tracker = association();
  const Story story = play(*tracker, actors, 80, 3.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
}

TEST(MotionTracker, ObjectsThatCrossKeepTheirIds) {
  // The one behind is not detected while they cover each other.
  Actor front{moving(0.0f, 100.0f, 8.0f, 0.0f)};
  Actor behind{moving(400.0f, 104.0f, -8.0f, 0.0f)};
  behind.hidden = [&](int frame) { return overlap(front.box(frame), behind.box(frame)) > 0.05f; };
  const auto tracker = association();
  const Story story = play(*tracker, {front, behind}, 50, 2.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
  EXPECT_EQ(story.actors.size(), 2u);
}

TEST(MotionTracker, BothBoxesOfCrossingObjectsAreToldApartByTheirMotion) {
  const std::vector<Actor> actors{{moving(0.0f, 100.0f, 7.0f, 0.0f)},
                                  {moving(357.0f, 100.0f, -7.0f, 0.0f)}};
  const auto tracker = association();
  const Story story = play(*tracker, actors, 50, 1.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
}

TEST(MotionTracker, AnOcclusionKeepsTheIdForMaxAgeFrames) {
  for (const auto& [hidden_frames, switches] :
       {std::pair{20, 0}, std::pair{30, 0}, std::pair{31, 1}}) {
    Actor actor{moving(0.0f, 100.0f, 5.0f, 1.0f)};
    const int until = 20 + hidden_frames;
    actor.hidden = [until](int frame) { return frame >= 20 && frame < until; };
    const auto tracker = association();
    EXPECT_EQ(play(*tracker, {actor}, 80).switches(), switches) << hidden_frames;
  }
  Actor actor{moving(0.0f, 100.0f, 5.0f, 1.0f)};
  actor.hidden = [](int frame) { return frame >= 20 && frame < 30; };
  const auto tracker = association("max_age=9");
  EXPECT_EQ(play(*tracker, {actor}, 80).switches(), 1) << "max_age is heard";
}

TEST(MotionTracker, WhoComesIsNotWhoLeft) {
  Actor leaves{moving(500.0f, 100.0f, 10.0f, 0.0f)};
  leaves.last = 15;
  Actor comes{moving(-200.0f, 100.0f, 10.0f, 0.0f)};
  comes.first = 20;
  const auto tracker = association();
  const Story story = play(*tracker, {leaves, comes}, 60, 1.0f);
  EXPECT_EQ(story.mix_ups(), 0);
  EXPECT_EQ(story.ids.at(0), (std::vector<int>{1}));
  EXPECT_EQ(story.ids.at(1), (std::vector<int>{2})) << "ids are not used twice";
}

TEST(MotionTracker, AFastSmallObjectIsFollowedWithoutOverlap) {
  const auto tracker = association();
  const Story story = play(*tracker, {{moving(0.0f, 0.0f, 22.0f, 3.0f, 16.0f, 16.0f)}}, 30, 0.5f);
  EXPECT_EQ(story.switches(), 0);
}

TEST(MotionTracker, LabelsSeparateUnlessTrackingIsNotPerClass) {
  const auto boxes = moving(0.0f, 0.0f, 2.0f, 0.0f);
  for (const auto& [config, same] :
       {std::pair{"", false}, std::pair{"tracking_per_class=false", true}}) {
    const auto tracker = association(config);
    const int first = tracker->update({{boxes(0), "car", 0.9f, {}}}).ids.at(0);
    const int second = tracker->update({{boxes(1), "truck", 0.9f, {}}}).ids.at(0);
    EXPECT_EQ(first == second, same) << config;
  }
}

TEST(MotionTracker, OnlySoManyObjectsAreTracked) {
  const auto tracker = association("max_num_objects=2");
  const TrackedFrame frame = tracker->update({{moving(0, 0, 0, 0)(0), "a", 0.5f, {}},
                                              {moving(100, 0, 0, 0)(0), "a", 0.9f, {}},
                                              {moving(200, 0, 0, 0)(0), "a", 0.7f, {}}});
  EXPECT_EQ(frame.ids[0], kNoId) << "the least confident one";
  EXPECT_NE(frame.ids[1], kNoId);
  EXPECT_NE(frame.ids[2], kNoId);
}

TEST(MotionTracker, PredictionFillsFramesWithoutDetections) {
  const auto truth = moving(0.0f, 100.0f, 6.0f, 2.0f);
  const auto every_third = [](int frame) { return frame % 3 == 0; };
  const auto tracker = tracker_of(TrackerType::Prediction);
  const Story story = play(*tracker, {{truth}}, 60, 1.0f, every_third);
  EXPECT_EQ(story.switches(), 0);
  for (int frame = 9; frame < 60; ++frame) {
    const std::vector<SupposedObject>& supposed = story.frames[static_cast<size_t>(frame)].supposed;
    ASSERT_EQ(supposed.size(), every_third(frame) ? 0u : 1u) << frame;
    if (supposed.empty()) continue;
    EXPECT_EQ(supposed[0].id, 1);
    EXPECT_EQ(supposed[0].label, "person");
    EXPECT_FLOAT_EQ(supposed[0].confidence, 0.9f);
    EXPECT_GT(overlap(supposed[0].box, truth(frame)), 0.75f) << "frame " << frame;
  }
  const auto no_prediction = association();
  for (const TrackedFrame& frame : play(*no_prediction, {{truth}}, 60, 1.0f, every_third).frames)
    EXPECT_TRUE(frame.supposed.empty());
}

TEST(MotionTracker, FramesThatNobodyLookedAtAreFilledHoweverMany) {
  const auto truth = moving(0.0f, 100.0f, 3.0f, 1.0f);
  const auto tracker = tracker_of(TrackerType::Prediction);
  for (int frame = 0; frame < 100; ++frame) {
    if (frame % 10 == 0) {
      const TrackedFrame seen = tracker->update({{truth(frame), "person", 0.9f, {}, 1}});
      EXPECT_EQ(seen.ids, std::vector<int>{1}) << frame;
      continue;
    }
    const TrackedFrame passed = tracker->pass();
    ASSERT_EQ(passed.supposed.size(), 1u) << frame;
    EXPECT_EQ(passed.supposed[0].id, 1);
    if (frame <= 30) continue;
    EXPECT_GT(overlap(passed.supposed[0].box, truth(frame)), 0.6f) << frame;
  }
  // Who was missing when somebody looked is not supposed any more.
  tracker->update({});
  EXPECT_TRUE(tracker->pass().supposed.empty());
}

TEST(MotionTracker, PredictionEnds) {
  for (const auto& [config, most] : {std::pair{"", 5}, std::pair{"max_prediction=2", 2}}) {
    const auto tracker = tracker_of(TrackerType::Prediction, config);
    const Story story = play(*tracker, {{moving(0.0f, 0.0f, 1.0f, 0.0f)}}, 30, 0.0f,
                             [](int frame) { return frame < 10; });
    int filled = 0;
    for (const TrackedFrame& frame : story.frames)
      filled += static_cast<int>(frame.supposed.size());
    EXPECT_EQ(filled, most) << config;
  }
}

TEST(MotionTracker, ResetForgets) {
  const auto tracker = association();
  const Box box = moving(0.0f, 0.0f, 0.0f, 0.0f)(0);
  EXPECT_EQ(tracker->update({{box, "a", 0.9f, {}}, {moving(90, 0, 0, 0)(0), "a", 0.8f, {}}}).ids,
            (std::vector<int>{1, 2}));
  tracker->reset();
  EXPECT_EQ(tracker->update({{box, "b", 0.9f, {}}}).ids, (std::vector<int>{1}));
}

TEST(MotionTracker, BrokenBoxesGetNoId) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float huge = std::numeric_limits<float>::max();
  for (TrackerType type :
       {TrackerType::Association, TrackerType::Prediction, TrackerType::Reappearance}) {
    const auto tracker = tracker_of(type);
    for (int frame = 0; frame < 5; ++frame) {
      const TrackedFrame tracked = tracker->update({{{nan, 0, 1, 1}, "a", nan, {nan}},
                                                    {{0, 0, huge, huge}, "a", 1.0f, {huge, huge}},
                                                    {{5, 5, 5, 5}, "a", 0.5f, {}}});
      EXPECT_EQ(tracked.ids, (std::vector<int>{kNoId, kNoId, kNoId}));
    }
    // More than any detector finds: the rest gets no id, and it ends.
    std::vector<Observation> many;
    for (int i = 0; i < 3000; ++i) {
      const auto place = static_cast<float>(i);
      many.push_back({{20 * place, 0, 20 * place + 15, 15}, "a", 0.5f, {}});
    }
    for (int frame = 0; frame < 2; ++frame) EXPECT_EQ(tracker->update(many).ids.size(), 3000u);
  }
}

}  // namespace
}  // namespace het::tracking
