#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "inference/base/status.h"

namespace het::hetero {

/// Seconds where a device does not run the unit, or where a tensor has no way.
inline constexpr double kImpossible = std::numeric_limits<double>::infinity();
/// Producer of a frame's input.
inline constexpr size_t kOutside = std::numeric_limits<size_t>::max();

inline constexpr size_t kMaxDevices = 31;

/// Bit i stands for place i.
using PlaceSet = uint32_t;
/// Calls `visit` with each place of a set, by rising index.
template <class Visit>
void for_each_place(PlaceSet places, const Visit& visit) {
  for (; places != 0; places &= places - 1) visit(static_cast<size_t>(std::countr_zero(places)));
}

/// What a device runs as one piece.
struct PlanUnit {
  std::vector<double> seconds;  ///< one per device; kImpossible where it does not run the unit
};

/// One value that units exchange.
struct PlanTensor {
  size_t producer = kOutside;  ///< a unit, or kOutside: a frame's input, which lies in place `home`
  std::vector<size_t> consumers;         ///< units behind the producer; one may occur twice
  bool leaves = false;                   ///< a result: needed in place `home`
  std::vector<double> transfer_seconds;  ///< [from * places + to]; zero within a place
};

/// What placement is decided on: costs alone. Every device has a place of its own, its memory; two
/// devices that address the same memory have transfers of zero seconds.
struct PlanProblem {
  size_t devices = 0;
  /// The place of frames and results: a device's index (its memory is the host's) or `devices` (the
  /// host, a place of its own).
  size_t home = 0;
  std::vector<PlanUnit> units;  ///< in topological order
  std::vector<PlanTensor> tensors;

  size_t places() const { return home < devices ? devices : devices + 1; }
};

/// The device of every unit.
using Assignment = std::vector<size_t>;

/// The tensors of every unit, each once, by rising index.
struct UnitTensors {
  explicit UnitTensors(const PlanProblem& problem);
  std::vector<std::vector<size_t>> inputs;
  std::vector<std::vector<size_t>> outputs;
};

/// InvalidArgument with what is wrong: counts that do not fit, negative times, units out of order.
/// Functions on a PlanProblem that return no Status expect one that passes.
Status check_problem(const PlanProblem& problem);

/// The place where a tensor comes into being.
size_t source_place(const PlanProblem& problem, const PlanTensor& tensor,
                    const Assignment& assignment);
/// Places other than its source where the tensor is needed.
PlaceSet destinations(const PlanProblem& problem, const PlanTensor& tensor,
                      const Assignment& assignment);

/// Seconds of one frame when one thing happens at a time: those of every unit and of every
/// transfer, which is paid once per tensor and destination. kImpossible where a device does not run
/// its unit.
double latency(const PlanProblem& problem, const Assignment& assignment);

}  // namespace het::hetero
