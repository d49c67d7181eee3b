// What HETERO:CPU,GPU moves between host and device: child processes with the layer that counts.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/devices/child_process.h"

namespace het::hetero {
namespace {

using device_testing::built_file;
using device_testing::ChildResult;
using device_testing::run_child;

struct Bytes {
  size_t written = 0;
  size_t read = 0;
  size_t copied = 0;
  size_t mapped = 0;
  bool is_right = true;
};

class HandOff : public testing::Test {
 protected:
  /// Fills frames_.
  void run(std::map<std::string, std::string> environment) {
    const std::string layer = built_file("tests/opencl_layer/copying_layer.so");
    environment.insert({"OPENCL_LAYERS", layer});
    const ChildResult child =
        run_child(built_file("tests/hetero/hand_off_child") + " " + layer, environment);
    if (child.output.find("no layer") != std::string::npos) {
      GTEST_SKIP() << "the OpenCL loader knows no layers (ocl-icd 2.3 does), or finds no driver";
    }
    ASSERT_EQ(child.status, 0) << child.output;
    std::istringstream lines(child.output);
    std::string name;
    std::string word;
    int frame = 0;
    while (lines >> name >> frame) {
      Bytes bytes;
      for (size_t* const value : {&bytes.written, &bytes.read, &bytes.copied, &bytes.mapped}) {
        lines >> word >> *value;
      }
      lines >> word;
      EXPECT_EQ(word, "right") << name << " in frame " << frame;
      frames_[name].push_back(bytes);
    }
    ASSERT_EQ(frames_.size(), 4u) << child.output;
  }
  void expect(const std::string& model, size_t written, size_t read) {
    SCOPED_TRACE(model);
    ASSERT_EQ(frames_[model].size(), 4u);
    for (const Bytes& bytes : frames_[model]) {
      EXPECT_EQ(bytes.written, written);
      EXPECT_EQ(bytes.read, read);
      EXPECT_EQ(bytes.copied, 0u);
    }
  }

  static constexpr size_t kTensor = 16 * 32 * 32 * sizeof(float);
  std::map<std::string, std::vector<Bytes>> frames_;
};

TEST_F(HandOff, UnifiedMemoryCopiesNothing) {
  run({});
  if (IsSkipped() || HasFatalFailure()) return;
  for (const char* model : {"chain", "fork", "skip", "ends"}) expect(model, 0, 0);
}

TEST_F(HandOff, MemoryOfItsOwnGetsWhatCrossesOnce) {
  run({{"HET_LAYER_DISCRETE", "1"}});
  if (IsSkipped() || HasFatalFailure()) return;
  expect("chain", kTensor, 2 * kTensor);
  expect("ends", 2 * kTensor, 2 * kTensor);
  // One value of CPU for two subgraphs of the GPU.
  expect("fork", kTensor, 2 * kTensor);
  // The GPU's own value goes to CPU, which reads it, and to a later subgraph of the GPU.
  expect("skip", 2 * kTensor, 2 * kTensor);
  for (const auto& [model, frames] : frames_) {
    for (const Bytes& bytes : frames) EXPECT_EQ(bytes.mapped, 0u) << model;
  }
}

}  // namespace
}  // namespace het::hetero
