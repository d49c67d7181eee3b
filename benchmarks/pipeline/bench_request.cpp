// What a frame costs in the library, without an element around it.
//
//   bench_request MODEL WIDTH HEIGHT [SECONDS [KEY=VALUE,...]]
//
// One request after another on one NV12 picture of that size. Prints one JSON object, in us a
// frame: preprocess (preprocess() alone), request (set_picture, infer, results) and cpu (what the
// process needs for the latter on all threads).
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "devices/register_devices.h"
#include "inference/preprocess/preprocess.h"
#include "inference/requests/infer_request.h"
#include "inference/vision_model.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& text) {
  std::cerr << "bench_request: " << text << "\n";
  std::exit(2);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Cost {
  double wall_us = 0;
  double cpu_us = 0;
};

Cost measure(double seconds, const std::function<het::Status()>& frame) {
  for (int i = 0; i < 100; ++i)
    if (const het::Status status = frame(); !status.ok()) fail(status.message());
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  double wall = 0;
  int64_t frames = 0;
  while (wall < seconds) {
    for (int i = 0; i < 100; ++i, ++frames)
      if (const het::Status status = frame(); !status.ok()) fail(status.message());
    wall = std::chrono::duration<double>(Clock::now() - start).count();
  }
  const double scale = 1e6 / static_cast<double>(frames);
  return {wall * scale, (cpu_seconds() - cpu) * scale};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 6) fail("see the head of bench_request.cpp");
  const int width = std::atoi(argv[2]);
  const int height = std::atoi(argv[3]);
  const double seconds = argc > 4 ? std::atof(argv[4]) : 3;
  het::VisionModelSettings settings;
  settings.model = argv[1];
  settings.copy_outputs = true;
  if (argc > 5) {
    auto properties = het::parse_properties(argv[5]);
    if (!properties) fail(properties.error().message());
    settings.properties = std::move(*properties);
  }
  const auto core = het::core();
  auto model = het::VisionModel::load(*core, settings);
  if (!model) fail(model.error().message());
  auto image = het::make_host_image(het::PixelFormat::NV12, width, height);
  if (!image) fail(image.error().message());
  const het::Rect whole = image->full();

  auto tensor = het::Tensor::allocate(
      {het::ElementType::Float32, {1, 3, (*model)->input_height(), (*model)->input_width()}});
  if (!tensor) fail(tensor.error().message());
  const Cost preprocess = measure(
      seconds, [&] { return het::preprocess(*image, whole, het::PreprocessDesc{}, *tensor); });

  auto request = (*model)->compiled().create_infer_request();
  if (!request) fail(request.error().message());
  const Cost frame = measure(seconds, [&]() -> het::Status {
    het::Status status = (*model)->set_picture(**request, *image, whole);
    if (status.ok()) status = (*request)->infer();
    if (!status.ok()) return status;
    const auto results = (*model)->results(**request, width, height, whole);
    return results ? het::Status() : results.error();
  });
  const nlohmann::json out = {
      {"preprocess", preprocess.wall_us}, {"request", frame.wall_us}, {"cpu", frame.cpu_us}};
  std::cout << out.dump() << "\n";
}
