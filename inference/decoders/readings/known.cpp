#include <fmt/format.h>

#include <algorithm>

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

bool is_known(const KnownReading& known, const GraphView& graph) {
  if (known.outputs.size() != graph.selected.size()) return false;
  const InputSize input = picture_input_size(graph.inputs);
  if (!known.picture.empty() &&
      (known.picture[0] != input.width || known.picture[1] != input.height))
    return false;
  return std::ranges::all_of(graph.selected, [&](size_t index) {
    const Port& port = graph.outputs[index];
    const auto found = known.outputs.find(port.name);
    return found != known.outputs.end() && is_output(port, found->second);
  });
}

}  // namespace

void see_known_names(const GraphView& graph) {
  for (const KnownReading& known : known_models().readings) {
    if (!is_known(known, graph)) continue;
    Reading reading{known.configs.front(),
                    fmt::format("the outputs have the names of {}", known.source)};
    reading.others.assign(known.configs.begin() + 1, known.configs.end());
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
