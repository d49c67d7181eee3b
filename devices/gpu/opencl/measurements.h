#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/gpu/opencl/hardware.h"
#include "inference/base/status.h"
#include "inference/devices/choice_store.h"

namespace het::gpu {

/// What was measured to be the fastest on a device, kept in a folder between processes, and the
/// time that one compile may spend on measuring. Thread-bound.
class Measurements {
 public:
  static constexpr double kMostSeconds = 2.0;  ///< of a compile, kernels built meanwhile included
  /// Part of the store's key: to be raised when kernels change so that old choices do not hold.
  static constexpr int kVersion = 1;

  Measurements(const Hardware& hardware, const std::string& folder, double seconds = kMostSeconds);
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;

  /// The fastest of `names`, of which the first is the fixed rule's: as the store has it under
  /// `key`, else measured now. The rule's is taken where another one is not clearly faster, fails
  /// or no time is left. `seconds_of` runs what a name stands for.
  std::string choose(const std::string& key, const std::vector<std::string>& names,
                     const std::function<Result<double>(const std::string& name)>& seconds_of);
  double seconds_left() const { return seconds_left_; }
  /// Writes what was measured to the folder.
  void save() { store_.save(); }

 private:
  ChoiceStore store_;
  bool read_ = false;
  double seconds_left_;
};

}  // namespace het::gpu
