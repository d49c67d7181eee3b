#pragma once

#include <string>

#include "inference/base/status.h"

namespace het::gpu {

class Context;

/// What drivers name as extensions and do not always have: no kernel uses one before it was tried.
enum class Feature : uint8_t {
  Half,               ///< cl_khr_fp16: arithmetic on half
  IntegerDotProduct,  ///< cl_khr_integer_dot_product: products of four bytes
  SubGroups,          ///< cl_khr_subgroups or cl_intel_subgroups: sums, maxima, votes
};
inline constexpr size_t kFeatureCount = 3;

/// Builds a small program with the feature, runs it and compares its results with the host's.
/// Returns the compiler's options with which all are equal, "" or a version of OpenCL C, where
/// drivers have it in that alone; else what went wrong: the extension is not named, the program
/// does not build or run, a result differs.
Result<std::string> probe(Context& context, Feature feature);

}  // namespace het::gpu
