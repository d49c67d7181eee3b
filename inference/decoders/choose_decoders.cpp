#include "inference/decoders/choose_decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "inference/decoders/name_list.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// Number of classes of an output [batch, classes] or [batch, classes, 1, 1], or nothing.
std::optional<int64_t> class_count(const Port& port) {
  const Shape& shape = port.desc.shape;
  if (shape.size() < 2 || !is_float(port.desc.type) || shape[1] < 2) return std::nullopt;
  if (std::any_of(shape.begin() + 2, shape.end(), [](int64_t dim) { return dim != 1; }))
    return std::nullopt;
  return shape[1];
}

/// True when the output is a Softmax, seen through operators that only change its shape.
bool is_softmax(const Model& model, const std::string& output) {
  const auto found = std::find_if(model.outputs().begin(), model.outputs().end(),
                                  [&](const ModelOutput& o) { return o.name == output; });
  if (found == model.outputs().end()) return false;
  const Node* node = found->value->producer();
  while (node != nullptr) {
    const std::string& type = node->op_type();
    if (type == "Softmax") return true;
    const bool transparent = type == "Reshape" || type == "Flatten" || type == "Squeeze" ||
                             type == "Unsqueeze" || type == "Identity" || type == "Cast";
    if (!transparent || node->input(0) == nullptr) return false;
    node = node->input(0)->producer();
  }
  return false;
}

bool has_boxes_and_labels(const std::vector<Port>& outputs) {
  const auto named = [&](std::string_view name) {
    return std::find_if(outputs.begin(), outputs.end(),
                        [&](const Port& port) { return port.name == name; });
  };
  const auto boxes = named("boxes");
  return outputs.size() == 2 && boxes != outputs.end() && named("labels") != outputs.end() &&
         !boxes->desc.shape.empty() && boxes->desc.shape.back() == 5;
}

/// Reads the graph of the outputs that one entry is about.
Result<DecoderChoice> choose_by_graph(const DecoderConfig& entry, const Model& model,
                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(entry, outputs));
  DecoderChoice choice{{entry}, {}};
  DecoderConfig& config = choice.configs.front();
  if (has_boxes_and_labels(outputs) && selected.size() == 2) {
    config.converter = "boxes_labels";
    choice.reason = "the outputs are boxes of 5 values and labels";
    return choice;
  }
  if (selected.size() == 1) {
    const Port& port = outputs[selected.front()];
    const std::optional<int64_t> classes = class_count(port);
    if (matches(port.desc.shape, {1, 1, kUnknownDim, 7})) {
      config.converter = "detection_output";
      choice.reason = fmt::format("output '{}' has the shape of a DetectionOutput", port.name);
      return choice;
    }
    if (classes && is_softmax(model, port.name)) {
      config.converter = "label";
      config.method = "max";
      choice.reason = fmt::format("output '{}' is a softmax over {} classes", port.name, *classes);
      return choice;
    }
    if (classes && *classes == static_cast<int64_t>(config.labels.size())) {
      config.converter = "label";
      config.method = "softmax";
      choice.reason =
          fmt::format("output '{}' has one value for each of the {} labels", port.name, *classes);
      return choice;
    }
  }
  return error(StatusCode::NotSupported,
               "cannot tell how to read the results of model '{}' from its outputs {}; give a "
               "model-proc file that names one of the converters {}",
               model.name(), describe(outputs, selected), name_list(converter_names()));
}

}  // namespace

Result<DecoderChoice> choose_decoders(const ModelProc& model_proc, const Model& model,
                                      const std::vector<Port>& outputs,
                                      const std::vector<std::string>& labels) {
  std::vector<DecoderConfig> entries = model_proc.outputs;
  if (entries.empty()) entries.emplace_back();
  if (!labels.empty()) {
    if (entries.size() > 1)
      return error(StatusCode::InvalidArgument,
                   "labels are given for model '{}', whose model-proc has {} converters; give "
                   "each its labels there",
                   model.name(), entries.size());
    entries.front().labels = labels;
  }
  DecoderChoice choice;
  for (const DecoderConfig& entry : entries) {
    DecoderChoice single{{entry}, "the model-proc file says so"};
    if (entry.converter.empty()) {
      HET_ASSIGN(single, choose_by_graph(entry, model, outputs));
    }
    choice.configs.push_back(std::move(single.configs.front()));
    if (choice.reason.find(single.reason) == std::string::npos)
      choice.reason += (choice.reason.empty() ? "" : "; ") + single.reason;
  }
  return choice;
}

}  // namespace het
