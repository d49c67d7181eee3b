#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/readings/see.h"

namespace het {

/// A class, or scores of classes, for each pixel of the input picture.
void see_pixels(const GraphView& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  const InputSize input = picture_input_size(graph.inputs);
  const Shape& shape = port.desc.shape;
  if (input.width <= 1 || input.height <= 1 || shape.size() < 3) return;
  const auto is_whole = [&](size_t rows, size_t columns) {
    return shape[rows] == input.height && shape[columns] == input.width;
  };
  const size_t rank = shape.size();
  const bool ids = !is_float(port.desc.type) || is_made_by(graph.model, port, "ArgMax");
  if (ids && is_whole(rank - 2, rank - 1)) {
    graph.add("semantic_segmentation",
              fmt::format("output '{}' has a class for each pixel", port.name));
    return;
  }
  if (rank != 4) return;
  const bool last = !is_whole(2, 3) && is_whole(1, 2);
  const int64_t classes = last ? shape[3] : is_whole(2, 3) ? shape[1] : 0;
  // Three may be a picture's channels.
  const bool scores = classes > 3 || (classes > 1 && is_made_by(graph.model, port, "Softmax"));
  if (!scores) return;
  Reading& reading = graph.add(
      "semantic_segmentation",
      fmt::format("output '{}' has scores of {} classes for each pixel", port.name, classes));
  reading.config.layout = last ? "NHWC" : "NCHW";
}

/// anomalib's outputs by their names: scores are normalised in the graph, from 0.5 on a picture or
/// a place is abnormal.
void see_anomalies(const GraphView& graph) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(graph.selected,
                               [&](size_t i) { return graph.outputs[i].name == name; });
  };
  if (!has("pred_score") || !has("anomaly_map")) return;
  Reading& reading = graph.add("AnomalyDetection", "the outputs have anomalib's names");
  reading.config.layer_names = {"anomaly_map", "pred_score"};
  reading.config.image_threshold = 0.5f;
  reading.config.pixel_threshold = 0.5f;
  reading.config.normalization_scale = 1.0f;
  reading.config.layout = "NCHW";
}

}  // namespace het
