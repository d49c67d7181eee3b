#include "inference/decoders/readings/see.h"

namespace het {

/// Lanes and line segments, whose outputs no other network has.
void see_lines(const GraphView& graph) {
  const auto called = [&](std::string_view name) {
    for (const size_t index : graph.selected) {
      if (graph.outputs[index].name.find(name) != std::string::npos) return true;
    }
    return false;
  };
  if (graph.selected.size() == 3 && fits(graph, "line_segments"))
    graph.add("line_segments", "the outputs are places, scores and displacements of two ends");
  if (called("pred_curves") && fits(graph, "lane_curves")) {
    Reading& reading = graph.add("lane_curves", "the outputs have LSTR's names");
    for (const size_t index : graph.selected) {
      const std::string& name = graph.outputs[index].name;
      if (name == "pred_logits" || name == "pred_curves")
        reading.config.layer_names.push_back(name);
    }
  }
  const InputSize input = picture_input_size(graph.inputs);
  if (graph.selected.size() == 1 && input.width == 800 && input.height == 288 &&
      fits(graph, "lane_rows"))
    graph.add("lane_rows", "the output has cells of 56 or 18 rows of a picture of 800x288");
}

}  // namespace het
