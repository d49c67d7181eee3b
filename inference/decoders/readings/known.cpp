#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "inference/decoders/descriptors/known_models.h"
#include "inference/decoders/readings/see.h"

namespace het {
namespace {

bool is_output(const Port& port, const Shape& wanted) {
  const Shape& shape = port.desc.shape;
  if (wanted.size() > 1) return matches(shape, wanted);
  if (!is_static(shape) || shape.empty()) return false;
  const auto first = shape.size() > 1 ? shape.begin() + 1 : shape.begin();
  return element_count(std::span<const int64_t>(first, shape.end())) == wanted.front();
}

/// Names of the model's outputs by those of the list, which with a star stand for any; empty where
/// they are not those of the published model.
std::map<std::string, std::string> names_of(const KnownReading& known, const GraphView& graph) {
  std::map<std::string, std::string> names;
  if (known.outputs.size() != graph.selected.size()) return names;
  const InputSize input = picture_input_size(graph.inputs);
  if (!known.picture.empty() &&
      (known.picture[0] != input.width || known.picture[1] != input.height))
    return names;
  for (const size_t index : graph.selected) {
    const Port& port = graph.outputs[index];
    const auto found = std::ranges::find_if(known.outputs, [&](const auto& output) {
      const bool is_named = output.first.starts_with('*') || output.first == port.name;
      return is_named && !names.contains(output.first) && is_output(port, output.second);
    });
    if (found == known.outputs.end()) return {};
    names[found->first] = port.name;
  }
  return names;
}

DecoderConfig renamed(DecoderConfig config, const std::map<std::string, std::string>& names) {
  for (std::string& layer : config.layer_names) {
    if (const auto name = names.find(layer); name != names.end()) layer = name->second;
  }
  return config;
}

}  // namespace

void see_known_names(const GraphView& graph) {
  for (const KnownReading& known : known_models().readings) {
    const std::map<std::string, std::string> names = names_of(known, graph);
    if (names.empty()) continue;
    const bool by_names =
        std::ranges::none_of(names, [](const auto& name) { return name.first.starts_with('*'); });
    Reading reading{
        renamed(known.configs.front(), names),
        fmt::format("the outputs have the {} of {}", by_names ? "names" : "shapes", known.source)};
    for (size_t i = 1; i < known.configs.size(); ++i)
      reading.others.push_back(renamed(known.configs[i], names));
    reading.plain_pictures = !known.pictures;
    reading.pictures = known.pictures;
    if (reading.others.empty()) {
      reading.config.threshold = graph.entry.threshold;
      if (!graph.entry.labels.empty()) reading.config.labels = graph.entry.labels;
    }
    graph.readings.push_back(std::move(reading));
    return;
  }
}

}  // namespace het
