#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "inference/requests/infer_request.h"
#include "tools/verify_case.h"

namespace het {

/// The model of a golden folder, compiled, and a request that holds the folder's inputs.
struct GoldenRun {
  nlohmann::json golden;  ///< golden.json
  std::shared_ptr<Model> model;
  std::shared_ptr<CompiledModel> compiled;
  std::unique_ptr<InferRequest> request;
};

/// Reads and compiles the folder's model and makes the inputs by the formula of its README. Fails
/// as reading and compiling do; throws nlohmann::json::exception when golden.json is malformed.
Result<GoldenRun> prepare_golden_run(const VerifyContext& context,
                                     const std::filesystem::path& folder);

}  // namespace het
