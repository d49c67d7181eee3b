#pragma once

#include <atomic>
#include <cstdint>

namespace het::va_test {

/// What the test driver was asked to do, since the process began or reset().
struct DriverCounters {
  std::atomic<int> surfaces = 0;  ///< alive
  std::atomic<int> images = 0;    ///< alive
  std::atomic<int> derived = 0;
  std::atomic<int> copied = 0;          ///< vaGetImage
  std::atomic<int> mapped = 0;          ///< buffers
  std::atomic<int> processed = 0;       ///< pictures of the video processor
  std::atomic<int> processed_fast = 0;  ///< of them those with VA_FILTER_SCALING_FAST
  std::atomic<int> synced = 0;
  std::atomic<int> imported = 0;  ///< DMA-BUFs that became surfaces
};

/// A layout of DMA-BUFs that it imports besides the linear one: every byte is inverted. The number
/// is that of a tiled layout of Intel's; only who imports it can read it.
inline constexpr uint64_t kOwnModifier = 0x0100000000000002;

/// What it shall fail at.
struct DriverFaults {
  std::atomic<bool> no_derive = false;
  std::atomic<bool> no_map = false;
  std::atomic<bool> no_processor = false;  ///< asked when a config is made
  std::atomic<bool> lost = false;          ///< every call that touches a surface fails
  std::atomic<bool> defer = false;         ///< the video processor works when it is waited for
  std::atomic<int> slow_ms = 0;            ///< what a picture of the video processor takes
};

struct DriverState {
  DriverCounters counters;
  DriverFaults faults;
};

/// Symbol of the driver that gives its state.
inline constexpr char kDriverStateSymbol[] = "het_va_driver_state";
using DriverStateFunction = DriverState* (*)();

}  // namespace het::va_test
