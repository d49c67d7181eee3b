#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het {

/// The values that a sweep takes; what the user leaves out has one entry: streams "" (the
/// device's), requests 0 (the optimal number), batch 0 (the model's).
struct SweepAxes {
  std::vector<std::string> streams;
  std::vector<int> requests;
  std::vector<int64_t> batches;
};

/// Parses streams=1,2,4 requests=1,2,4,8 batch=1,4. Fails with InvalidArgument, naming the word,
/// for unknown or repeated keys, empty lists, values that are no whole numbers in range or occur
/// twice, and for more than kMaxSettings combinations.
Result<SweepAxes> parse_sweep(const std::vector<std::string>& words);

inline constexpr size_t kMaxSettings = 256;

}  // namespace het
