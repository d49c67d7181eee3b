/// GStreamer's own vapostproc before our elements, from gst-launch-1.0, on the test driver.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

struct Ended {
  int status = -1;
  std::string output;  ///< stdout and stderr
  std::vector<nlohmann::json> frames;
};

/// Why programs of others cannot be preloaded; empty where they can.
std::string why_not() {
  if (std::getenv("HET_PRELOAD") != nullptr) return "a sanitizer's runtime has to be loaded first";
  if (std::getenv("HET_VA_RENDER_NODE") == nullptr) {
    return "HET_VA_RENDER_NODE does not name the library that shows a render node";
  }
  return "";
}

/// Plays `source` into the demo's detector and reads what it publishes.
Ended detect(const ScratchFolder& folder, const std::string& source, const std::string& backend) {
  const std::string json = folder.file("frames.json");
  const std::string drivers = std::getenv("HET_VA_DRIVER_FOLDER");
  const std::string command =
      "GST_REGISTRY='" + folder.file("registry.bin") +
      "' GST_VA_ALL_DRIVERS=1 LIBVA_DRIVER_NAME=het_test " + "LIBVA_DRIVERS_PATH='" + drivers +
      "' LD_PRELOAD='" + std::getenv("HET_VA_RENDER_NODE") + "' timeout 120 gst-launch-1.0 " +
      source + " ! heterodetect threshold=0.1 " + detector_properties() +
      " pre-process-backend=" + backend +
      " ! heterometaconvert add-empty-results=true ! heterometapublish file-format=json-lines "
      "file-path='" +
      json + "' ! fakesink 2>&1";
  Ended ended;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return ended;
  char bytes[4096];
  size_t count = 0;
  while ((count = std::fread(bytes, 1, sizeof bytes, pipe)) > 0) ended.output.append(bytes, count);
  const int status = pclose(pipe);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (ended.status != 0) return ended;
  std::string text = read_text(json);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) ended.frames.push_back(nlohmann::json::parse(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return ended;
}

/// Whether every clear object of a frame is in the other one too.
bool is_among(const nlohmann::json& frame, const nlohmann::json& other) {
  for (const nlohmann::json& object : frame.value("objects", nlohmann::json::array())) {
    const nlohmann::json& detection = object.at("detection");
    if (detection.at("confidence").get<double>() < 0.3) continue;
    bool found = false;
    for (const nlohmann::json& candidate : other.value("objects", nlohmann::json::array())) {
      bool is_near = candidate.at("roi_type") == object.at("roi_type");
      for (const char* edge : {"x", "y", "w", "h"}) {
        is_near =
            is_near && std::abs(candidate.at(edge).get<int>() - object.at(edge).get<int>()) <= 6;
      }
      found = found || is_near;
    }
    if (!found) return false;
  }
  return true;
}

TEST(VaLaunch, VapostprocMakesSurfacesThatAreAnalysedWhereTheyAre) {
  if (!why_not().empty()) GTEST_SKIP() << why_not();
  const ScratchFolder folder;
  const std::string scene =
      "videotestsrc num-buffers=4 pattern=ball ! video/x-raw,format=NV12,width=640,height=384";
  const Ended plain = detect(folder, scene, "cpu");
  ASSERT_EQ(plain.status, 0) << plain.output;
  ASSERT_EQ(plain.frames.size(), 4u);
  size_t objects = 0;
  for (const auto& frame : plain.frames) objects += frame.value("objects", nlohmann::json()).size();
  EXPECT_GT(objects, 0u);
  for (const char* format : {"RGBP", "NV12"}) {
    for (const char* backend : {"va", "cpu"}) {
      SCOPED_TRACE(std::string(format) + " " + backend);
      const Ended va = detect(
          folder, scene + " ! vapostproc ! 'video/x-raw(memory:VAMemory),format=" + format + "'",
          backend);
      ASSERT_EQ(va.status, 0) << va.output;
      EXPECT_EQ(va.output.find("CRITICAL"), std::string::npos) << va.output;
      ASSERT_EQ(va.frames.size(), 4u);
      for (size_t f = 0; f < 4; ++f) {
        EXPECT_TRUE(is_among(va.frames[f], plain.frames[f])) << va.frames[f] << plain.frames[f];
        EXPECT_TRUE(is_among(plain.frames[f], va.frames[f])) << va.frames[f] << plain.frames[f];
      }
    }
  }
}

}  // namespace
}  // namespace het::gst_test
