#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <string>

#include "devices/register_devices.h"
#include "inference/vision_model.h"

/// Known models on the shared pictures.
namespace het::test {

/// Paths that the tests with shared models need; empty where the shared data is absent.
struct Places {
  std::string shared;
  std::string descriptors;
};

inline Places places() {
  const char* shared = std::getenv("HET_SHARED_DATA");
  const char* root = std::getenv("HET_SOURCE_ROOT");
  if (shared == nullptr || root == nullptr) return {};
  if (!std::filesystem::exists(std::string(shared) + "/expected/onnx_reference.json")) return {};
  return {shared, std::string(root) + "/pipelines/models"};
}

/// The device under test: HET_TEST_DEVICE, else CPU.
inline std::string device() {
  const char* name = std::getenv("HET_TEST_DEVICE");
  return name == nullptr ? "CPU" : name;
}

inline Image read_picture(const std::string& path) {
  const cv::Mat mat = cv::imread(path, cv::IMREAD_COLOR);
  EXPECT_FALSE(mat.empty()) << path;
  if (mat.empty()) return {};
  Image image = make_host_image(PixelFormat::BGR, mat.cols, mat.rows).value();
  for (int row = 0; row < mat.rows; ++row) {
    std::byte* target = image.planes[0].buffer->host() + image.planes[0].offset +
                        row * image.planes[0].stride_bytes;
    std::copy_n(reinterpret_cast<const std::byte*>(mat.ptr(row)), mat.cols * 3, target);
  }
  return image;
}

inline Result<std::shared_ptr<VisionModel>> load(const Places& at, Core& process_core,
                                                 const std::string& name) {
  VisionModelSettings settings;
  settings.model = at.shared + "/models/onnx/" + name + ".onnx";
  settings.model_proc = at.descriptors + "/" + name + ".json";
  settings.device = device();
  // Teams of threads wait for each other, which is slow beside other tests on the same cores.
  if (settings.device == "CPU") settings.properties["INFERENCE_NUM_THREADS"] = "1";
  return VisionModel::load(process_core, settings);
}

/// Runs a part of a picture; a failure is the test's.
inline Results run(const VisionModel& model, InferRequest& request, const Image& image,
                   const Rect& roi) {
  Status status = model.set_picture(request, image, roi);
  if (status.ok()) status = request.infer();
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok()) return {};
  auto results = model.results(request, image.width, image.height, roi);
  EXPECT_TRUE(results) << results.error().message();
  return results ? *results : Results{};
}

inline Results run(const VisionModel& model, InferRequest& request, const Image& image) {
  return run(model, request, image, image.full());
}

}  // namespace het::test
