#include "scene.h"

#include <algorithm>

namespace het::tracking {

std::function<Box(int)> moving(float x, float y, float vx, float vy, float width, float height) {
  return [=](int frame) {
    const auto time = static_cast<float>(frame);
    return Box{x + vx * time, y + vy * time, x + vx * time + width, y + vy * time + height};
  };
}

Box Jitter::operator()(Box box) {
  std::uniform_real_distribution<float> change(-pixels, pixels);
  for (float* corner : {&box.x_min, &box.y_min, &box.x_max, &box.y_max}) *corner += change(random);
  return box;
}

int Story::switches() const {
  int count = 0;
  for (const auto& [actor, of_actor] : ids) count += static_cast<int>(of_actor.size()) - 1;
  return count;
}

int Story::mix_ups() const {
  int count = 0;
  for (const auto& [id, of_id] : actors) count += static_cast<int>(of_id.size()) - 1;
  return count;
}

Story play(Tracker& tracker, const std::vector<Actor>& actors, int count, float jitter_pixels,
           const std::function<bool(int frame)>& detects) {
  Story story;
  Jitter jitter{jitter_pixels};
  for (int frame = 0; frame < count; ++frame) {
    std::vector<size_t> seen;
    for (size_t i = 0; i < actors.size(); ++i) {
      if (actors[i].is_there(frame) && !actors[i].hidden(frame) && detects(frame))
        seen.push_back(i);
    }
    std::shuffle(seen.begin(), seen.end(), jitter.random);
    std::vector<Observation> observations;
    for (size_t actor : seen) {
      const Actor& known = actors[actor];
      observations.push_back({jitter(known.box(frame)), known.label, 0.9f, known.feature});
    }
    TrackedFrame tracked = tracker.update(observations);
    for (size_t i = 0; i < seen.size() && i < tracked.ids.size(); ++i) {
      if (tracked.ids[i] == kNoId) continue;
      std::vector<int>& of_actor = story.ids[seen[i]];
      if (of_actor.empty() || of_actor.back() != tracked.ids[i]) of_actor.push_back(tracked.ids[i]);
      story.actors[tracked.ids[i]].insert(seen[i]);
    }
    story.frames.push_back(std::move(tracked));
  }
  return story;
}

}  // namespace het::tracking
