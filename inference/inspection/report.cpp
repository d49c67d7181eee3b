/// An Inspection as a descriptor, a text and JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inference/decoders/descriptors/model_proc_text.h"
#include "inference/inspection/inspection.h"

namespace het {
namespace {

constexpr size_t kLabelsTold = 5;
constexpr size_t kAlternativesTold = 8;

std::string line(std::string_view title, const std::string& text) {
  return fmt::format("{:<11}{}\n", title, text);
}

std::string labels_text(const std::vector<std::string>& labels) {
  if (labels.empty()) return "none";
  std::string text = fmt::format("{}: ", labels.size());
  for (size_t i = 0; i < labels.size() && i < kLabelsTold; ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", labels[i]);
  return text + (labels.size() > kLabelsTold ? ", ..." : "");
}

std::string ports_text(std::string_view title, const std::vector<Port>& ports) {
  std::string text;
  for (const Port& port : ports) {
    text +=
        line(text.empty() ? title : "", fmt::format("'{}' {}", port.name, to_string(port.desc)));
  }
  return text;
}

nlohmann::ordered_json ports_json(const std::vector<Port>& ports) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Port& port : ports) {
    list.push_back({{"name", port.name},
                    {"type", std::string(to_string(port.desc.type))},
                    {"shape", port.desc.shape}});
  }
  return list;
}

/// "yolo-v8-out: 'output0' as yolo-v8-out, col-major"
std::string tensors_text(const TensorGroup& group) {
  std::string text = group.id + ":";
  for (const GroupTensor& tensor : group.tensors) {
    text += fmt::format("{} '{}' as {}{}{}", text.back() == ':' ? "" : ",", tensor.output,
                        tensor.id, tensor.column_major ? ", col-major" : "",
                        tensor.is_transposed ? ", turned" : "");
  }
  return text;
}

nlohmann::ordered_json tensors_json(const TensorGroup& group) {
  nlohmann::ordered_json json;
  json["id"] = group.id;
  json["tensors"] = nlohmann::ordered_json::array();
  for (const GroupTensor& tensor : group.tensors) {
    json["tensors"].push_back({{"output", tensor.output},
                               {"id", tensor.id},
                               {"type", std::string(to_string(tensor.type))},
                               {"shape", tensor.shape},
                               {"dims_order", tensor.column_major ? "col-major" : "row-major"}});
  }
  return json;
}

nlohmann::ordered_json found_json(const Results& found) {
  nlohmann::ordered_json json;
  json["detections"] = nlohmann::ordered_json::array();
  for (const Detection& d : found.detections) {
    json["detections"].push_back({{"label", d.label},
                                  {"label_id", d.label_id},
                                  {"confidence", d.confidence},
                                  {"box", {d.x_min, d.y_min, d.x_max, d.y_max}}});
  }
  json["classifications"] = nlohmann::ordered_json::array();
  for (const Classification& c : found.classifications) {
    json["classifications"].push_back({{"attribute", c.attribute},
                                       {"label", c.label},
                                       {"label_id", c.label_id},
                                       {"confidence", c.confidence}});
  }
  json["keypoints"] = found.keypoints.size();
  json["segmentations"] = found.segmentations.size();
  json["tensors"] = found.tensors.size();
  return json;
}

std::string found_text(const Results& found) {
  return fmt::format("{} objects, {} classes, {} sets of points, {} maps, {} tensors",
                     found.detections.size(), found.classifications.size(), found.keypoints.size(),
                     found.segmentations.size(), found.tensors.size());
}

}  // namespace

ModelProc described(const Inspection& inspection) {
  const ModelReading& reading = inspection.reading;
  ModelProc model_proc;
  for (const BoundInput& input : reading.inputs) {
    model_proc.inputs.push_back(input.preproc);
    if (inspection.guessed_side > 0 && input.index == reading.picture.index)
      model_proc.inputs.back().shape = reading.model->inputs()[input.index].value->desc().shape;
  }
  if (reading.choice) {
    model_proc.outputs = reading.choice->configs;
  } else if (const Alternative* likeliest = inspection.likeliest()) {
    DecoderConfig& config = model_proc.outputs.emplace_back();
    config.converter = likeliest->converter;
    config.method = likeliest->method;
    config.labels = reading.labels;
    if (reading.prepared.empty() && model_proc.inputs.size() == 1)
      model_proc.inputs = {assume_pictures(config, *reading.model,
                                           *reading.model->inputs()[reading.picture.index].value)
                               .input};
  }
  return model_proc;
}

std::string to_text(const Inspection& inspection) {
  const ModelReading& reading = inspection.reading;
  std::string text = line("model", inspection.path);
  text += ports_text("inputs", reading.input_ports);
  text += ports_text("outputs", reading.output_ports);
  text += line("pictures", fmt::format("{}{}", to_text(reading.picture.preproc),
                                       reading.prepared.empty() ? "" : ", " + reading.prepared));
  if (reading.choice) {
    for (const DecoderConfig& config : reading.choice->configs) {
      text += line("results", "read by " + config.converter);
      text += line("labels", labels_text(config.labels));
    }
    text += line("because", reading.choice->reason);
  } else {
    text += line("results", reading.choice.error().message());
  }
  text += line("tensors", tensors_text(inspection.tensors));
  size_t told = 0;
  for (const Alternative& alternative : inspection.alternatives) {
    if (reading.choice || !alternative.fits || told == kAlternativesTold) break;
    text += line(
        told++ == 0 ? "may be" : "",
        alternative.line + (alternative.reason.empty() ? "" : " (" + alternative.reason + ")"));
  }
  for (const std::string& warning : inspection.warnings) text += line("warning", warning);
  if (!inspection.picture.empty()) {
    text += line("found", found_text(inspection.found));
    text += line("picture", inspection.picture);
  }
  return text;
}

std::string to_json(const Inspection& inspection) {
  const ModelReading& reading = inspection.reading;
  nlohmann::ordered_json json;
  json["model"] = inspection.path;
  json["inputs"] = ports_json(reading.input_ports);
  json["outputs"] = ports_json(reading.output_ports);
  json["tensor_group"] = tensors_json(inspection.tensors);
  json["prepared"] = reading.prepared;
  json["decided"] = !inspection.needs_a_decision();
  json["reason"] = reading.choice ? reading.choice->reason : reading.choice.error().message();
  json["descriptor"] = nlohmann::ordered_json::parse(to_text(described(inspection)));
  json["alternatives"] = nlohmann::ordered_json::array();
  for (const Alternative& alternative : inspection.alternatives) {
    if (!alternative.fits) break;
    json["alternatives"].push_back(
        {{"converter", alternative.converter}, {"needs", alternative.reason}});
  }
  json["warnings"] = inspection.warnings;
  if (!inspection.picture.empty()) {
    json["found"] = found_json(inspection.found);
    json["picture"] = inspection.picture;
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace het
