#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/bounded_values.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/readings/see.h"

namespace het {
namespace {

constexpr int64_t kFirstDetrQueries = 125;

}  // namespace

/// OpenVINO's DetectionOutput, by the operator or by the shape.
void see_detection_output(const GraphView& graph) {
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
void see_region_yolo(const GraphView& graph) {
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
void see_boxes_and_labels(const GraphView& graph) {
  if (graph.selected.size() != 2) return;
  const Port& boxes = graph.port(graph.port(0).name == "labels" ? 1 : 0);
  const Port& labels = graph.port(graph.port(0).name == "labels" ? 0 : 1);
  if (labels.name != "labels" || boxes.desc.shape.empty() || boxes.desc.shape.back() != 5 ||
      !fits(graph, "boxes_labels"))
    return;
  graph.add("boxes_labels", "the outputs are boxes of 5 values and labels");
}

/// Boxes [batch, N, 4] with one row of class values each: SSD's corners with the background first,
/// or the queries of a DETR.
void see_boxes_and_scores(const GraphView& graph) {
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
    // The queries of a DETR: boxes by a sigmoid, logits of classes. The first of them (DETR, YOLOS,
    // Table Transformer) have 100 or so and a class that is none, under a softmax; those after them
    // 300 and a sigmoid for each class.
    if (is_made_by(graph.model, boxes, "Sigmoid") && !is_made_by(graph.model, scores, "Softmax") &&
        !is_made_by(graph.model, scores, "Sigmoid")) {
      const int64_t queries = dimension(boxes, 1);
      const bool softmax = queries != kUnknownDim && queries <= kFirstDetrQueries;
      graph.add("rfdetr", fmt::format("'{}' are boxes by a sigmoid and '{}' the logits of their "
                                      "classes, as a DETR has them, under a {}",
                                      boxes.name, scores.name, softmax ? "softmax" : "sigmoid"));
      graph.readings.back().config.class_softmax = softmax;
      return;
    }
    const std::string reason =
        fmt::format("'{}' are boxes and '{}' one row for each", boxes.name, scores.name);
    // YOLO-NAS, DAMO-YOLO and others without anchors: corners in pixels for each cell.
    if (is_made_by(graph.model, scores, "Sigmoid") &&
        dimension(boxes, 1) == cell_count(picture_input_size(graph.inputs))) {
      Reading& reading = graph.add("boxes_scores", reason + ", as many as the input has cells");
      reading.config.box_format = "xyxy";
      reading.config.unit = "pixels";
      return;
    }
    graph.add("boxes_scores", reason);
    graph.add("rtdetr", reason);
    graph.add("rfdetr", reason);
    return;
  }
}

/// Objects that were suppressed in the graph, in the forms of TensorFlow, PaddleDetection, YOLOv7's
/// export and of ONNX' operator.
void see_suppressed(const GraphView& graph) {
  const auto called = [&](std::string_view part) {
    return std::ranges::any_of(graph.selected, [&](size_t index) {
      return graph.outputs[index].name.find(part) != std::string::npos;
    });
  };
  const auto has_count = [&] {
    return std::ranges::any_of(
        graph.selected, [&](size_t index) { return graph.outputs[index].desc.shape.size() == 1; });
  };
  const bool tensorflow = called("detection_boxes") || called("TFLite_Detection") ||
                          (graph.selected.size() == 4 && has_count());
  if (tensorflow && fits(graph, "tf_detection")) {
    graph.add("tf_detection", "the outputs are boxes, classes, scores and their number");
  } else if (graph.selected.size() == 2 && has_count() && fits(graph, "paddle_detection")) {
    graph.add("paddle_detection", "the outputs are rows of label, score and box, and their number");
  } else if (graph.selected.size() == 1 && fits(graph, "yolo_v7_end2end") &&
             has_op(graph.model, "NonMaxSuppression")) {
    graph.add("yolo_v7_end2end",
              "the output has rows of picture, box, label and score, and the "
              "graph suppresses");
  } else if (graph.selected.size() == 3 && fits(graph, "nms_indices")) {
    graph.add("nms_indices", "the outputs are what a NonMaxSuppression takes and gives");
  }
}

/// Converters whose outputs have shapes of their own.
void see_structures(const GraphView& graph) {
  for (const char* converter : {"yunet", "nanodet"}) {
    if (graph.selected.size() < 6 || !fits(graph, converter)) continue;
    graph.add(converter, "the outputs are its feature maps for each stride");
    const bool is_nanodet = graph.port(0).name.find("_stride_") != std::string::npos;
    if (graph.selected.size() == 8 && !is_nanodet)
      graph.readings.back().config.strides = {8, 16, 32, 64};
  }
  const InputSize input = picture_input_size(graph.inputs);
  // Scores at the end of a row are those of YOLO with a fourth stride.
  const auto ends_with_scores = [&] {
    const auto output =
        std::ranges::find(graph.model.outputs(), graph.port(0).name, &ModelOutput::name);
    return output != graph.model.outputs().end() && bounded_tail(*output->value, 2).value_or(0) > 0;
  };
  if (graph.selected.size() == 1 && input.width > 0 && fits(graph, "nanodet_plus") &&
      !ends_with_scores())
    graph.add("nanodet_plus", "the output has a row for each cell of four strides");
  const auto is_map_of = [&](size_t i, int64_t stride) {
    const Shape& shape = graph.port(i).desc.shape;
    return shape.size() >= 3 && shape[shape.size() - 3] * stride == input.height &&
           shape[shape.size() - 2] * stride == input.width;
  };
  if (graph.selected.size() == 2 && is_map_of(0, 16) && is_map_of(1, 32) &&
      fits(graph, "yolo_fastestv2"))
    graph.add("yolo_fastestv2", "the outputs are maps of strides 16 and 32, channels last");
  if (graph.selected.size() == 3 && fits(graph, "rtdetr")) {
    graph.add("rtdetr", "the outputs are labels, boxes and scores");
    const bool is_ssd = std::ranges::any_of(graph.selected, [&](size_t index) {
      return graph.outputs[index].name == "bboxes";  // of ONNX' model zoo
    });
    if (is_ssd) graph.readings.back().config.unit = "relative";
  }
  if (graph.selected.size() == 4 && fits(graph, "centerface"))
    graph.add("centerface", "the outputs are a heat map, sizes, offsets and five points");
  if (graph.selected.size() >= 3 && fits(graph, "torchvision"))
    graph.add("torchvision", "the outputs are boxes, labels and scores of one picture");
  if ((graph.selected.size() == 2 || graph.selected.size() == 3) && fits(graph, "mask_rcnn"))
    graph.add("mask_rcnn", "the outputs are boxes with masks");
}

/// FastestDet's map: objectness by a sigmoid, boxes, and a softmax over classes in one output.
void see_fastestdet(const GraphView& graph) {
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

/// Decoded rows and columns of YOLO, by the number of the input picture's cells.
void see_yolo_rows(const GraphView& graph) {
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

}  // namespace het
