#pragma once

namespace het::cpu {

/// True where oneDNN's sums of int8 products are exact: without VNNI its pairs of products saturate
/// at 16 bits.
bool has_exact_int8();
/// True where quantised products run on int8 kernels: oneDNN's, or with AVX2 our own.
bool computes_int8();

}  // namespace het::cpu
