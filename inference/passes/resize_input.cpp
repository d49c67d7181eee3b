#include "inference/passes/resize_input.h"

#include <string>
#include <utility>
#include <vector>

#include "inference/passes/insert_node.h"

namespace het {

Status resize_input(Model& model, size_t input_index, int64_t height, int64_t width,
                    std::string_view mode) {
  if (height < 1 || width < 1) {
    return error(StatusCode::InvalidArgument, "a picture of {}x{} pixels is not possible", width,
                 height);
  }
  if (mode != "linear" && mode != "nearest" && mode != "cubic") {
    return error(StatusCode::InvalidArgument, "'{}' is none of linear, nearest and cubic", mode);
  }
  HET_ASSIGN(const size_t channels, channel_axis(model, input_index));
  Value* const input = model.inputs()[input_index].value;
  TensorDesc desc = input->desc();
  const size_t first = channels == 1 ? 2 : 1;  // of height and width
  if (desc.shape[first] == kUnknownDim || desc.shape[first + 1] == kUnknownDim) {
    return error(StatusCode::NotSupported,
                 "input '{}' {} does not say which size pictures are to be resized to: reshape it "
                 "first",
                 input->name(), to_string(desc));
  }
  if (desc.shape[first] == height && desc.shape[first + 1] == width) return {};
  Value* const sizes =
      model.add_constant(input->name() + "/Size",
                         Tensor::from<int64_t>({2}, {desc.shape[first], desc.shape[first + 1]}));
  Attributes attributes;
  attributes.set("mode", std::string(mode));
  attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
  attributes.set(
      "axes", std::vector<int64_t>{static_cast<int64_t>(first), static_cast<int64_t>(first) + 1});
  if (mode == "cubic") attributes.set("cubic_coeff_a", -0.75f);
  if (mode == "nearest") attributes.set("nearest_mode", std::string("round_prefer_floor"));
  insert_behind(model, input, input->name() + "/Resize", "Resize", {nullptr, nullptr, sizes},
                std::move(attributes));
  desc.shape[first] = height;
  desc.shape[first + 1] = width;
  model.set_desc(input, std::move(desc));
  return {};
}

}  // namespace het
