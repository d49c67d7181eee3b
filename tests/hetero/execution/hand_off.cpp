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
};

class HandOff : public testing::Test {
 protected:
  /// Fills frames_ with those of `cases` cases. `other_layer` lies over the one that counts.
  void run(std::map<std::string, std::string> environment, size_t cases,
           const std::string& argument = "", const std::string& other_layer = "") {
    const std::string layer = built_file("tests/opencl_layer/copying_layer.so");
    const std::string others = other_layer.empty() ? "" : ":" + other_layer;
    environment.insert({"OPENCL_LAYERS", layer + others});
    const ChildResult child = run_child(
        built_file("tests/hetero/hand_off_child") + " " + layer + " " + argument, environment);
    if (child.output.find("no layer") != std::string::npos) {
      GTEST_SKIP() << "the OpenCL loader knows no layers (ocl-icd 2.3 does), or finds no driver";
    }
    ASSERT_EQ(child.status, 0) << child.output;
    std::istringstream lines(child.output);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" written ") != std::string::npos) add_frame(line);
    }
    ASSERT_EQ(frames_.size(), cases) << child.output;
  }
  /// "NAME FRAME written N read N copied N mapped N right"
  void add_frame(const std::string& line) {
    std::istringstream words(line);
    std::string name;
    std::string word;
    int frame = 0;
    Bytes bytes;
    words >> name >> frame;
    for (size_t* const value : {&bytes.written, &bytes.read, &bytes.copied, &bytes.mapped}) {
      words >> word >> *value;
    }
    words >> word;
    EXPECT_EQ(word, "right") << name << " in frame " << frame;
    frames_[name].push_back(bytes);
  }
  void expect(const std::string& name, size_t written, size_t read) {
    SCOPED_TRACE(name);
    ASSERT_EQ(frames_[name].size(), 4u);
    for (const Bytes& bytes : frames_[name]) {
      EXPECT_EQ(bytes.written, written);
      EXPECT_EQ(bytes.read, read);
      EXPECT_EQ(bytes.copied, 0u);
    }
  }

  static constexpr size_t kCases = 17;
  static constexpr size_t kTensor = 16 * 32 * 32 * sizeof(float);
  std::map<std::string, std::vector<Bytes>> frames_;
};

/// But for memory of the application that is not aligned as the device wants it.
TEST_F(HandOff, UnifiedMemoryCopiesNothing) {
  run({}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  for (const auto& [name, frames] : frames_) {
    const bool is_given = name.ends_with("-given") || name == "batch" || name == "flight";
    if (!is_given) expect(name, 0, 0);
  }
}

TEST_F(HandOff, MemoryOfItsOwnGetsWhatCrossesOnce) {
  run({{"HET_LAYER_DISCRETE", "1"}}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  expect("chain", kTensor, 2 * kTensor);
  expect("ends", 2 * kTensor, 2 * kTensor);
  expect("ends-given", 2 * kTensor, 2 * kTensor);
  // One value of CPU for two subgraphs of the GPU.
  expect("fork", kTensor, 2 * kTensor);
  // The GPU's own value goes to CPU, which reads it, and to a later subgraph of the GPU.
  expect("skip", 2 * kTensor, 2 * kTensor);
  for (const auto& [name, frames] : frames_) {
    for (const Bytes& bytes : frames) EXPECT_EQ(bytes.mapped, 0u) << name;
  }
}

/// The input and what CPU makes of the first result go to the GPU, both results come back.
TEST_F(HandOff, InputsOfSeveralSubgraphsAreSentOnce) {
  run({{"HET_LAYER_DISCRETE", "1"}}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  expect("input", 2 * kTensor, 2 * kTensor);
  expect("input-given", 2 * kTensor, 2 * kTensor);
  expect("batch", 6 * kTensor, 6 * kTensor);
  // Requests know nothing of each other.
  expect("flight", 6 * kTensor, 6 * kTensor);
}

TEST_F(HandOff, OutputsInMemoryOfTheApplicationCrossOnce) {
  run({{"HET_LAYER_DISCRETE", "1"}}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  for (const char* name : {"output", "output-given", "sent", "sent-given"}) {
    expect(name, 2 * kTensor, 2 * kTensor);
  }
  expect("halves", kTensor, kTensor);
}

TEST_F(HandOff, WhatOnlyItsDeviceReadsStaysThere) {
  run({{"HET_LAYER_DISCRETE", "1"}}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  // There the input and two values of CPU, back two that CPU reads and the output.
  expect("stays", 3 * kTensor, 3 * kTensor);
}

/// NV12 of 48x40: what the ROIs need of it; no tensor that a picture fills is sent.
TEST_F(HandOff, PicturesOfSeveralSubgraphsAreSentOnce) {
  run({{"HET_LAYER_DISCRETE", "1"}}, kCases);
  if (IsSkipped() || HasFatalFailure()) return;
  constexpr size_t kInput = 3 * 32 * 32 * sizeof(float);
  constexpr size_t kPicture = 48 * 60;
  // 16 rows of luma and 8 of chroma, the last ones whole.
  constexpr size_t kPart = 48 * 24;
  expect("picture", kPicture + kInput, 2 * kInput);
  expect("rois", kPicture + kPart + 2 * kInput, 4 * kInput);
}

/// An execution that goes on with another device sends what it needs again, and is right.
TEST_F(HandOff, ALossInBetweenChangesNoResult) {
  run({{"HET_LAYER_DISCRETE", "1"}}, 3, "lost");
  if (IsSkipped() || HasFatalFailure()) return;
  for (const char* name : {"input", "output"}) {
    SCOPED_TRACE(name);
    ASSERT_EQ(frames_[name].size(), 4u);
    for (const size_t frame : {0u, 2u, 3u}) {
      EXPECT_EQ(frames_[name][frame].written, 2 * kTensor);
      EXPECT_EQ(frames_[name][frame].read, 2 * kTensor);
    }
    EXPECT_EQ(frames_[name][1].written, 3 * kTensor);
    EXPECT_EQ(frames_[name][1].read, 2 * kTensor);
  }
  // Others have results, so the execution goes on: the first part on GPU runs again and brings all
  // to the host, the second one does not.
  const std::vector<Bytes>& stays = frames_["stays"];
  ASSERT_EQ(stays.size(), 4u);
  EXPECT_EQ(stays[0].read, 3 * kTensor);
  EXPECT_EQ(stays[1].written, 4 * kTensor);
  EXPECT_EQ(stays[1].read, 5 * kTensor);
  EXPECT_EQ(stays[3].read, 3 * kTensor);
}

TEST_F(HandOff, AnExecutionWhoseGpuIsLostIsRight) {
  const std::string failing = built_file("tests/opencl_layer/failing_layer.so");
  run({{"HET_LAYER_DISCRETE", "1"}}, 4, "gone", failing);
  if (IsSkipped() || HasFatalFailure()) return;
  for (const auto& [name, frames] : frames_) {
    SCOPED_TRACE(name);
    ASSERT_EQ(frames.size(), 4u);
    EXPECT_GE(frames[0].read, 2 * kTensor);
    EXPECT_EQ(frames[3].read, 0u);
  }
  // In "last" others have read what the GPU made, which takes with it what was left there.
  EXPECT_EQ(frames_["first"][1].read, 0u);
  EXPECT_EQ(frames_["last"][1].read, 2 * kTensor);
}

}  // namespace
}  // namespace het::hetero
