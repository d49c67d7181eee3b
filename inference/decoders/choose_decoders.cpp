#include "inference/decoders/choose_decoders.h"

#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/alternatives.h"
#include "inference/decoders/name_list.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/readings/graph_readings.h"
#include "inference/decoders/ultralytics_outputs.h"

namespace het {
namespace {

/// Reads the graph of the outputs that one entry is about.
Result<DecoderChoice> choose_by_graph(const DecoderConfig& entry, const Model& model,
                                      const std::vector<Port>& inputs,
                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(entry, outputs));
  std::vector<Reading> readings = readings_of_graph(entry, model, inputs, outputs, selected);
  if (readings.size() == 1)
    return DecoderChoice{{std::move(readings.front().config)}, std::move(readings.front().reason)};
  if (!readings.empty()) {
    std::vector<std::string> fitting;
    for (const Reading& reading : readings)
      fitting.push_back(fmt::format("{{\"converter\": \"{}\"}}", reading.config.converter));
    return error(StatusCode::NotSupported,
                 "cannot tell how to read the results of model '{}' ({}): it may be {}; write the "
                 "one that is right into \"output_postproc\" of a model-proc file, or give a "
                 "library of your own (custom-postproc-lib)",
                 model.name(), readings.front().reason, name_list(fitting));
  }
  return error(StatusCode::NotSupported,
               "cannot tell how to read the results of model '{}' from its outputs {}: {}",
               model.name(), describe(outputs, selected),
               describe(alternatives_for(entry, inputs, outputs)));
}

/// What the model's metadata say, where they name the converter or leave it to the shapes of the
/// outputs of a known exporter; else nothing.
Result<DecoderChoice> choose_by_metadata(const ModelMetadata& metadata,
                                         const std::vector<Port>& inputs,
                                         const std::vector<Port>& outputs) {
  DecoderChoice choice{{metadata.output}, metadata.source + " say so"};
  DecoderConfig& config = choice.configs.front();
  if (!metadata.ultralytics) return choice;
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  config.converter = ultralytics_converter(metadata, inputs, outputs, selected);
  // What its own predictor does: 0.7, and nothing where objects are not repeated.
  const bool repeats = config.converter.starts_with("yolo_v8") || config.converter == "yolo_v5";
  if (!repeats) config.iou_threshold.reset();
  if (repeats && !config.iou_threshold) config.iou_threshold = 0.7f;
  choice.reason = fmt::format("{} (task {}) and the shapes of the outputs say so", metadata.source,
                              metadata.task.empty() ? "detect" : metadata.task);
  return choice;
}

}  // namespace

Result<DecoderChoice> choose_decoders(const ModelProc& model_proc, const ModelMetadata& metadata,
                                      const Model& model, const std::vector<Port>& inputs,
                                      const std::vector<Port>& outputs,
                                      const std::vector<std::string>& labels) {
  std::vector<DecoderConfig> entries = model_proc.outputs;
  if (entries.empty()) entries.push_back(metadata.output);
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
    if (model_proc.outputs.empty() && !metadata.source.empty()) {
      ModelMetadata described = metadata;
      described.output = entry;
      HET_ASSIGN(single, choose_by_metadata(described, inputs, outputs));
    }
    if (single.configs.front().converter.empty()) {
      HET_ASSIGN(single, choose_by_graph(entry, model, inputs, outputs));
    }
    choice.configs.push_back(std::move(single.configs.front()));
    if (choice.reason.find(single.reason) == std::string::npos)
      choice.reason += (choice.reason.empty() ? "" : "; ") + single.reason;
  }
  return choice;
}

}  // namespace het
