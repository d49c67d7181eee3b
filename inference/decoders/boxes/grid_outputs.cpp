#include "inference/decoders/boxes/grid_outputs.h"

namespace het {

Grid make_grid(int stride, int64_t input_width, int64_t input_height) {
  return {stride, (input_width + stride - 1) / stride, (input_height + stride - 1) / stride};
}

int64_t cell_count(const InputSize& input) {
  if (input.width <= 0 || input.height <= 0) return kUnknownDim;
  int64_t cells = 0;
  for (const int stride : {8, 16, 32})
    cells += make_grid(stride, input.width, input.height).cells();
  return cells;
}

Result<std::vector<GridOutputs>> group_by_stride(const DecoderConfig& config,
                                                 const std::vector<int>& strides, size_t per_stride,
                                                 const std::vector<Port>& inputs,
                                                 const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  const InputSize size = picture_input_size(inputs);
  if (size.width == kUnknownDim || size.height == kUnknownDim)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' needs the size of the model's picture input, which is unknown; "
                 "give it with reshape",
                 config.converter);

  std::vector<GridOutputs> groups;
  for (int stride : strides) groups.push_back({stride, {}});
  for (size_t index : selected) {
    const Shape& shape = outputs[index].desc.shape;
    bool placed = false;
    for (GridOutputs& group : groups) {
      const int64_t cells = make_grid(group.stride, size.width, size.height).cells();
      if (shape.size() != 3 || shape[1] != cells) continue;
      group.outputs.push_back(index);
      placed = true;
      break;
    }
    if (!placed)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' cannot tell the stride of output '{}' {} for an input of {}x{} "
                   "pixels; strides tried: {}",
                   config.converter, outputs[index].name, to_string(outputs[index].desc),
                   size.width, size.height, to_string(Shape(strides.begin(), strides.end())));
  }
  for (const GridOutputs& group : groups) {
    if (group.outputs.size() != per_stride)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads {} outputs for stride {}, the model has {} of them: {}",
                   config.converter, per_stride, group.stride, group.outputs.size(),
                   describe(outputs, group.outputs));
  }
  return groups;
}

}  // namespace het
