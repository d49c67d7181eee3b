#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/moves/strided_move.h"

namespace het::cpu {

/// One copy of a MoveKernel: from input 0 at an offset into output 0 at an offset, in bytes.
struct Move {
  StridedMove loops;
  int64_t src_offset = 0;
  int64_t dst_offset = 0;
};

/// Fills the output with an element, where asked to, and then copies.
struct Fill {
  size_t count = 0;                  ///< elements
  size_t width = 0;                  ///< bytes of one
  std::array<std::byte, 8> value{};  ///< the first `width` bytes count
};
std::unique_ptr<Kernel> make_move_kernel(std::vector<Move> moves,
                                         std::optional<Fill> fill = std::nullopt);

}  // namespace het::cpu
