#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "random_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

/// Elements as gst-launch takes them; a seed chooses one.
struct RandomElements {
  std::string name;
  std::vector<std::string> descriptions;
};

std::string random_model() {
  return "model=" + detector_model() + " model-proc=" + detector_proc() + " device=SCRIPTED ";
}

std::string random_classifier() {
  return "model=" + classifier_model() + " model-proc=" + classifier_proc() + " device=SCRIPTED ";
}

std::vector<RandomElements> random_elements() {
  const std::string roi = "heteroattachroi roi=2,2,12,12 ! ";
  static const ScratchFolder folder;
  const std::string publish =
      roi + "heterometaconvert ! heterometapublish file-path=" + folder.file("out.json");
  write_text(folder.file("zones.json"),
             R"({"units":"relative","grace-time":0.1,
                 "zones":[{"id":"all","type":"circle","center":{"x":0.5,"y":0.5},"radius":1}],
                 "tripwires":[{"id":"gate","points":[{"x":0.5,"y":1},{"x":0.5,"y":0}]}]})");
  const std::string analytics = "heteroanalytics config=" + folder.file("zones.json");
  return {
      {"heteroanalytics",
       {analytics, "heterodetect inference-interval=2 " + random_model() + " ! heterotrack ! " +
                       analytics + " ! heterowatermark qos=false ! heterometaconvert"}},
      {"heterometaaggregate", {"heterometaaggregate"}},
      {"heterodetect",
       {"heterodetect " + random_model(),
        "heterodetect nireq=1 inference-interval=2 " + random_model(),
        "heterodetect nireq=4 no-block=true " + random_model(),
        "heterodetect model-instance-id=random " + random_model(),
        roi + "heterodetect inference-region=roi-list " + random_model()}},
      {"heteroclassify",
       {roi + "heteroclassify " + random_classifier(),
        roi + "heterotrack ! heteroclassify reclassify-interval=3 " + random_classifier()}},
      {"heteroinference",
       {"heteroinference " + random_model(),
        "heteroinference inference-interval=3 " + random_model()}},
      {"heterotrack",
       {roi + "heterotrack", roi + "heterotrack tracking-type=short-term-imageless",
        "heterodetect inference-interval=2 " + random_model() + " ! heterotrack"}},
      {"heteromotiondetect",
       {"heteromotiondetect",
        "heteromotiondetect gate=true gate-hold=0 ! heterodetect " + random_model()}},
      {"heterowatermark",
       {roi + "heterowatermark qos=true", "heterowatermark qos=false displ-cfg=ff-custom-txt=a"}},
      {"heterometaconvert",
       {roi + "heterometaconvert", "heterometaconvert add-empty-results=true json-indent=2"}},
      {"heterometapublish", {publish, publish + " file-format=json-lines ! heterofpscounter"}},
      {"heteroattachroi", {"heteroattachroi roi=0,0,4,4", "heteroattachroi"}},
      {"heterofpscounter", {"heterofpscounter", "heterofpscounter starting-frame=5"}},
  };
}

class RandomStreams : public testing::TestWithParam<RandomElements> {};

TEST(RandomStreamsThemselves, NoticeWhatIsLost) {
  RandomRun lossy("identity drop-probability=0.5", 1);
  ASSERT_TRUE(lossy.run());
  EXPECT_NE(lossy.problem(), "");
  RandomRun lossless("identity", 1);
  ASSERT_TRUE(lossless.run());
  EXPECT_EQ(lossless.problem(), "");
}

TEST_P(RandomStreams, FramesLeaveOnceAndInOrderWhateverComesWhen) {
  ScriptedDevice device;
  const char* text = std::getenv("HET_RANDOM_SEEDS");
  const unsigned seeds = text ? static_cast<unsigned>(std::atoi(text)) : 20;
  ASSERT_GT(seeds, 0u) << "HET_RANDOM_SEEDS";
  const std::vector<std::string>& descriptions = GetParam().descriptions;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    // What else the seed decides shall meet each of them.
    const std::string& elements = descriptions[std::mt19937(seed)() % descriptions.size()];
    device.set_delay(std::chrono::milliseconds(seed % 3));
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << elements);
    RandomRun run(elements, seed);
    if (!run.run()) {
      ADD_FAILURE() << "it hangs";
      std::_Exit(1);  // its threads are still in there: the program would not end
    }
    ASSERT_EQ(run.problem(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, RandomStreams, testing::ValuesIn(random_elements()),
                         [](const auto& elements) { return elements.param.name; });

}  // namespace
}  // namespace het::gst_test
