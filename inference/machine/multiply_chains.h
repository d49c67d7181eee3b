#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace het {

/// Multiplications that wait for nothing but each other: registers only, as many chains as hide
/// the latency. `run` does `rounds` of them and returns what was added up, so that they happen.
struct Chains {
  std::string type;         ///< f32, bf16, int8
  std::string instruction;  ///< what multiplies
  double multiply_adds;     ///< of a round
  double (*run)(int64_t rounds);
};

/// The widest that this processor has for each type; a type that it has no instruction for is left
/// out.
std::vector<Chains> chains_of_processor();

/// True where the processor multiplies tiles (AMX), which is more than any of the chains show.
bool has_tiles();

}  // namespace het
