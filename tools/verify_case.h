#pragma once

#include <filesystem>
#include <string>

#include "inference/core.h"

namespace het {

/// What all cases of a verification share.
struct VerifyContext {
  Core& core;
  std::string device;
  Properties properties;
  std::string root;   ///< folder that golden.json's model paths start from
  double cosine = 0;  ///< above 0: all that is asked of golden outputs
};

enum class CaseOutcome { Passed, Failed, Skipped };

/// The result of one test folder, with the reason when it did not pass.
struct CaseResult {
  std::string name;
  CaseOutcome outcome = CaseOutcome::Passed;
  std::string reason;
};

/// A golden folder (golden.json and .npy files): inputs are made by the formula of its README.
/// Float outputs: cosine similarity >= 0.99999 and error <= 1e-3 of the output's range, or an error
/// below 2^-22, the resolution of the reference's own sigmoids; quantised
/// models: cosine >= 0.99 and the same argmax, or one within a quantisation step of it. Or just
/// VerifyContext::cosine.
CaseResult verify_golden_folder(const VerifyContext& context, const std::filesystem::path& folder);

/// An ONNX backend test (model.onnx and test_data_set_*): every output within rtol 1e-3 (2^-6 for
/// bfloat16, 2^-9 for float16) and atol 1e-7, the tolerances of ONNX's own runner except for
/// float16; types and shapes must be equal. Random operators are run and skipped: nothing can be
/// compared.
CaseResult verify_onnx_folder(const VerifyContext& context, const std::filesystem::path& folder);

/// NotSupported failures are skips, everything else is a failure.
CaseResult case_result(std::string name, const Status& status);

}  // namespace het
