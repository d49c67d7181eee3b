#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/readings/see.h"

namespace het {
namespace {

/// Classes of the data sets whose published classifiers are exported as they were trained: ImageNet
/// (alone and with a background), ImageNet-21k (as published and without 2 empty classes) and
/// Places365. Vectors of other lengths may as well be embeddings or coordinates.
constexpr int64_t kKnownClassCounts[] = {1000, 1001, 21843, 21841, 365};

/// Operators that a classifier's logits come from: sums of products, and means over the picture.
constexpr std::string_view kLogitMakers[] = {
    "Gemm",
    "MatMul",
    "Add",
    "Conv",
    "GlobalAveragePool",
    "AveragePool",
    "ReduceMean",
    "BatchNormalization",
    "DequantizeLinear",
    "FakeQuantize",
};

bool is_known_classifier(const Model& model, const Port& port, int64_t classes) {
  return std::ranges::find(kKnownClassCounts, classes) != std::end(kKnownClassCounts) &&
         std::ranges::any_of(
             kLogitMakers, [&](std::string_view maker) { return is_made_by(model, port, maker); });
}

}  // namespace

/// Vectors that tell objects apart: by the names that Open Model Zoo gives them, or by their
/// length, which the graph makes 1.
void see_embedding(const GraphView& graph) {
  if (graph.selected.size() != 1 || !class_count(graph.port(0))) return;
  const Port& port = graph.port(0);
  const bool named = port.name.find("embedding") != std::string::npos;
  const bool unit = is_made_by(graph.model, port, "LpNormalization") ||
                    is_made_by(graph.model, port, "NormalizeL2");
  if (named || unit)
    graph.add("embedding", fmt::format("output '{}' is {}", port.name,
                                       named ? "called an embedding" : "a vector of length 1"));
}

void see_classes(const GraphView& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  const std::optional<int64_t> classes = class_count(port);
  if (!classes) return;
  if (is_made_by(graph.model, port, "Softmax")) {
    graph.add("label", fmt::format("output '{}' is a softmax over {} classes", port.name, *classes))
        .config.method = "max";
    return;
  }
  const bool has_labels = *classes == static_cast<int64_t>(graph.entry.labels.size());
  const std::string values =
      has_labels
          ? fmt::format("output '{}' has one value for each of the {} labels", port.name, *classes)
          : fmt::format("output '{}' has {} values", port.name, *classes);
  if (is_made_by(graph.model, port, "Sigmoid")) {
    // Every class by itself: a text of all that are there, which needs labels.
    if (has_labels) graph.add("label", values + " by a sigmoid").config.method = "multi";
  } else if (is_made_by(graph.model, port, "LogSoftmax")) {
    graph.add("label", values + " by a logarithm of a softmax").config.method = "softmax";
  } else if (has_labels) {
    graph.add("label", values + ", a softmax is applied").config.method = "softmax";
  } else if (is_known_classifier(graph.model, port, *classes)) {
    graph
        .add("label", values +
                          ", as many as a well-known data set has classes, and the graph ends "
                          "without a softmax: one is applied")
        .config.method = "softmax";
  }
}

}  // namespace het
