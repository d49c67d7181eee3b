#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "devices/cpu/formats/huge_pages.h"
#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/readers/mapped_file.h"
#include "inference/tensors/buffer.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// `bytes` of weights as a kernel reads them, made of `plain` by pack(begin, end, memory) over
/// parts [begin, end) of `parts`; large ones by the whole team.
template <class Pack>
Result<BufferPtr> pack_weights(const NodePacking& packing, size_t bytes, int64_t parts,
                               const Tensor& plain, const Pack& pack) {
  return packing.pack(bytes, [&](std::byte* memory) {
    prefer_huge_pages(memory, bytes);
    std::optional<AloneScope> alone;
    if (bytes < kSharedPackingBytes) alone.emplace();
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) { pack(begin, end, memory); });
    release_file_pages({plain.bytes(), plain.size_bytes()});
  });
}

/// A float for each of `columns`: those of `bias`, which may be empty, and zeros behind them.
inline Result<BufferPtr> pack_bias(const NodePacking& packing, const Tensor& bias, size_t columns) {
  return packing.pack(columns * sizeof(float), [&](std::byte* memory) {
    auto* const values = reinterpret_cast<float*>(memory);
    std::fill_n(values, columns, 0.0f);
    if (bias.empty()) return;
    std::copy_n(reinterpret_cast<const float*>(bias.bytes()), bias.element_count(), values);
  });
}

}  // namespace het::cpu
