#pragma once

#include <memory>
#include <string>
#include <utility>

#include "inference/base/status.h"

namespace het::vpu {

/// The rounding of half_rounding.h for OpenCL: a description of custom layers with its source, in a
/// folder of this process that goes with the object.
class OpenClRounding {
 public:
  /// Fails with Internal where no folder can be made.
  static Result<std::unique_ptr<OpenClRounding>> create();
  ~OpenClRounding();
  OpenClRounding(const OpenClRounding&) = delete;
  OpenClRounding& operator=(const OpenClRounding&) = delete;

  /// For the property CONFIG_FILE.
  std::string path() const;

 private:
  explicit OpenClRounding(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

}  // namespace het::vpu
