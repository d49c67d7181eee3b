#include "inference/decoders/output_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace het {

Result<std::vector<size_t>> select_outputs(const DecoderConfig& config,
                                           const std::vector<Port>& outputs) {
  std::vector<size_t> selected;
  if (config.layer_names.empty()) {
    selected.resize(outputs.size());
    std::iota(selected.begin(), selected.end(), size_t{0});
    return selected;
  }
  for (const std::string& name : config.layer_names) {
    const auto found = std::find_if(outputs.begin(), outputs.end(),
                                    [&](const Port& port) { return port.name == name; });
    if (found == outputs.end()) {
      std::vector<size_t> all(outputs.size());
      std::iota(all.begin(), all.end(), size_t{0});
      return error(StatusCode::NotFound,
                   "converter '{}' shall read output '{}', which the model does not have; its "
                   "outputs are {}",
                   config.converter, name, describe(outputs, all));
    }
    selected.push_back(static_cast<size_t>(found - outputs.begin()));
  }
  return selected;
}

Result<size_t> select_single_output(const DecoderConfig& config, const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  if (selected.size() != 1)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads one output, the model has {}; name one with layer_name",
                 config.converter, describe(outputs, selected));
  return selected.front();
}

bool is_sized_at_run_time(const Port& port) {
  return port.desc.type == ElementType::Undefined;
}

int64_t dimension(const Port& port, size_t axis) {
  return axis < port.desc.shape.size() ? port.desc.shape[axis] : kUnknownDim;
}

bool matches(const Shape& shape, ShapePattern pattern) {
  if (shape.size() != pattern.size()) return false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != kUnknownDim && pattern[axis] != kUnknownDim && shape[axis] != pattern[axis])
      return false;
  }
  return true;
}

Status expect_shape(std::string_view converter, const Port& port, ShapePattern pattern) {
  if (is_sized_at_run_time(port) || matches(port.desc.shape, pattern)) return {};
  return error(StatusCode::ShapeMismatch, "converter '{}' reads an output {}, '{}' is {}",
               converter, pattern.text(), port.name, to_string(port.desc));
}

Status expect_shape(std::string_view converter, const Tensor& tensor, ShapePattern pattern) {
  if (tensor.empty())
    return error(StatusCode::InvalidArgument,
                 "converter '{}' cannot decode an output that was never computed", converter);
  if (matches(tensor.shape(), pattern)) return {};
  return error(StatusCode::ShapeMismatch, "converter '{}' reads an output {}, it came as {}",
               converter, pattern.text(), to_string(tensor.desc()));
}

std::string describe(const std::vector<Port>& outputs, const std::vector<size_t>& selected) {
  std::string text;
  for (size_t index : selected) {
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", outputs[index].name,
                        to_string(outputs[index].desc));
  }
  return text.empty() ? "no outputs" : text;
}

std::vector<std::string> attribute_names(const DecoderConfig& config,
                                         const std::vector<Port>& outputs,
                                         const std::vector<size_t>& selected) {
  std::vector<std::string> names;
  for (size_t index : selected)
    names.push_back(config.attribute_name.empty() ? outputs[index].name : config.attribute_name);
  return names;
}

Status expect_labels(const DecoderConfig& config, int64_t classes) {
  if (classes == kUnknownDim) return {};
  if (config.classes && *config.classes != classes)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' is told {} classes, the model's output has {}", config.converter,
                 *config.classes, classes);
  if (config.labels.empty() || static_cast<int64_t>(config.labels.size()) == classes) return {};
  return error(StatusCode::ShapeMismatch,
               "converter '{}' has {} labels for the {} classes of the model; give one label per "
               "class",
               config.converter, config.labels.size(), classes);
}

InputSize picture_input_size(const std::vector<Port>& inputs) {
  for (const Port& port : inputs) {
    const Shape& shape = port.desc.shape;
    if (!port.preprocess || shape.size() < 3) continue;
    const size_t channel_last = port.preprocess->tensor_layout == Layout::NHWC ? 1 : 0;
    return {shape[shape.size() - 1 - channel_last], shape[shape.size() - 2 - channel_last]};
  }
  return {};
}

Status expect_batch(std::string_view converter, const std::vector<Port>& inputs, const Port& port) {
  const Shape& shape = port.desc.shape;
  const int64_t batch = picture_batch(inputs);
  if (shape.size() < 2 || batch == kUnknownDim || shape[0] == kUnknownDim || shape[0] == batch)
    return {};
  return error(StatusCode::ShapeMismatch,
               "converter '{}': the first dimension of '{}' {} is not the batch of the picture "
               "input, {}",
               converter, port.name, to_string(port.desc), batch);
}

int64_t picture_batch(const std::vector<Port>& inputs) {
  for (const Port& port : inputs) {
    if (port.preprocess && port.desc.shape.size() >= 3)
      return port.desc.shape.size() == 3 ? 1 : port.desc.shape.front();
  }
  return kUnknownDim;
}

}  // namespace het
