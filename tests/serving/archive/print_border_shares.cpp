/// print_border_shares FILE: objects that are joined over borders of ranges of 10 s, for each
/// tracking type and overlap, on lines of heterometaconvert from a pipeline without heterotrack.

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/serving/archive/border_shares.h"

namespace het::archive {
namespace {

using tracking::Observation;

Scene recorded_scene(const std::string& path) {
  Scene scene;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
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

void print_shares(const Scene& scene) {
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

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "print_border_shares FILE\n");
    return 2;
  }
  try {
    het::archive::print_shares(het::archive::recorded_scene(argv[1]));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "{}: {}\n", argv[1], failure.what());
    return 1;
  }
  return 0;
}
