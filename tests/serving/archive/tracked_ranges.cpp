/// Ranges by real trackers: how many objects that cross a border keep their id. Detections are of
/// generated scenes, or of a file that a pipeline without heterotrack has written:
/// HET_DETECTIONS=FILE.jsonl prints the shares for it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "inference/tracking/tracker.h"
#include "serving/archive/merge/video_identities.h"

namespace het::archive {
namespace {

using tracking::Observation;

struct Scene {
  double frames_per_s = 25;
  std::vector<std::vector<Observation>> frames;
};

/// Objects that come in at one side and go out at the other, some slower, some hidden for a while.
Scene generated_scene(unsigned seed) {
  constexpr int kFrames = 1500;
  std::mt19937 random(seed);
  const auto between = [&](float least, float most) {
    return least + (most - least) * static_cast<float>(random() % 10000) / 10000.0f;
  };
  Scene scene;
  scene.frames.resize(kFrames);
  for (int begin = -200; begin < kFrames; begin += static_cast<int>(between(5, 30))) {
    const float speed = between(1, 6) * (random() % 2 == 0 ? 1.0f : -1.0f);
    const float y = between(0, 640);
    const float side = between(25, 70);
    const int hidden = begin + static_cast<int>(between(20, 200));
    for (int i = std::max(begin, 0); i < kFrames; ++i) {
      const float x = (speed > 0 ? 0 : 1280) + speed * static_cast<float>(i - begin);
      if (x < -side || x > 1280) break;
      const bool is_seen = random() % 20 != 0 && (i < hidden || i > hidden + 8);
      if (!is_seen) continue;
      Observation& seen = scene.frames[static_cast<size_t>(i)].emplace_back();
      const float dx = between(-1.5f, 1.5f);
      const float dy = between(-1.5f, 1.5f);
      seen.box = {x + dx, y + dy, x + dx + side, y + dy + 1.5f * side};
      seen.label = "person";
      seen.confidence = random() % 8 == 0 ? between(0.2f, 0.5f) : between(0.6f, 0.95f);
    }
  }
  return scene;
}

Scene recorded_scene(const std::string& path) {
  Scene scene;
  std::ifstream file(path);
  std::string line;
  std::vector<double> times;
  while (std::getline(file, line)) {
    const auto frame = nlohmann::json::parse(line);
    times.push_back(frame.at("timestamp").get<double>() / 1e9);
    auto& observations = scene.frames.emplace_back();
    if (!frame.contains("objects")) continue;
    for (const auto& object : frame.at("objects")) {
      const auto& detection = object.at("detection");
      const auto& box = detection.at("bounding_box");
      const double width = frame.at("resolution").at("width");
      const double height = frame.at("resolution").at("height");
      Observation& seen = observations.emplace_back();
      seen.box = {static_cast<float>(box.at("x_min").get<double>() * width),
                  static_cast<float>(box.at("y_min").get<double>() * height),
                  static_cast<float>(box.at("x_max").get<double>() * width),
                  static_cast<float>(box.at("y_max").get<double>() * height)};
      seen.label = object.value("roi_type", "");
      seen.confidence = detection.at("confidence").get<float>();
    }
  }
  if (times.size() > 1) {
    scene.frames_per_s = static_cast<double>(times.size() - 1) / (times.back() - times.front());
  }
  return scene;
}

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

struct Shares {
  size_t crossed = 0;
  size_t joined = 0;
  size_t told_crossed = 0;  ///< as the merge counts
  size_t told_joined = 0;
  bool is_same = true;  ///< all ids are those of one process
};

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

class TrackedRanges : public testing::TestWithParam<const char*> {};

TEST_P(TrackedRanges, TwoSecondsJoinNearlyAll) {
  Shares sum;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const Shares shares =
        shares_of(generated_scene(seed), *tracking::tracker_type(GetParam()), 5, 2);
    sum.crossed += shares.crossed;
    sum.joined += shares.joined;
    sum.told_crossed += shares.told_crossed;
    sum.told_joined += shares.told_joined;
  }
  EXPECT_GT(sum.crossed, 100u);
  EXPECT_GE(percent(sum.joined, sum.crossed), 95) << sum.joined << " of " << sum.crossed;
  EXPECT_GE(percent(sum.told_joined, sum.told_crossed), 95);
}

TEST_P(TrackedRanges, WithoutAnOverlapNoneIsJoined) {
  EXPECT_EQ(shares_of(generated_scene(1), *tracking::tracker_type(GetParam()), 5, 0).joined, 0u);
}

INSTANTIATE_TEST_SUITE_P(Types, TrackedRanges,
                         testing::Values("zero-term", "short-term-imageless", "deep-sort",
                                         "byte-track", "oc-sort"),
                         [](const auto& type) {
                           std::string name = type.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(RecordedRanges, Shares) {
  const char* path = std::getenv("HET_DETECTIONS");
  if (!path) GTEST_SKIP() << "set HET_DETECTIONS to lines of heterometaconvert for their shares";
  const Scene scene = recorded_scene(path);
  for (const auto& type : tracking::tracker_names()) {
    for (const double overlap_s : {0.5, 1.0, 2.0, 4.0, 8.0}) {
      const Shares shares = shares_of(scene, type.type, 10, overlap_s);
      fmt::print(
          "{:22} overlap {:3} s: {:4} crossed, {:5.1f} % joined; told {:4} and {:5.1f} %{}\n",
          type.name, overlap_s, shares.crossed, percent(shares.joined, shares.crossed),
          shares.told_crossed, percent(shares.told_joined, shares.told_crossed),
          shares.is_same ? "; as of one process" : "");
    }
  }
}

}  // namespace
}  // namespace het::archive
