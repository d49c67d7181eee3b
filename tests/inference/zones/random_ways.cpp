/// Zones and lines against a reference by brute force: 10,000 random ways with jitter, gaps and
/// lost ids.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "inference/zones/zone_analysis.h"
#include "reference.h"

namespace het::zones {
namespace {

constexpr int kScenes = 500;
constexpr int kObjects = 20;  ///< of a scene
constexpr int kFrames = 120;
constexpr int64_t kFrameNs = 40'000'000;
constexpr int kSize = 200;  ///< of a picture, in pixels
const char* const kLabels[] = {"car", "person"};

class RandomScene {
 public:
  explicit RandomScene(unsigned seed) : random_(seed) {
    hysteresis_quarters = below(4) == 0 ? 0 : below(6 * static_cast<int>(kQuarters));
    grace_ns = kFrameNs * below(12);
    for (int i = 0; i < 3; ++i) {
      ZoneSpec& zone = configuration.zones.emplace_back();
      zone.id = "polygon " + std::to_string(i);
      const int corners = 3 + below(5);  // concave and crossing themselves, too
      for (int corner = 0; corner < corners; ++corner) zone.points.push_back(point());
    }
    ZoneSpec& circle = configuration.zones.emplace_back();
    circle.id = "circle";
    circle.is_circle = true;
    circle.center = point();
    circle.radius = 1 + below(60);
    for (int i = 0; i < 3; ++i) {
      TripwireSpec& line = configuration.tripwires.emplace_back();
      line.id = "line " + std::to_string(i);
      line.from = point();
      do line.to = point();
      while (line.to == line.from);
    }
    for (int i = 0; i < kObjects; ++i) add_object();
  }

  int below(int limit) {
    return limit > 0 ? static_cast<int>(random_() % static_cast<unsigned>(limit)) : 0;
  }
  /// On a coarse grid, so that ways meet corners and ends of lines.
  Point point() { return {10.0 * below(kSize / 10 + 1), 10.0 * below(kSize / 10 + 1)}; }

  Configuration configuration;
  int64_t hysteresis_quarters = 0;
  int64_t grace_ns = 0;
  /// By object and frame, in quarters of a pixel.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> places;
  /// Whether it is seen there.
  std::vector<std::vector<bool>> seen;

 private:
  void add_object() {
    auto& way = places.emplace_back();
    auto& is_seen = seen.emplace_back();
    const auto quarter = [](double pixels) { return static_cast<int64_t>(pixels) * kQuarters; };
    const Point start = point();
    int64_t x = quarter(start.x), y = quarter(start.y);
    int64_t speed_x = 0, speed_y = 0;
    const int jitter = below(3) * below(16);
    int missing = 0;
    for (int frame = 0; frame < kFrames; ++frame) {
      if (below(15) == 0) {
        speed_x = 10 * (below(9) - 4);
        speed_y = 10 * (below(9) - 4);
      }
      x = std::clamp<int64_t>(x + speed_x, -40, (kSize + 10) * kQuarters);
      y = std::clamp<int64_t>(y + speed_y, -40, (kSize + 10) * kQuarters);
      way.emplace_back(x + below(2 * jitter + 1) - jitter, y + below(2 * jitter + 1) - jitter);
      if (missing == 0 && below(12) == 0) missing = 1 + below(20);
      is_seen.push_back(missing == 0);
      missing = std::max(0, missing - 1);
    }
  }

  std::mt19937 random_;
};

enum class Look { Analysed, Skipped, Carried };

TEST(RandomWays, AreTheReferencesWays) {
  uint64_t visits = 0;
  uint64_t crossings = 0;
  for (unsigned seed = 0; seed < kScenes; ++seed) {
    RandomScene scene(seed);
    AnalysisDefaults defaults;
    defaults.anchor = Anchor::BottomCenter;
    defaults.hysteresis_pixels = static_cast<double>(scene.hysteresis_quarters) / kQuarters;
    defaults.grace_time_s = static_cast<double>(scene.grace_ns) / 1e9;
    ZoneAnalysis analysis;
    EXPECT_TRUE(analysis.configure(scene.configuration, defaults, kSize, kSize).empty());

    std::vector<std::vector<Sighting>> ways(kObjects);
    std::vector<bool> is_missed(kObjects, false);
    std::map<int, ReferenceWay> found;
    const size_t zones = scene.configuration.zones.size();
    const size_t lines = scene.configuration.tripwires.size();
    for (int i = 0; i < kObjects; ++i) {
      found[i].visits.resize(zones);
      found[i].crossings.resize(lines);
    }
    std::vector<SeenObject> last;
    for (int number = 0; number < kFrames; ++number) {
      const int chance = scene.below(6);
      const Look look = chance == 0 ? Look::Skipped : chance == 1 ? Look::Carried : Look::Analysed;
      SeenFrame frame;
      frame.time_ns = number * kFrameNs;
      frame.is_analysed = look == Look::Analysed;
      if (look == Look::Carried) {
        frame.objects = last;
        for (SeenObject& object : frame.objects) object.is_carried = true;
      }
      for (int i = 0; i < kObjects && look == Look::Analysed; ++i) {
        const auto at = static_cast<size_t>(i);
        if (!scene.seen[at][static_cast<size_t>(number)]) {
          is_missed[at] = true;
          continue;
        }
        const auto [x, y] = scene.places[at][static_cast<size_t>(number)];
        ways[at].push_back({frame.time_ns, x, y, is_missed[at]});
        is_missed[at] = false;
        SeenObject& object = frame.objects.emplace_back();
        object.id = i;
        object.label = kLabels[i % 2];
        object.left = static_cast<double>(x) / kQuarters - 7.0;
        object.right = static_cast<double>(x) / kQuarters + 7.0;
        object.bottom = static_cast<double>(y) / kQuarters;
        object.top = object.bottom - 30.0;
      }
      if (look == Look::Analysed) last = frame.objects;
      const FrameResult result = analysis.update(frame);
      for (const Event& event : result.events) {
        ReferenceWay& way = found[*event.object_id];
        for (size_t z = 0; z < zones; ++z) {
          if (event.shape != scene.configuration.zones[z].id) continue;
          if (event.kind == Event::Kind::Enter)
            way.visits[z].push_back({event.time_ns, event.time_ns});
          if (event.kind == Event::Kind::Exit) {
            way.visits[z].back().end_ns = event.time_ns;
            EXPECT_EQ(event.dwell_ns, event.time_ns - way.visits[z].back().begin_ns);
          }
        }
        for (size_t l = 0; l < lines; ++l) {
          if (event.shape == scene.configuration.tripwires[l].id)
            way.crossings[l].push_back(event.direction);
        }
      }
    }
    for (const Event& event : analysis.reset()) {
      for (size_t z = 0; z < zones; ++z) {
        if (event.shape == scene.configuration.zones[z].id)
          found[*event.object_id].visits[z].back().end_ns = event.time_ns;
      }
    }
    std::vector<std::map<std::string, uint64_t>> begun(zones);
    for (int i = 0; i < kObjects; ++i) {
      const ReferenceWay wanted = reference_way(scene.configuration, scene.hysteresis_quarters,
                                                scene.grace_ns, ways[static_cast<size_t>(i)]);
      ASSERT_EQ(found[i].crossings, wanted.crossings) << "scene " << seed << ", object " << i;
      for (size_t z = 0; z < zones; ++z) {
        ASSERT_EQ(found[i].visits[z].size(), wanted.visits[z].size())
            << "scene " << seed << ", object " << i << ", zone " << z;
        EXPECT_TRUE(found[i].visits[z] == wanted.visits[z])
            << "scene " << seed << ", object " << i << ", zone " << z;
        visits += wanted.visits[z].size();
        begun[z][kLabels[i % 2]] += wanted.visits[z].size();
      }
      for (const auto& directions : wanted.crossings) crossings += directions.size();
    }
    for (size_t z = 0; z < zones; ++z) {
      for (const auto& [label, counts] : analysis.zone_counts(z)) {
        EXPECT_EQ(counts.visits, begun[z][label]);
        EXPECT_EQ(counts.ended, begun[z][label]);
        EXPECT_EQ(counts.occupancy, 0u);
      }
    }
  }
  RecordProperty("visits", std::to_string(visits));
  RecordProperty("crossings", std::to_string(crossings));
  std::printf("%d ways: %llu visits, %llu crossings\n", kScenes * kObjects,
              static_cast<unsigned long long>(visits), static_cast<unsigned long long>(crossings));
  EXPECT_GT(visits, 10000u);
  EXPECT_GT(crossings, 5000u);
}

}  // namespace
}  // namespace het::zones
