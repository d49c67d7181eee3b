#include "inference/zones/configuration.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace het::zones {
namespace {

/// A file of one test.
class ConfigurationFile {
 public:
  explicit ConfigurationFile(const std::string& text) {
    std::string name = (std::filesystem::temp_directory_path() / "zones-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    EXPECT_GE(descriptor, 0);
    if (descriptor >= 0) close(descriptor);
    path = name;
    std::ofstream(path) << text;
  }
  ~ConfigurationFile() { std::filesystem::remove(path); }
  ConfigurationFile(const ConfigurationFile&) = delete;
  ConfigurationFile& operator=(const ConfigurationFile&) = delete;
  std::string path;
};

/// The message of a configuration that has to fail.
std::string why_not(const ConfigurationSource& source) {
  const auto read = read_configuration(source);
  return read ? "it was read" : read.error().message();
}

std::string why_no_zones(const std::string& zones) {
  ConfigurationSource source;
  source.zones = zones;
  return why_not(source);
}

std::string why_no_file(const std::string& text, const std::string& camera = "") {
  const ConfigurationFile file(text);
  ConfigurationSource source;
  source.file = file.path;
  source.camera = camera;
  std::string message = why_not(source);
  const std::string before = "property config: '" + file.path + "': ";
  EXPECT_EQ(message.rfind(before, 0), 0u) << message;
  return message.substr(std::min(before.size(), message.size()));
}

TEST(ZoneConfiguration, ReadsDlStreamersFile) {
  const ConfigurationFile file(R"({
    "zones": [
      {"id": "a", "points": [{"x": 400, "y": 200}, {"x": 800, "y": 200}, {"x": 800, "y": 600}],
       "color": {"r": 255, "g": 0, "b": 10}, "thickness": 3, "track-dwell-time": true,
       "object-retention": 1.5},
      {"id": "b", "type": "circle", "center": {"x": 960, "y": 540}, "radius": 150}],
    "tripwires": [{"id": "c", "points": [{"x": 960, "y": 0}, {"x": 960, "y": 1080}]}]})");
  const auto read = read_configuration(
      {file.path, R"([{"id":"d","points":[{"x":0,"y":0},{"x":1,"y":0},{"x":0,"y":1}]}])",
       R"([{"id":"e","points":[{"x":0,"y":0},{"x":5,"y":5}],"direction":"backward"}])", ""});
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->zones.size(), 3u);
  EXPECT_EQ(read->zones[0].points[1], (Point{800, 200}));
  EXPECT_EQ(read->zones[0].retention_s, 1.5);
  EXPECT_EQ((*read->zones[0].drawing.color)[2], 10);
  EXPECT_EQ(read->zones[0].drawing.thickness, 3);
  EXPECT_TRUE(read->zones[1].is_circle);
  EXPECT_EQ(read->zones[1].radius, 150);
  EXPECT_EQ(read->zones[2].id, "d");
  ASSERT_EQ(read->tripwires.size(), 2u);
  EXPECT_EQ(read->tripwires[0].to, (Point{960, 1080}));
  EXPECT_EQ(read->tripwires[1].directions, Directions::Backward);
}

constexpr char kCameras[] = R"({
    "units": "relative", "grace-time": 2, "anchor": "center",
    "zones": [{"id": "all", "points": [{"x":0,"y":0},{"x":1,"y":0},{"x":1,"y":1}]}],
    "cameras": {
      "door": {"grace-time": 3, "classes": ["person"], "hysteresis": 0.01,
        "tripwires": [{"id": "in", "points": [{"x":0.5,"y":0},{"x":0.5,"y":1}]}]},
      "yard": {"units": "pixels",
        "zones": [{"id": "park", "type": "circle", "center": {"x":100,"y":100}, "radius": 50,
                   "max-objects": 3, "crowd-time": 10, "dwell-limit": 60}]}}})";

TEST(ZoneConfiguration, ACameraAddsToWhatHoldsForAll) {
  const ConfigurationFile file(kCameras);
  const auto door = read_configuration({file.path, "", "", "door"});
  ASSERT_TRUE(door) << door.error().message();
  ASSERT_EQ(door->zones.size(), 1u);
  EXPECT_EQ(door->zones[0].anchor, Anchor::Center);
  EXPECT_TRUE(door->zones[0].classes.empty());
  ASSERT_EQ(door->tripwires.size(), 1u);
  EXPECT_EQ(door->tripwires[0].units, Units::Relative);
  EXPECT_EQ(door->tripwires[0].classes, std::vector<std::string>{"person"});
  EXPECT_EQ(door->tripwires[0].hysteresis, (Length{0.01, Units::Relative}));
  EXPECT_EQ(door->grace_time_s, 3.0);
  const auto yard = read_configuration({file.path, "", "", "yard"});
  ASSERT_TRUE(yard) << yard.error().message();
  ASSERT_EQ(yard->zones.size(), 2u);
  EXPECT_EQ(yard->zones[1].max_objects, 3u);
  EXPECT_EQ(yard->zones[1].crowd_time_s, 10.0);
  EXPECT_EQ(yard->zones[1].dwell_limit_s, 60.0);
  EXPECT_EQ(yard->grace_time_s, 2.0);
}

TEST(ZoneConfiguration, WrongCamerasAreNamed) {
  EXPECT_EQ(why_no_file(kCameras, "roof"),
            "cameras: has no camera 'roof', which the property camera names; it has door, yard");
  EXPECT_EQ(why_no_file(R"({"cameras":{"door":{}}})"),
            "cameras: the property camera has to name one of them: door");
  EXPECT_EQ(why_no_file("{}", "roof"),
            "cameras: is missing, and the property camera names 'roof' of it");
  EXPECT_EQ(why_not({"", "", "", "roof"}),
            "property camera is 'roof', but no property config names the file that has it");
  EXPECT_EQ(why_no_file(R"({"cameras":{"door":{"zones":[{"id":"a"}]},"yard":{}}})", "yard"),
            "cameras.door.zones[0].points: is missing");
}

TEST(ZoneConfiguration, FaultsHaveTheirPlaceInTheFile) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"({"zones":[{"id":"a","points":[{"x":0,"y":0},{"x":1,"y":0}]}]})",
       "zones[0].points: has 2 entries, and has to have 3 to 1000"},
      {R"({"zones":[{"id":"a","points":[{"x":0,"y":0},{"x":"1","y":0},{"x":1,"y":1}]}]})",
       "zones[0].points[1].x: \"1\" is no number"},
      {R"({"zones":[{"id":"a","points":[{"x":0,"y":0},{"y":0},{"x":1,"y":1}]}]})",
       "zones[0].points[1].x: is missing"},
      {R"({"zones":[{"id":"a","points":[{"x":0,"y":0},{"x":1e30,"y":0},{"x":1,"y":1}]}]})",
       "zones[0].points[1].x: 1e+30 is not from -1000000 to 1000000"},
      {R"({"zones":[{"id":"a","points":[{"x":0,"y":0},{"x":1,"y":1},{"x":2,"y":2}]}]})",
       "zones[0].points: lie on one line, which is no polygon"},
      {R"({"zones":[{"id":"a","type":"circle","center":{"x":1,"y":1},"radius":0}]})",
       "zones[0].radius: is 0, and has to be more"},
      {R"({"zones":[{"id":"a","type":"circle","center":{"x":1,"y":1},"radius":-2}]})",
       "zones[0].radius: -2 is not from 0 to 1000000"},
      {R"({"zones":[{"id":"a","type":"ellipse"}]})",
       "zones[0].type: \"ellipse\" is none of polygon, circle"},
      {R"({"zones":[{"id":"","points":[]}]})", "zones[0].id: is an empty text"},
      {R"({"zones":[{"points":[]}]})", "zones[0].id: is missing"},
      {R"({"zones":[{"id":7}]})", "zones[0].id: 7 is no text in quotation marks"},
      {R"({"zones":{}})", "zones: {} is no JSON array"},
      {R"({"zones":[3]})", "zones[0]: 3 is no JSON object"},
      {R"({"units":"relative","zones":[{"id":"a","points":[{"x":0,"y":0},{"x":640,"y":0},{"x":1,"y":1}]}]})",
       "zones[0].points[1].x: 640 is not from 0 to 1, as \"units\" are \"relative\""},
      {R"({"tripwires":[{"id":"a","points":[{"x":5,"y":5},{"x":5,"y":5}]}]})",
       "tripwires[0].points[1]: is the same as points[0], which is no line"},
      {R"({"tripwires":[{"id":"a","points":[{"x":5,"y":5}]}]})",
       "tripwires[0].points: has 1 entries, and has to have 2"},
      {R"({"tripwires":[{"id":"a","points":[{"x":5,"y":5},{"x":6,"y":5}]},
                        {"id":"a","points":[{"x":5,"y":5},{"x":7,"y":5}]}]})",
       "tripwires[1].id: \"a\" has been given before; every one needs an id of its own"},
      {R"({"tripwires":[{"id":"a","points":[{"x":5,"y":5},{"x":6,"y":5}],"direction":"up"}]})",
       "tripwires[0].direction: \"up\" is none of both, forward, backward"},
      {R"({"tripwire":[]})",
       "tripwire: is no key that is known here; those are units, anchor, classes, hysteresis, "
       "grace-time, zones, tripwires, cameras"},
      {R"({"grace-time":-1})", "grace-time: -1 is not from 0 to 1000000"},
      {R"({"classes":[]})", "classes: has 0 entries, and has to have 1 to 1000"},
      {R"([])", "the whole: [] is no JSON object"},
      {"{\"zones\":\n  [}",
       "no JSON at line 2, column 4: syntax error while parsing value - "
       "unexpected '}'; expected '[', '{', or a literal"},
      {R"({"zones":[],"zones":[]})", "an object has the key \"zones\" twice; remove one"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(why_no_file(text), message) << text;
  for (const char* text : {R"({"grace-time":NaN})", R"({"grace-time":1e999})", "", "{\"a\":"}) {
    EXPECT_EQ(why_no_file(text).rfind("no JSON", 0), 0u) << why_no_file(text);
  }
}

TEST(ZoneConfiguration, FaultsOfPropertiesNameTheProperty) {
  EXPECT_EQ(why_no_zones("[{\"id\":\"a\",\"points\":[{\"x\":1}]}]"),
            "property zones: zones[0].points: has 1 entries, and has to have 3 to 1000");
  EXPECT_EQ(why_no_zones("{}"), "property zones: zones: {} is no JSON array");
  EXPECT_EQ(why_no_zones(
                R"([{"id":"a","type":"circle","center":{"x":1,"y":1},"radius":2,"crowd-time":3}])"),
            "property zones: zones[0].crowd-time: has no effect without \"max-objects\"");
  EXPECT_EQ(why_not({"/nowhere/zones.json", "", "", ""}),
            "property config: cannot open '/nowhere/zones.json'");
  EXPECT_EQ(why_not({"/", "", "", ""}).rfind("property config: ", 0), 0u);
}

}  // namespace
}  // namespace het::zones
