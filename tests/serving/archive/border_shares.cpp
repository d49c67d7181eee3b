#include "tests/serving/archive/border_shares.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "serving/archive/merge/video_identities.h"

namespace het::archive {
namespace {

/// What a tracker makes of frames [from, to), which are numbered by their place in the scene.
std::vector<TrackedLine> track(const Scene& scene, tracking::TrackerType type, size_t from,
                               size_t to) {
  tracking::TrackerSettings settings;
  settings.type = type;
  const auto tracker = tracking::create_tracker(settings);
  std::vector<TrackedLine> lines;
  for (size_t i = from; i < to; ++i) {
    const auto& seen = scene.frames[i];
    const tracking::TrackedFrame tracked = tracker->update(seen);
    TrackedLine& line = lines.emplace_back();
    line.timestamp_ns = static_cast<int64_t>(i);
    const auto add = [&](int id, const tracking::Box& box, const std::string& label) {
      if (id == tracking::kNoId) return;
      line.objects.push_back({id, label, {box.x_min, box.y_min, box.x_max, box.y_max}, 0, 0});
    };
    for (size_t k = 0; k < seen.size(); ++k) add(tracked.ids[k], seen[k].box, seen[k].label);
    for (const auto& supposed : tracked.supposed) add(supposed.id, supposed.box, supposed.label);
  }
  return lines;
}

/// The id of each object of a frame, by its box.
const TrackedObject* same_place(const TrackedLine& line, const TrackedObject& object) {
  const auto found = std::ranges::find_if(line.objects, [&](const TrackedObject& other) {
    return other.box == object.box && other.label == object.label;
  });
  return found == line.objects.end() ? nullptr : &*found;
}

/// Objects that one process knows on both sides of the border, at most 30 frames away from it.
void count_border(const std::vector<TrackedLine>& whole, const std::vector<TrackedLine>& merged,
                  size_t border, Shares& shares) {
  std::map<int64_t, int64_t> before;
  for (size_t i = border >= 30 ? border - 30 : 0; i < border; ++i) {
    for (const TrackedObject& object : whole[i].objects) {
      const TrackedObject* ours = same_place(merged[i], object);
      if (ours) before[object.id] = ours->id;
    }
  }
  std::set<int64_t> counted;
  for (size_t i = border; i < std::min(border + 30, whole.size()); ++i) {
    for (const TrackedObject& object : whole[i].objects) {
      const auto known = before.find(object.id);
      if (known == before.end() || !counted.insert(object.id).second) continue;
      const TrackedObject* ours = same_place(merged[i], object);
      ++shares.crossed;
      shares.joined += ours && ours->id == known->second ? 1 : 0;
    }
  }
}

}  // namespace

Shares shares_of(const Scene& scene, tracking::TrackerType type, double shard_s, double overlap_s) {
  const size_t length = static_cast<size_t>(shard_s * scene.frames_per_s);
  const size_t overlap = static_cast<size_t>(overlap_s * scene.frames_per_s);
  const size_t end = scene.frames.size();
  const std::vector<TrackedLine> whole = track(scene, type, 0, end);
  std::vector<TrackedLine> merged;
  Shares shares;
  VideoIdentities identities;
  identities.begin_video();
  const auto from = [&](size_t start) { return start > overlap ? start - overlap : 0; };
  for (size_t start = 0; start < end; start += length) {
    const size_t stop = std::min(start + length, end);
    std::vector<TrackedLine> lines = track(scene, type, start == 0 ? 0 : from(start), stop);
    const auto first =
        std::ranges::find(lines, static_cast<int64_t>(start), &TrackedLine::timestamp_ns);
    if (start > 0) identities.begin_range({lines.begin(), first});
    identities.keep_from(static_cast<int64_t>(from(start + length)));
    for (auto line = first; line != lines.end(); ++line) {
      const std::vector<int64_t> ids = identities.number(*line);
      for (size_t k = 0; k < ids.size(); ++k) line->objects[k].id = ids[k];
      merged.push_back(*line);
    }
    shares.told_crossed += identities.border().crossed;
    shares.told_joined += identities.border().joined;
  }
  for (size_t border = length; border < end; border += length) {
    count_border(whole, merged, border, shares);
  }
  for (size_t i = 0; i < end; ++i) {
    for (size_t k = 0; k < whole[i].objects.size(); ++k) {
      shares.is_same = shares.is_same && k < merged[i].objects.size() &&
                       merged[i].objects[k].id == whole[i].objects[k].id;
    }
  }
  return shares;
}

double percent(size_t part, size_t all) {
  return all == 0 ? 100 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace het::archive
