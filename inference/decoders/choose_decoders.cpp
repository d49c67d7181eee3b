#include "inference/decoders/choose_decoders.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "inference/base/log.h"
#include "inference/decoders/alternatives.h"
#include "inference/decoders/descriptors/known_models.h"
#include "inference/decoders/name_list.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/readings/graph_readings.h"
#include "inference/decoders/ultralytics_outputs.h"

namespace het {
namespace {

/// Outputs that explain a result to people and are none, by the names that OpenVINO's training
/// tools (OTX, Geti) give them: the entry is about the others.
void leave_out_explanations(const std::vector<Port>& outputs, DecoderConfig& entry) {
  constexpr std::string_view kExplanations[] = {"saliency_map", "feature_vector"};
  if (!entry.layer_names.empty()) return;
  for (const Port& port : outputs) {
    if (std::ranges::find(kExplanations, port.name) == std::end(kExplanations))
      entry.layer_names.push_back(port.name);
  }
  if (entry.layer_names.size() == outputs.size()) entry.layer_names.clear();
}

/// The labels of a published model, where its reading has none and they are as many as it wants.
void add_known_labels(const std::string& name, const std::vector<Port>& inputs,
                      const std::vector<Port>& outputs, DecoderChoice& choice) {
  const auto known = known_models().labels.find(name);
  if (known == known_models().labels.end() || choice.configs.size() != 1 ||
      !choice.configs.front().labels.empty())
    return;
  DecoderConfig labelled = choice.configs.front();
  labelled.labels = known->second;
  if (!create_decoder(labelled, inputs, outputs)) return;
  choice.configs.front() = std::move(labelled);
  choice.reason += ", and labels are those of " + name;
}

/// Reads the graph of the outputs that one entry is about.
Result<DecoderChoice> choose_by_graph(const DecoderConfig& entry, const Model& model,
                                      const std::vector<Port>& inputs,
                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(entry, outputs));
  std::vector<Reading> readings = readings_of_graph(entry, model, inputs, outputs, selected);
  if (readings.size() == 1) {
    Reading& reading = readings.front();
    DecoderChoice choice{std::move(reading.others), std::move(reading.reason),
                         reading.plain_pictures, std::move(reading.pictures)};
    choice.configs.insert(choice.configs.begin(), std::move(reading.config));
    return choice;
  }
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
               describe(alternatives_for(completed_by_graph(entry, model, inputs, outputs), inputs,
                                         outputs, likely_converters(model, inputs, outputs))));
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

/// What the metadata say of the results, without the reader that ids of tensors name where the
/// outputs do not look as it wants them.
DecoderConfig metadata_entry(const ModelMetadata& metadata, const std::vector<Port>& inputs,
                             const std::vector<Port>& outputs) {
  if (!metadata.is_reader_by_ids) return metadata.output;
  DecoderConfig reader = metadata.output;
  reader.labels.clear();  // which have errors of their own
  const Result<std::unique_ptr<Decoder>> decoder = create_decoder(reader, inputs, outputs);
  if (decoder) return metadata.output;
  log(LogLevel::Warning, "what {} say of the outputs is left out: {}", metadata.source,
      decoder.error().message());
  DecoderConfig entry;
  entry.labels = metadata.output.labels;
  entry.threshold = metadata.output.threshold;
  entry.iou_threshold = metadata.output.iou_threshold;
  return entry;
}

}  // namespace

Result<DecoderChoice> choose_decoders(const ModelProc& model_proc, const ModelMetadata& metadata,
                                      const Model& model, const std::vector<Port>& inputs,
                                      const std::vector<Port>& outputs,
                                      const std::vector<std::string>& labels) {
  std::vector<DecoderConfig> entries = model_proc.outputs;
  if (entries.empty()) entries.push_back(metadata_entry(metadata, inputs, outputs));
  if (!labels.empty()) {
    if (entries.size() > 1)
      return error(StatusCode::InvalidArgument,
                   "labels are given for model '{}', whose model-proc has {} converters; give "
                   "each its labels there",
                   model.name(), entries.size());
    entries.front().labels = labels;
  }
  DecoderChoice choice;
  for (DecoderConfig& entry : entries) {
    if (model_proc.outputs.empty()) leave_out_explanations(outputs, entry);
    DecoderChoice single{{entry}, "the model-proc file says so"};
    if (model_proc.outputs.empty() && !metadata.source.empty()) {
      ModelMetadata described = metadata;
      described.output = entry;
      HET_ASSIGN(single, choose_by_metadata(described, inputs, outputs));
    }
    if (single.configs.front().converter.empty()) {
      HET_ASSIGN(single, choose_by_graph(entry, model, inputs, outputs));
      add_known_labels(metadata.file_stem, inputs, outputs, single);
    }
    std::ranges::move(single.configs, std::back_inserter(choice.configs));
    choice.plain_pictures = choice.plain_pictures || single.plain_pictures;
    if (single.pictures) choice.pictures = std::move(single.pictures);
    if (choice.reason.find(single.reason) == std::string::npos)
      choice.reason += (choice.reason.empty() ? "" : "; ") + single.reason;
  }
  if (!labels.empty() && choice.configs.size() > 1)
    return error(StatusCode::InvalidArgument,
                 "labels are given for model '{}', which is read by {} converters ({}); give each "
                 "its labels in a model-proc file, `hetero inspect --model-proc` writes one",
                 model.name(), choice.configs.size(), choice.reason);
  return choice;
}

}  // namespace het
