#pragma once

#include <string>
#include <vector>

#include "inference/base/visibility.h"

namespace het {

/// What the processors reach with one type of number.
struct ProcessorRate {
  std::string type;         ///< f32, bf16, int8
  std::string instruction;  ///< what multiplies
  double one = 0.0;         ///< 1e9 multiply-adds a second of one thread
  double all = 0.0;         ///< of all together
};

/// Measures multiply-adds from registers, type by type, for `seconds` on one thread and for as long
/// on `threads`. The most of `repeats` counts: what disturbs makes them slower only.
HET_API std::vector<ProcessorRate> measure_processors(unsigned threads, double seconds,
                                                      int repeats);

/// True where the processor multiplies tiles (AMX), which is more than any of the rates.
HET_API bool processor_has_tiles();

/// 1e9 bytes a second between processors and memory.
struct MemoryRates {
  double copy = 0.0;  ///< read and written together
  double read = 0.0;
};

/// Measures both with `bytes` in all, divided among `threads`, for `seconds` each. Nothing where
/// there is no memory for it.
HET_API MemoryRates measure_memory(unsigned threads, size_t bytes, double seconds);

}  // namespace het
