#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/requests/infer_request.h"

namespace het {

/// What an output shall be.
struct ReferenceOutput {
  std::string name;  ///< empty: told by its place
  Shape shape;
  std::vector<double> values;  ///< every `stride`-th
  size_t stride = 1;
  double range = 0;   ///< of all values; the magnitude where they are equal, or where there is one
  size_t argmax = 0;  ///< of all values
};

/// The outputs of a golden folder. Throws nlohmann::json::exception when golden.json is malformed.
Result<std::vector<ReferenceOutput>> read_golden_outputs(const nlohmann::json& golden,
                                                         const std::filesystem::path& folder);
/// What another device computed.
Result<std::vector<ReferenceOutput>> reference_outputs(const InferRequest& request);

bool is_quantised(const Model& model);

/// Float outputs: cosine similarity >= 0.99999 and error <= 1e-3 of the output's range, or an error
/// below 2^-22, the resolution of the reference's own sigmoids. Quantised models: cosine >= 0.99
/// and the same argmax, or one within a quantisation step of it. Returns the largest error of all
/// outputs as a part of its output's range. With `cosine` only that similarity is asked for,
/// of detections that are certain (keep_certain_rows()).
Result<double> check_outputs(const std::vector<ReferenceOutput>& references,
                             const InferRequest& request, bool quantised, double cosine = 0);

}  // namespace het
