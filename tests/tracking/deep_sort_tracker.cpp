#include <gtest/gtest.h>

#include "scene.h"

namespace het::tracking {
namespace {

std::unique_ptr<Tracker> deep_sort(const std::string& config = "") {
  TrackerSettings settings;
  settings.type = TrackerType::Reappearance;
  EXPECT_TRUE(read_tracker_config("", config, settings).ok());
  return create_tracker(settings);
}

std::unique_ptr<Tracker> by_motion() {
  return create_tracker({});
}

/// A vector that points along one axis of eight; equal ones look the same, others differ by 1.
std::vector<float> look(size_t axis) {
  std::vector<float> feature(8, 0.0f);
  feature[axis] = 3.0f;
  return feature;
}

/// Two people who meet, are hidden behind each other and go back to where they came from.
std::vector<Actor> two_who_turn_back() {
  const auto there_and_back = [](float start, float step) {
    return [=](int frame) {
      const float x = start + step * static_cast<float>(frame < 25 ? frame : 50 - frame);
      return Box{x, 100.0f, x + 40.0f, 180.0f};
    };
  };
  std::vector<Actor> actors{{there_and_back(0.0f, 2.0f)}, {there_and_back(110.0f, -2.0f)}};
  for (size_t i = 0; i < actors.size(); ++i) {
    actors[i].feature = look(i);
    actors[i].hidden = [](int frame) { return frame >= 24 && frame < 28; };
  }
  return actors;
}

TEST(DeepSortTracker, LooksTellApartWhatMotionMixesUp) {
  const auto blind = by_motion();
  EXPECT_GT(play(*blind, two_who_turn_back(), 50, 1.0f).mix_ups(), 0)
      << "the scene is too easy to show anything";
  const auto tracker = deep_sort();
  const Story story = play(*tracker, two_who_turn_back(), 50, 1.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
  EXPECT_EQ(story.actors.size(), 2u);
}

TEST(DeepSortTracker, AnObjectGetsItsIdAfterSomeObservations) {
  for (const auto& [config, without_id] : {std::pair{"", 2u}, std::pair{"n_init=1", 0u}}) {
    const auto tracker = deep_sort(config);
    const Story story = play(*tracker, {{moving(0.0f, 0.0f, 2.0f, 0.0f)}}, 10);
    for (size_t frame = 0; frame < 10; ++frame)
      EXPECT_EQ(story.frames[frame].ids.at(0), frame < without_id ? kNoId : 1) << config;
  }
  Actor flickering{moving(0.0f, 0.0f, 2.0f, 0.0f)};
  flickering.hidden = [](int frame) { return frame % 3 == 2; };
  const auto tracker = deep_sort();
  EXPECT_TRUE(play(*tracker, {flickering}, 30).ids.empty()) << "never three times in a row";
}

TEST(DeepSortTracker, FramesThatNobodyLookedAtAreNoMisses) {
  const auto tracker = deep_sort("max_age=3");
  for (int frame = 0; frame < 60; ++frame) {
    if (frame % 5 != 0) {
      EXPECT_TRUE(tracker->pass().ids.empty());
      continue;
    }
    const float x = 2.0f * static_cast<float>(frame);
    const TrackedFrame seen =
        tracker->update({{{x, 100.0f, x + 40.0f, 180.0f}, "person", 0.9f, look(1), 1}});
    ASSERT_EQ(seen.ids.size(), 1u);
    EXPECT_EQ(seen.ids[0], frame < 10 ? kNoId : 1) << frame;
  }
}

TEST(DeepSortTracker, AnEndedTrackIsFoundAgainByItsLooksAlone) {
  Actor actor{[](int frame) { return frame < 20 ? Box{10, 10, 50, 90} : Box{600, 300, 640, 380}; }};
  actor.feature = look(4);
  actor.hidden = [](int frame) { return frame >= 20 && frame < 60; };
  const auto forgetful = deep_sort();
  EXPECT_EQ(play(*forgetful, {actor}, 90).switches(), 1);
  const auto tracker = deep_sort("reid_max_age=30");
  EXPECT_EQ(play(*tracker, {actor}, 90).switches(), 0);
  const auto too_late = deep_sort("reid_max_age=5");
  EXPECT_EQ(play(*too_late, {actor}, 90).switches(), 1);
  actor.feature = look(4);
  Actor other = actor;
  other.feature = look(5);
  other.first = 60;
  other.hidden = [](int) { return false; };
  actor.last = 19;
  const auto strict = deep_sort("reid_max_age=60");
  EXPECT_EQ(play(*strict, {actor, other}, 90).mix_ups(), 0) << "someone else is not taken for it";
}

TEST(DeepSortTracker, MaxAgeAndCosineDistanceAreHeard) {
  Actor actor{moving(0.0f, 100.0f, 1.0f, 0.0f)};
  actor.feature = look(1);
  actor.hidden = [](int frame) { return frame >= 20 && frame < 45; };
  const auto patient = deep_sort();
  EXPECT_EQ(play(*patient, {actor}, 60).switches(), 0);
  const auto hasty = deep_sort("max_age=10");
  EXPECT_EQ(play(*hasty, {actor}, 60).switches(), 1);

  // It turns round while nobody looks: 0.29 away from what it looked like.
  std::vector<float> turned = look(1);
  turned[2] = 3.0f;
  for (const auto& [config, same] :
       {std::pair{"", false}, std::pair{"max_cosine_distance=0.4", true}}) {
    const auto tracker = deep_sort(config);
    const Box box{0, 0, 40, 80};
    int first = kNoId;
    for (int frame = 0; frame < 5; ++frame)
      first = tracker->update({{box, "person", 0.9f, look(1)}}).ids[0];
    for (int frame = 0; frame < 3; ++frame) (void)tracker->update({});
    int second = kNoId;
    for (int frame = 0; frame < 5; ++frame)
      second = tracker->update({{box, "person", 0.9f, turned}}).ids[0];
    EXPECT_EQ(first == second, same) << config;
  }
}

TEST(DeepSortTracker, ATwinFarAwayIsSomeoneElse) {
  Actor leaves{moving(0.0f, 100.0f, 1.0f, 0.0f)};
  leaves.feature = look(1);
  leaves.last = 19;
  Actor twin{moving(500.0f, 100.0f, 1.0f, 0.0f)};
  twin.feature = look(1);
  twin.first = 22;
  const auto tracker = deep_sort();
  EXPECT_EQ(play(*tracker, {leaves, twin}, 40).mix_ups(), 0);
}

TEST(DeepSortTracker, TheBudgetBoundsWhatIsRemembered) {
  // It looks like 1, then for a long time like 2; then it is away and comes back like 1.
  for (const auto& [config, same] : {std::pair{"", true}, std::pair{"nn_budget=3", false}}) {
    const auto tracker = deep_sort(config);
    const Box box{0, 0, 40, 80};
    int first = kNoId;
    for (int frame = 0; frame < 20; ++frame)
      first = tracker->update({{box, "person", 0.9f, look(frame < 5 ? 1 : 2)}}).ids[0];
    for (int frame = 0; frame < 3; ++frame) (void)tracker->update({});
    int second = kNoId;
    for (int frame = 0; frame < 5; ++frame)
      second = tracker->update({{box, "person", 0.9f, look(1)}}).ids[0];
    EXPECT_EQ(first == second, same) << config;
  }
}

TEST(DeepSortTracker, WithoutFeaturesPlacesDecide) {
  std::vector<Actor> actors{{moving(0.0f, 100.0f, 5.0f, 0.0f)}, {moving(0.0f, 300.0f, 5.0f, 0.0f)}};
  actors[1].hidden = [](int frame) { return frame >= 20 && frame < 26; };
  const auto tracker = deep_sort();
  const Story story = play(*tracker, actors, 60, 1.0f);
  EXPECT_EQ(story.switches(), 0);
  EXPECT_EQ(story.mix_ups(), 0);
}

TEST(DeepSortTracker, OnlyTheWantedClassIsTracked) {
  std::vector<Actor> actors{{moving(0.0f, 0.0f, 1.0f, 0.0f)}, {moving(200.0f, 0.0f, 1.0f, 0.0f)}};
  actors[1].label = "dog";
  const auto tracker = deep_sort("object_class=dog");
  const Story story = play(*tracker, actors, 10);
  EXPECT_EQ(story.ids.count(0), 0u);
  EXPECT_EQ(story.ids.count(1), 1u);
}

}  // namespace
}  // namespace het::tracking
