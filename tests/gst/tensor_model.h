#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "test_files.h"

namespace het::gst_test {

/// An output of a model that gives the same values for every picture.
struct ConstantOutput {
  std::string name;
  std::vector<int64_t> dims;
  std::vector<float> values;  ///< as many as the shape has, else zeros before which they stand
};

/// Writes NAME.onnx with an input "picture" of [1,3,HEIGHT,WIDTH] and these outputs, and gives its
/// path. `metadata` are properties of the file.
std::string write_constant_model(
    const ScratchFolder& folder, const std::string& name, int height, int width,
    const std::vector<ConstantOutput>& outputs,
    const std::vector<std::pair<std::string, std::string>>& metadata = {});

/// Writes NAME.json, a descriptor that stretches pictures (or not: `resize`) and names the
/// converter, and gives its path.
std::string write_descriptor(const ScratchFolder& folder, const std::string& name,
                             const std::string& converter,
                             const std::string& resize = "no-aspect-ratio",
                             const std::string& more = "");

}  // namespace het::gst_test
