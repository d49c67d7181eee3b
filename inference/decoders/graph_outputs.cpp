#include "inference/decoders/graph_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "inference/decoders/bounded_values.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

/// What the recognisers look at.
struct Graph {
  const DecoderConfig& entry;
  const Model& model;
  const std::vector<Port>& inputs;
  const std::vector<Port>& outputs;
  const std::vector<size_t>& selected;
  std::vector<Reading>& readings;

  const Port& port(size_t i) const { return outputs[selected[i]]; }
  Reading& add(std::string converter, std::string reason) const {
    Reading& reading = readings.emplace_back(Reading{entry, std::move(reason)});
    reading.config.converter = std::move(converter);
    return reading;
  }
};

/// The node that makes an output, seen through operators that only change its shape or type.
const Node* maker_of(const Model& model, const std::string& output) {
  const auto found = std::find_if(model.outputs().begin(), model.outputs().end(),
                                  [&](const ModelOutput& o) { return o.name == output; });
  if (found == model.outputs().end()) return nullptr;
  const Node* node = found->value->producer();
  while (node != nullptr) {
    const std::string& type = node->op_type();
    const bool transparent = type == "Reshape" || type == "Flatten" || type == "Squeeze" ||
                             type == "Unsqueeze" || type == "Identity" || type == "Cast";
    if (!transparent || node->input(0) == nullptr) return node;
    node = node->input(0)->producer();
  }
  return nullptr;
}

bool is_made_by(const Model& model, const Port& port, std::string_view op_type) {
  const Node* maker = maker_of(model, port.name);
  return maker != nullptr && maker->op_type() == op_type;
}

bool has_op(const Model& model, std::string_view op_type) {
  return std::any_of(model.nodes().begin(), model.nodes().end(),
                     [&](const auto& node) { return node->op_type() == op_type; });
}

/// True when `decoder` can be made for the outputs: for converters whose shapes no other model has.
bool fits(const Graph& graph, const std::string& converter) {
  DecoderConfig config = graph.entry;
  config.converter = converter;
  return create_decoder(config, graph.inputs, graph.outputs).has_value();
}

/// OpenVINO's DetectionOutput, by the operator or by the shape.
void see_detection_output(const Graph& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  if (is_made_by(graph.model, port, "DetectionOutput")) {
    graph.add("detection_output", fmt::format("output '{}' is made by DetectionOutput", port.name));
  } else if (matches(port.desc.shape, {1, 1, kUnknownDim, 7})) {
    graph.add("detection_output",
              fmt::format("output '{}' has the shape of a DetectionOutput", port.name));
  }
}

/// OpenVINO's RegionYolo: its attributes are the anchors, the masks and the number of classes.
void see_region_yolo(const Graph& graph) {
  std::vector<std::pair<int64_t, std::vector<int64_t>>> masks;
  DecoderConfig config = graph.entry;
  bool softmax = false;
  for (size_t index : graph.selected) {
    const Port& port = graph.outputs[index];
    const Node* maker = maker_of(graph.model, port.name);
    if (maker == nullptr || maker->op_type() != "RegionYolo" || !is_static(port.desc.shape)) return;
    const Attributes& attributes = maker->attributes();
    config.anchors = attributes.get_floats("anchors");
    config.classes =
        static_cast<int>(std::clamp<int64_t>(attributes.get_int("classes", 0), 1, 1 << 16));
    softmax = attributes.get_int("do_softmax", 1) != 0;
    masks.emplace_back(element_count(port.desc.shape), attributes.get_ints("mask"));
  }
  if (masks.empty() || config.anchors.empty()) return;
  std::sort(masks.begin(), masks.end());
  for (const auto& [size, mask] : masks) {
    for (int64_t anchor : mask)
      config.masks.push_back(static_cast<int>(std::clamp<int64_t>(anchor, -1, 1 << 16)));
  }
  if (softmax) config.masks.clear();  // version 2 uses all anchors and has one output
  Reading& reading =
      graph.add(softmax ? "yolo_v2" : "yolo_v3", "the outputs are made by RegionYolo");
  const std::string converter = reading.config.converter;
  reading.config = config;
  reading.config.converter = converter;
}

/// Boxes of five values and one label for each, called labels, as the models of MMDetection and of
/// Open Model Zoo's ATSS and FCOS have them.
void see_boxes_and_labels(const Graph& graph) {
  if (graph.selected.size() != 2 || graph.outputs.size() != 2) return;
  const Port& boxes = graph.port(graph.port(0).name == "labels" ? 1 : 0);
  const Port& labels = graph.port(graph.port(0).name == "labels" ? 0 : 1);
  if (labels.name != "labels" || boxes.desc.shape.empty() || boxes.desc.shape.back() != 5 ||
      !fits(graph, "boxes_labels"))
    return;
  graph.add("boxes_labels", "the outputs are boxes of 5 values and labels");
}

/// Boxes [batch, N, 4] with one row of class values each: SSD's corners with the background first,
/// or the queries of a DETR.
void see_boxes_and_scores(const Graph& graph) {
  if (graph.selected.size() != 2) return;
  const Shape box_shape{kUnknownDim, kUnknownDim, 4};
  for (size_t i = 0; i < 2; ++i) {
    const Port& boxes = graph.port(i);
    const Port& scores = graph.port(1 - i);
    const bool named = scores.name.find("box") != std::string::npos;
    if (!matches(boxes.desc.shape, box_shape) || named ||
        !matches(scores.desc.shape, {kUnknownDim, dimension(boxes, 1), kUnknownDim}) ||
        (i == 1 && matches(scores.desc.shape, box_shape) && !graph.readings.empty()))
      continue;
    const Node* maker = maker_of(graph.model, boxes.name);
    const auto made_by = [&](size_t input, std::string_view type) {
      const Value* value = maker->input(input);
      return value != nullptr && value->producer() != nullptr &&
             value->producer()->op_type() == type;
    };
    const bool corners = maker != nullptr && maker->op_type() == "Concat" &&
                         maker->inputs().size() == 2 && made_by(0, "Sub") && made_by(1, "Add");
    if (is_made_by(graph.model, scores, "Softmax") && corners) {
      Reading& reading = graph.add(
          "boxes_scores", fmt::format("output '{}' is a softmax over classes, the first of them "
                                      "the background, and '{}' has centre -+ half of the size",
                                      scores.name, boxes.name));
      reading.config.box_format = "xyxy";
      reading.config.background_class = 0;
      return;
    }
    const std::string reason =
        fmt::format("'{}' are boxes and '{}' one row for each", boxes.name, scores.name);
    graph.add("boxes_scores", reason);
    graph.add("rtdetr", reason);
    graph.add("rfdetr", reason);
    return;
  }
}

/// Converters whose outputs have shapes of their own.
void see_structures(const Graph& graph) {
  for (const char* converter : {"yunet", "nanodet"}) {
    if (graph.selected.size() < 6 || !fits(graph, converter)) continue;
    graph.add(converter, "the outputs are its feature maps for each stride");
  }
  if (graph.selected.size() == 3 && fits(graph, "rtdetr"))
    graph.add("rtdetr", "the outputs are labels, boxes and scores");
  if (graph.selected.size() == 4 && fits(graph, "centerface"))
    graph.add("centerface", "the outputs are a heat map, sizes, offsets and five points");
  if (graph.selected.size() >= 3 && fits(graph, "torchvision"))
    graph.add("torchvision", "the outputs are boxes, labels and scores of one picture");
  if ((graph.selected.size() == 2 || graph.selected.size() == 3) && fits(graph, "mask_rcnn"))
    graph.add("mask_rcnn", "the outputs are boxes with masks");
}

/// Number of classes of an output [classes], or with the batch in front and any dimensions of 1:
/// [batch, classes], [batch, classes, 1, 1] ..., or nothing.
std::optional<int64_t> class_count(const Port& port) {
  const Shape& shape = port.desc.shape;
  if (shape.empty() || !is_float(port.desc.type)) return std::nullopt;
  int64_t classes = 1;
  for (size_t i = shape.size() > 1 ? 1 : 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (shape[i] < 2 || classes != 1) return std::nullopt;
    classes = shape[i];
  }
  return classes > 1 ? std::optional(classes) : std::nullopt;
}

/// FastestDet's map: objectness by a sigmoid, boxes, and a softmax over classes in one output.
void see_fastestdet(const Graph& graph) {
  if (graph.selected.size() != 1 || !fits(graph, "fastestdet")) return;
  const Node* maker = maker_of(graph.model, graph.port(0).name);
  if (maker == nullptr || maker->op_type() != "Concat" || maker->inputs().size() != 3) return;
  const auto made_by = [&](size_t input, std::string_view type) {
    const Node* node = maker->input(input)->producer();
    while (node != nullptr && (node->op_type() == "Transpose" || node->op_type() == "Reshape"))
      node = node->input(0)->producer();
    return node != nullptr && node->op_type() == type;
  };
  if (made_by(0, "Sigmoid") && made_by(2, "Softmax"))
    graph.add("fastestdet",
              fmt::format("output '{}' joins a sigmoid, boxes and a softmax", graph.port(0).name));
}

/// A class, or scores of classes, for each pixel of the input picture.
void see_pixels(const Graph& graph) {
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
void see_anomalies(const Graph& graph) {
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

/// Vectors that tell objects apart: by the names that Open Model Zoo gives them, or by their
/// length, which the graph makes 1.
void see_embedding(const Graph& graph) {
  if (graph.selected.size() != 1 || !class_count(graph.port(0))) return;
  const Port& port = graph.port(0);
  const bool named = port.name.find("embedding") != std::string::npos;
  const bool unit = is_made_by(graph.model, port, "LpNormalization") ||
                    is_made_by(graph.model, port, "NormalizeL2");
  if (named || unit)
    graph.add("embedding", fmt::format("output '{}' is {}", port.name,
                                       named ? "called an embedding" : "a vector of length 1"));
}

/// Decoded rows and columns of YOLO, by the number of the input picture's cells.
void see_yolo_rows(const Graph& graph) {
  const int64_t cells = cell_count(picture_input_size(graph.inputs));
  std::vector<size_t> rows;
  bool prototypes = false;
  for (size_t index : graph.selected) {
    const size_t rank = graph.outputs[index].desc.shape.size();
    if (rank == 3) rows.push_back(index);
    prototypes = prototypes || rank == 4;
  }
  if (cells == kUnknownDim || rows.size() != 1) return;
  const Port& port = graph.outputs[rows.front()];
  const Shape& shape = port.desc.shape;
  const std::string reason =
      fmt::format("output '{}' {} has {} objects for each of the {} cells of the input picture",
                  port.name, to_string(port.desc), shape[1] == 3 * cells ? 3 : 1, cells);
  // Values besides the box that are no scores (points, angles) have no bound.
  const auto only_scores = [&](size_t axis) -> std::optional<bool> {
    const auto output = std::ranges::find(graph.model.outputs(), port.name, &ModelOutput::name);
    if (output == graph.model.outputs().end()) return std::nullopt;
    const auto tail = bounded_tail(*output->value, axis);
    return tail ? std::optional(*tail >= shape[axis] - 4) : std::nullopt;
  };
  if (graph.selected.size() == 1 && shape[1] == 3 * cells && shape[2] > 5) {
    if (only_scores(2).value_or(true)) graph.add("yolo_v5", reason);
  } else if (graph.selected.size() == 1 && shape[1] == cells && shape[2] > 5) {
    // What is decoded in the graph needs an exponential there.
    const bool decoded = has_op(graph.model, "Exp");
    if (only_scores(2).value_or(true))
      graph.add(decoded ? "yolo_v7" : "yolo_x",
                reason + (decoded ? ", decoded" : ", with no exponential in the graph"));
  } else if (shape[2] == cells && shape[1] > 4) {
    const std::optional<bool> plain = only_scores(1);
    const bool divides = shape[1] > 5 && (shape[1] - 5) % 3 == 0;
    if (prototypes) {
      graph.add("yolo_v8_seg", reason + ", and there are mask prototypes");
    } else if (has_op(graph.model, "Cos")) {
      graph.add("yolo_v8_obb", reason + ", and angles are computed");
    } else {
      if (plain.value_or(true)) graph.add("yolo_v8", reason);
      if (!plain.value_or(shape[1] == 84) && divides) graph.add("yolo_v8_pose", reason);
    }
  } else if (shape[1] > 0 && shape[1] <= 1000 && shape[2] == 6 && graph.selected.size() == 1) {
    graph.add("yolo_v10", fmt::format("output '{}' {} has rows of box, score and label", port.name,
                                      to_string(port.desc)));
  }
}

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

void see_classes(const Graph& graph) {
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

}  // namespace

std::vector<Reading> readings_of_graph(const DecoderConfig& entry, const Model& model,
                                       const std::vector<Port>& inputs,
                                       const std::vector<Port>& outputs,
                                       const std::vector<size_t>& selected) {
  std::vector<Reading> readings;
  const Graph graph{entry, model, inputs, outputs, selected, readings};
  // The surest signs first: what an operator or a set of shapes says alone decides.
  for (const auto see : {see_detection_output, see_region_yolo, see_boxes_and_labels,
                         see_structures, see_yolo_rows, see_boxes_and_scores, see_fastestdet,
                         see_anomalies, see_pixels, see_embedding, see_classes}) {
    see(graph);
    if (!readings.empty()) break;
  }
  return readings;
}

}  // namespace het
