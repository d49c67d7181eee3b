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

/// Lengths of embeddings; no data set of faces, persons or things has as many classes.
constexpr int64_t kEmbeddingLengths[] = {128, 256, 384, 512, 768, 1024, 1280, 2048};

bool is_known_classifier(const Model& model, const Port& port, int64_t classes) {
  return std::ranges::find(kKnownClassCounts, classes) != std::end(kKnownClassCounts) &&
         std::ranges::any_of(
             kLogitMakers, [&](std::string_view maker) { return is_made_by(model, port, maker); });
}

}  // namespace

/// Scores for each step of a line of text, where there are as many labels as it has characters.
void see_text(const GraphView& graph) {
  if (graph.selected.size() != 1 || graph.entry.labels.empty()) return;
  const Port& port = graph.port(0);
  const Shape& shape = port.desc.shape;
  if (shape.size() < 2 || shape.size() > 3 || !fits(graph, "paddle_ocr_ctc")) return;
  const auto labels = static_cast<int64_t>(graph.entry.labels.size());
  if (shape.size() == 2 && shape[0] == picture_batch(graph.inputs)) return;
  graph.add("paddle_ocr_ctc", fmt::format("output '{}' {} has scores of the {} labels, and of no "
                                          "character, for each step",
                                          port.name, to_string(port.desc), labels));
}

/// Vectors that tell objects apart: by the names that Open Model Zoo gives them, by their length,
/// which the graph makes 1, or as networks of faces and persons end.
void see_embedding(const GraphView& graph) {
  if (graph.selected.size() != 1 || !graph.entry.labels.empty()) return;
  const Port& port = graph.port(0);
  const std::optional<int64_t> length = vector_length(port, graph.inputs);
  if (!length) return;
  const auto add = [&](std::string_view what) {
    graph.add("embedding", fmt::format("output '{}' is {}", port.name, what));
  };
  const auto made_by = [&](std::string_view type) { return is_made_by(graph.model, port, type); };
  const InputSize input = picture_input_size(graph.inputs);
  const bool is_face = input.width == input.height && (input.width == 112 || input.width == 160);
  const bool is_person = input.height == 2 * input.width && input.width >= 64;
  const bool is_usual =
      std::ranges::find(kEmbeddingLengths, *length) != std::end(kEmbeddingLengths);
  if (port.name.find("embedding") != std::string::npos) {
    add("called an embedding");
  } else if (made_by("LpNormalization") || made_by("NormalizeL2")) {
    add("a vector of length 1");
  } else if (made_by("BatchNormalization") && *length >= kEmbeddingLengths[0]) {
    add("a vector behind a normalisation of batches, as no classifier ends");
  } else if (is_usual && (is_face || is_person) && !made_by("Softmax") && !made_by("Sigmoid")) {
    add(fmt::format("a vector of {} values, and the picture has the size that networks of {} take",
                    *length, is_face ? "faces" : "persons"));
  }
}

void see_classes(const GraphView& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  const std::optional<int64_t> classes = vector_length(port, graph.inputs);
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
