#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/output_ports.h"

namespace het {

/// Cells of a feature map with this stride: ceil(width / stride) * ceil(height / stride).
struct Grid {
  int stride = 0;
  int64_t width = 0;
  int64_t height = 0;
  int64_t cells() const { return width * height; }
};
Grid make_grid(int stride, int64_t input_width, int64_t input_height);
/// Cells of strides 8, 16 and 32: the objects of networks with one for each. Unknown with the size.
int64_t cell_count(const InputSize& input);

/// The outputs [batch, cells, columns] that belong to one stride.
struct GridOutputs {
  int stride = 0;
  std::vector<size_t> outputs;
};

/// Sorts the selected outputs by stride: those whose cells fit the stride's feature map. Every
/// stride needs `per_stride` outputs and none may be left over. The size of the picture input must
/// be known.
Result<std::vector<GridOutputs>> group_by_stride(const DecoderConfig& config,
                                                 const std::vector<int>& strides, size_t per_stride,
                                                 const std::vector<Port>& inputs,
                                                 const std::vector<Port>& outputs);

}  // namespace het
