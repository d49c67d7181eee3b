#include "inference/decoders/heat_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/output_ports.h"

namespace het {

Result<OutputValues> read_map(const DecoderConfig& config, const Tensor& tensor, int64_t channels,
                              const Shape& heat, const DecodeContext& context) {
  HET_TRY(expect_shape(config.converter, tensor, {kUnknownDim, channels, heat[2], heat[3]}));
  return OutputValues::batch_item(tensor, context.batch_index);
}

Result<std::vector<size_t>> find_maps(const DecoderConfig& config, const std::vector<Port>& outputs,
                                      const std::vector<WantedMap>& wanted) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<size_t> found;
  std::string text;
  for (const auto& [name, channels] : wanted) {
    text += fmt::format("{}{} [batch,{},rows,columns]", text.empty() ? "" : ", ", name,
                        channels == kUnknownDim ? "classes" : std::to_string(channels));
    const auto fits = [&, wanted_channels = channels](size_t index) {
      return matches(outputs[index].desc.shape,
                     {kUnknownDim, wanted_channels, kUnknownDim, kUnknownDim}) &&
             std::find(found.begin(), found.end(), index) == found.end();
    };
    auto best = std::find_if(selected.begin(), selected.end(), [&, part = name](size_t index) {
      return fits(index) && outputs[index].name.find(part) != std::string::npos;
    });
    if (best == selected.end()) best = std::find_if(selected.begin(), selected.end(), fits);
    if (best != selected.end()) found.push_back(*best);
  }
  if (found.size() == wanted.size() && selected.size() == wanted.size()) return found;
  return error(StatusCode::ShapeMismatch, "converter '{}' reads {}; the model has {}",
               config.converter, text, describe(outputs, selected));
}

}  // namespace het
