#include "inference/zones/zone_analysis.h"

#include <gtest/gtest.h>

namespace het::zones {
namespace {

constexpr int64_t kMs = 1'000'000;

/// Frames of a picture of 640x480 with one box of 20x40 pixels an object, its foot where the test
/// says.
class ZoneRig {
 public:
  explicit ZoneRig(const Configuration& configuration, double hysteresis = 4.0,
                   double grace_s = 1.0) {
    defaults_.hysteresis_pixels = hysteresis;
    defaults_.grace_time_s = grace_s;
    configure(configuration);
  }
  void configure(const Configuration& configuration, int width = 640) {
    const auto exits = analysis.configure(configuration, defaults_, width, 480);
    events.insert(events.end(), exits.begin(), exits.end());
  }
  struct Foot {
    std::optional<int> id;
    double x, y;
    bool is_carried = false;
    std::string label = "car";
  };
  FrameResult see(int64_t time_ms, const std::vector<Foot>& feet, bool is_analysed = true) {
    SeenFrame frame{time_ms * kMs, is_analysed, {}};
    for (const Foot& foot : feet)
      frame.objects.push_back(
          {foot.id, foot.label, foot.x - 10, foot.y - 40, foot.x + 10, foot.y, foot.is_carried});
    FrameResult result = analysis.update(frame);
    events.insert(events.end(), result.events.begin(), result.events.end());
    return result;
  }
  int count(Event::Kind kind) const {
    int number = 0;
    for (const Event& event : events) number += event.kind == kind ? 1 : 0;
    return number;
  }
  TripwireCounts line() const {
    TripwireCounts all;
    for (const auto& [label, counts] : analysis.tripwire_counts(0)) {
      all.forward += counts.forward;
      all.backward += counts.backward;
    }
    return all;
  }

  ZoneAnalysis analysis;
  std::vector<Event> events;

 private:
  AnalysisDefaults defaults_;
};

/// A line upwards at x = 300: forward is to the right of the picture.
Configuration gate() {
  Configuration configuration;
  TripwireSpec& line = configuration.tripwires.emplace_back();
  line.id = "gate";
  line.from = {300, 480};
  line.to = {300, 0};
  return configuration;
}

/// The left half.
Configuration yard() {
  Configuration configuration;
  ZoneSpec& zone = configuration.zones.emplace_back();
  zone.id = "yard";
  zone.points = {{0, 0}, {300, 0}, {300, 480}, {0, 480}};
  return configuration;
}

TEST(ZoneAnalysis, ACrossingIsToldOnceWithTheTimeOnTheLine) {
  ZoneRig rig(gate());
  rig.see(0, {{1, 250, 100}});
  const FrameResult result = rig.see(100, {{1, 350, 100}});
  ASSERT_EQ(result.objects[0].tripwires.size(), 1u);
  EXPECT_EQ(result.objects[0].tripwires[0].direction, 1);
  EXPECT_EQ(result.objects[0].tripwires[0].time_ns, 50 * kMs);
  rig.see(200, {{1, 400, 100}});
  rig.see(300, {{1, 200, 100}});
  EXPECT_EQ(rig.line().forward, 1u);
  EXPECT_EQ(rig.line().backward, 1u);
  EXPECT_EQ(rig.count(Event::Kind::Crossing), 2);
}

TEST(ZoneAnalysis, JitterOnALineIsOneCrossingOrNone) {
  for (const double end : {350.0, 250.0}) {
    ZoneRig rig(gate());
    rig.see(0, {{1, 250, 100}});
    for (int i = 1; i < 50; ++i) rig.see(40 * i, {{1, i % 2 == 0 ? 297.0 : 303.0, 100}});
    EXPECT_EQ(rig.line().forward, 0u) << "before it leaves the line";
    rig.see(3000, {{1, end, 100}});
    EXPECT_EQ(rig.line().forward, end > 300 ? 1u : 0u);
    EXPECT_EQ(rig.line().backward, 0u);
  }
  ZoneRig without(gate(), 0.0);
  for (int i = 0; i < 10; ++i) without.see(40 * i, {{1, i % 2 == 0 ? 297.0 : 303.0, 100}});
  EXPECT_EQ(without.line().forward, 5u);
}

TEST(ZoneAnalysis, AWayAroundTheEndOfALineIsNoCrossing) {
  Configuration configuration = gate();
  configuration.tripwires[0].from = {300, 200};
  ZoneRig rig(configuration);
  for (const auto& [x, y] : {std::pair{250, 150}, {250, 250}, {350, 250}, {350, 150}})
    rig.see(x + y, {{1, static_cast<double>(x), static_cast<double>(y)}});
  EXPECT_EQ(rig.line().forward, 0u);
}

TEST(ZoneAnalysis, AnIdThatIsFoundWithinTheGraceTimeGoesOn) {
  for (const int64_t gap_ms : {900, 1100}) {
    Configuration configuration = gate();
    configuration.zones = yard().zones;
    ZoneRig rig(configuration);
    rig.see(0, {{1, 100, 100}});
    rig.see(100, {{1, 250, 100}});
    rig.see(140, {});
    rig.see(100 + gap_ms, {{1, 350, 100}});
    rig.see(140 + gap_ms, {{1, 250, 100}});
    const bool goes_on = gap_ms < 1000;
    EXPECT_EQ(rig.line().forward, goes_on ? 1u : 0u) << gap_ms;
    EXPECT_EQ(rig.line().backward, 1u);
  }
  ZoneRig rig(yard());
  rig.see(0, {{1, 100, 100}});
  rig.see(500, {});
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].occupancy, 1u) << "still expected there";
  rig.see(900, {{1, 110, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Enter), 1);
  rig.see(2000, {});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 1);
  EXPECT_EQ(rig.events.back().time_ns, 900 * kMs) << "when it was seen last";
  EXPECT_EQ(rig.events.back().dwell_ns, 900 * kMs);
  EXPECT_EQ(rig.analysis.followed(), 0u);
  rig.see(2100, {{1, 110, 100}});
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].visits, 2u);
}

TEST(ZoneAnalysis, FramesThatNobodyLookedIntoMissNobody) {
  ZoneRig rig(yard());
  rig.see(0, {{1, 100, 100}});
  rig.see(1000, {}, false);
  rig.see(5000, {}, false);
  const FrameResult result = rig.see(6000, {{1, 110, 100}});
  ASSERT_EQ(result.objects[0].zones.size(), 1u);
  EXPECT_EQ(result.objects[0].zones[0].dwell_ns, 6000 * kMs);
  EXPECT_EQ(rig.count(Event::Kind::Enter), 1);
}

TEST(ZoneAnalysis, CarriedResultsAreNoObservations) {
  Configuration configuration = gate();
  configuration.zones = yard().zones;
  ZoneRig rig(configuration);
  rig.see(0, {{1, 250, 100}});
  // A supposed place on the other side, and the carried one of the first frame.
  EXPECT_EQ(rig.see(40, {{1, 350, 100, true}}, false).objects[0].zones.size(), 1u);
  rig.see(80, {{1, 250, 100, true}}, false);
  EXPECT_EQ(rig.line().forward + rig.line().backward, 0u);
  EXPECT_EQ(rig.count(Event::Kind::Exit), 0);
  rig.see(120, {{1, 350, 100}});
  EXPECT_EQ(rig.line().forward, 1u);
  rig.see(160, {{1, 250, 100, true}}, false);
  rig.see(200, {{1, 360, 100}});
  EXPECT_EQ(rig.line().forward, 1u);
  EXPECT_EQ(rig.line().backward, 0u);
}

TEST(ZoneAnalysis, WhoIsCarriedBesideOthersIsNotMissing) {
  ZoneRig rig(yard(), 4.0, 0.1);
  for (int i = 0; i < 20; ++i) rig.see(40 * i, {{1, 100, 100, i > 0}, {2, 120, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 0);
  for (int i = 20; i < 30; ++i) rig.see(40 * i, {{2, 120, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 1);
}

TEST(ZoneAnalysis, JitterOnTheEdgeOfAZoneIsOneVisit) {
  ZoneRig rig(yard());
  for (int i = 0; i < 50; ++i) rig.see(40 * i, {{1, i % 2 == 0 ? 298.0 : 303.0, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Enter), 1);
  EXPECT_EQ(rig.count(Event::Kind::Exit), 0);
  rig.see(3000, {{1, 305, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 1);
}

TEST(ZoneAnalysis, RetentionJoinsVisits) {
  Configuration configuration = yard();
  configuration.zones[0].retention_s = 0.5;
  ZoneRig rig(configuration);
  rig.see(0, {{1, 100, 100}});
  rig.see(400, {{1, 500, 100}});
  rig.see(450, {{1, 100, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Enter), 1);
  rig.see(1000, {{1, 500, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 1);
}

TEST(ZoneAnalysis, ADwellLimitIsToldOnce) {
  Configuration configuration = yard();
  configuration.zones[0].dwell_limit_s = 2.0;
  ZoneRig rig(configuration);
  for (int i = 0; i < 100; ++i) rig.see(40 * i, {{1, 100, 100}});
  ASSERT_EQ(rig.count(Event::Kind::DwellLimit), 1);
  EXPECT_EQ(rig.events[1].time_ns, 2000 * kMs);
}

TEST(ZoneAnalysis, ACrowdIsToldWhenItHasLasted) {
  Configuration configuration = yard();
  configuration.zones[0].max_objects = 1;
  configuration.zones[0].crowd_time_s = 1.0;
  ZoneRig rig(configuration);
  rig.see(0, {{1, 100, 100}, {2, 150, 100}});
  rig.see(900, {{1, 100, 100}, {2, 150, 100}});
  EXPECT_EQ(rig.count(Event::Kind::CrowdBegin), 0);
  rig.see(1000, {}, false);
  ASSERT_EQ(rig.count(Event::Kind::CrowdBegin), 1);
  EXPECT_EQ(rig.events.back().occupancy, 2u);
  rig.see(1100, {{1, 100, 100}, {2, 150, 100}});
  rig.see(1200, {{1, 100, 100}, {2, 500, 100}});
  EXPECT_EQ(rig.count(Event::Kind::CrowdBegin), 1);
  EXPECT_EQ(rig.count(Event::Kind::CrowdEnd), 1);
  rig.see(1300, {{1, 100, 100}, {2, 150, 100}});
  rig.see(2200, {{1, 100, 100}, {2, 150, 100}});
  EXPECT_EQ(rig.count(Event::Kind::CrowdBegin), 1) << "another crowd has to last, too";
  rig.see(2300, {{1, 100, 100}, {2, 150, 100}});
  EXPECT_EQ(rig.count(Event::Kind::CrowdBegin), 2);
}

TEST(ZoneAnalysis, ObjectsWithoutAnIdAreThereByPlaceAlone) {
  Configuration configuration = gate();
  configuration.zones = yard().zones;
  ZoneRig rig(configuration);
  const FrameResult first = rig.see(0, {{std::nullopt, 250, 100}, {std::nullopt, 260, 100}});
  ASSERT_EQ(first.objects[0].zones.size(), 1u);
  EXPECT_FALSE(first.objects[0].zones[0].dwell_ns);
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].occupancy, 2u);
  rig.see(40, {}, false);
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].occupancy, 2u);
  rig.configure(configuration);
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].occupancy, 2u);
  rig.see(80, {{std::nullopt, 350, 100}});
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].occupancy, 0u);
  EXPECT_EQ(rig.line().forward, 0u);
  EXPECT_TRUE(rig.events.empty());
}

TEST(ZoneAnalysis, ClassesAndDirectionsChooseWhatCounts) {
  Configuration configuration = gate();
  configuration.tripwires[0].classes = {"person"};
  configuration.tripwires[0].directions = Directions::Forward;
  configuration.zones = yard().zones;
  configuration.zones[0].classes = {"person"};
  ZoneRig rig(configuration);
  rig.see(0, {{1, 250, 100}, {2, 250, 200, false, "person"}});
  rig.see(40, {{1, 350, 100}, {2, 350, 200, false, "person"}});
  rig.see(80, {{1, 250, 100}, {2, 250, 200, false, "person"}});
  EXPECT_EQ(rig.line().forward, 1u);
  EXPECT_EQ(rig.line().backward, 0u);
  EXPECT_EQ(rig.analysis.zone_counts(0)["person"].visits, 2u);
  EXPECT_EQ(rig.analysis.zone_counts(0).count("car"), 0u);
  EXPECT_TRUE(rig.see(120, {{std::nullopt, 250, 100}}).objects[0].zones.empty());
}

TEST(ZoneAnalysis, CountsGoOnWhereIdAndShapeStay) {
  Configuration configuration = gate();
  configuration.zones = yard().zones;
  ZoneRig rig(configuration);
  rig.see(0, {{1, 100, 100}, {2, 250, 100}});
  rig.see(40, {{1, 100, 100}, {2, 350, 100}});
  configuration.zones[0].dwell_limit_s = 0.06;
  configuration.tripwires.push_back(configuration.tripwires[0]);
  configuration.tripwires[1].id = "another";
  rig.configure(configuration);
  rig.see(80, {{1, 100, 100}, {2, 250, 100}});
  EXPECT_EQ(rig.line().forward, 1u);
  EXPECT_EQ(rig.line().backward, 1u);
  EXPECT_EQ(rig.analysis.tripwire_counts(1)["car"].backward, 1u);
  EXPECT_EQ(rig.count(Event::Kind::DwellLimit), 1) << "the visit went on";
  configuration.zones[0].points[0] = {1, 0};
  rig.configure(configuration);
  rig.see(120, {{1, 100, 100}});
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].visits, 1u) << "another zone begins at 0";
}

TEST(ZoneAnalysis, TimeThatGoesBackAndAnotherSizeEndVisits) {
  ZoneRig rig(yard());
  rig.see(1000, {{1, 100, 100}});
  rig.see(500, {{1, 100, 100}});
  EXPECT_EQ(rig.count(Event::Kind::Exit), 1);
  EXPECT_EQ(rig.count(Event::Kind::Enter), 2);
  rig.configure(yard(), 320);
  EXPECT_EQ(rig.count(Event::Kind::Exit), 2);
  EXPECT_EQ(rig.analysis.zone_counts(0)["car"].visits, 2u);
}

TEST(ZoneAnalysis, RelativePlacesAreOfThePicture) {
  Configuration configuration;
  ZoneSpec& circle = configuration.zones.emplace_back();
  circle.id = "plaza";
  circle.is_circle = true;
  circle.units = Units::Relative;
  circle.center = {0.5, 0.5};
  circle.radius = 0.25;  // of 480
  ZoneRig rig(configuration);
  EXPECT_EQ(rig.see(0, {{1, 320 + 120, 240}}).objects[0].zones.size(), 1u);
  EXPECT_EQ(rig.see(40, {{2, 320 + 121, 240}}).objects[0].zones.size(), 0u);
}

TEST(ZoneAnalysis, AnchorsAreOfTheZone) {
  Configuration configuration = yard();
  configuration.zones[0].points = {{0, 0}, {640, 0}, {640, 80}, {0, 80}};
  ZoneRig rig(configuration);
  EXPECT_TRUE(rig.see(0, {{1, 100, 100}}).objects[0].zones.empty());
  configuration.zones[0].anchor = Anchor::Center;
  rig.configure(configuration);
  EXPECT_FALSE(rig.see(40, {{1, 100, 100}}).objects[0].zones.empty());
}

TEST(ZoneAnalysis, NothingGrowsWithoutEnd) {
  Configuration configuration = yard();
  ZoneRig rig(configuration, 4.0, 0.1);
  std::vector<ZoneRig::Foot> feet;
  for (int i = 0; i < 12000; ++i)
    feet.push_back({i, 100, 100, false, "class " + std::to_string(i)});
  rig.see(0, feet);
  EXPECT_EQ(rig.analysis.followed(), kMaxFollowed);
  EXPECT_LE(rig.analysis.zone_counts(0).size(), kMaxClasses + 1);
  for (int i = 1; i < 200; ++i) rig.see(40 * i, {{20000 + i, 100, 100}});
  EXPECT_LE(rig.analysis.followed(), 5u);
}

TEST(ZoneAnalysis, OneIdTwiceInAFrameIsOneObject) {
  Configuration configuration = gate();
  configuration.zones = yard().zones;
  ZoneRig rig(configuration);
  rig.see(0, {{1, 250, 100}, {1, 350, 100}});
  const FrameResult result = rig.see(40, {{1, 250, 100}, {1, 350, 100}});
  EXPECT_EQ(rig.line().forward + rig.line().backward, 0u);
  EXPECT_EQ(result.objects[0].zones.size(), 1u);
  EXPECT_TRUE(result.objects[1].zones.empty());
}

TEST(ZoneAnalysis, ZonesOutsideOfThePictureAreNamed) {
  Configuration configuration = yard();
  configuration.zones.push_back(configuration.zones[0]);
  configuration.zones[1].id = "far";
  for (Point& point : configuration.zones[1].points) point.x += 641;
  ZoneRig rig(configuration);
  EXPECT_EQ(rig.analysis.zones_outside(), std::vector<std::string>{"far"});
}

}  // namespace
}  // namespace het::zones
