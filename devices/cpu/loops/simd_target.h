#pragma once

namespace het::cpu {

/// The instruction set that run-time dispatch chooses on this processor, such as "avx512".
const char* simd_target();

}  // namespace het::cpu
