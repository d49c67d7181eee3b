#include "devices/cpu/onednn/int8_support.h"

#include "devices/cpu/loops/widened_loops.h"

namespace het::cpu {

bool computes_int8() {
  return has_exact_int8() || has_fast_pairs();
}

}  // namespace het::cpu
