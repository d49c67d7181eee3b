#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "inference/decoders/bounded_values.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/readings/see.h"

namespace het {
namespace {

bool is_type(const Node* node, std::initializer_list<std::string_view> types) {
  return node != nullptr && std::ranges::find(types, node->op_type()) != types.end();
}

/// The node that makes the values of rows, seen through what turns and joins them: of several
/// levels that of the first.
const Node* maker_of_rows(const GraphView& graph, const Port& port) {
  const Node* node = maker_of(graph.model, port.name);
  for (int steps = 0; steps < 64 && is_type(node, {"Transpose", "Concat", "Reshape", "Squeeze",
                                                   "Unsqueeze", "Flatten", "Cast", "Identity"});
       ++steps)
    node = node->input(0) == nullptr ? nullptr : node->input(0)->producer();
  return node;
}

/// True where a network's last layer makes the rows, without activation or arithmetic; a bias may
/// follow it.
bool are_raw(const GraphView& graph, const Port& port) {
  const Node* node = maker_of_rows(graph, port);
  if (is_type(node, {"Add"})) {
    const Value* summed = node->input(0);
    if (summed != nullptr && summed->is_constant()) summed = node->input(1);
    node = summed == nullptr ? nullptr : summed->producer();
    return is_type(node, {"Conv", "MatMul"});
  }
  return is_type(node, {"Conv", "MatMul", "Gemm", "BatchNormalization", "DequantizeLinear"});
}

int64_t columns_of_rows(const Port& port) {
  return port.desc.shape.empty() ? kUnknownDim : port.desc.shape.back();
}

/// The first selected output with so many columns.
const Port* port_with_columns(const GraphView& graph, int64_t columns) {
  for (size_t index : graph.selected) {
    if (columns_of_rows(graph.outputs[index]) == columns) return &graph.outputs[index];
  }
  return nullptr;
}

void see_scrfd(const GraphView& graph) {
  const size_t count = graph.selected.size();
  if ((count != 6 && count != 9 && count != 10 && count != 15) || !fits(graph, "scrfd")) return;
  Reading& reading =
      graph.add("scrfd", fmt::format("the outputs are scores and distances{} of {} strides",
                                     count % 2 != 0 ? ", points" : "", count <= 9 ? 3 : 5));
  const Port* const scores = port_with_columns(graph, 1);
  reading.config.sigmoid_activation = scores != nullptr && are_raw(graph, *scores);
}

/// Rows for prior boxes, which are as many as those of a known network. Boxes that the graph
/// decodes are no offsets.
void see_prior_boxes(const GraphView& graph) {
  const size_t count = graph.selected.size();
  if ((count != 2 && count != 3) || !fits(graph, "prior_boxes")) return;
  const Port* const joined = port_with_columns(graph, 14);
  const Port* const boxes = joined != nullptr ? joined : port_with_columns(graph, 4);
  const Port* const scores = port_with_columns(graph, 2);
  if (boxes == nullptr || scores == nullptr || !are_raw(graph, *boxes)) return;
  const InputSize input = picture_input_size(graph.inputs);
  Reading& reading = graph.add(
      "prior_boxes",
      fmt::format("'{}' has offsets for as many rows as {} has prior boxes of {}x{} pixels",
                  boxes->name, joined != nullptr ? "YuNet's older form" : "a network of faces",
                  input.width, input.height));
  reading.config.class_softmax = are_raw(graph, *scores);
  if (joined == nullptr) return;
  reading.plain_pictures = true;
  if (input.width != 320 || input.height != 240) return;
  // The size that OpenCV's LPD_YuNet is published with, as none of the networks of faces is.
  reading.reason += ", with LPD_YuNet's size: its corners of plates";
  reading.config.point_names = {"corner_1", "corner_2", "corner_3", "corner_4"};
}

void see_blazeface(const GraphView& graph) {
  if (graph.selected.size() != 2 || !fits(graph, "blazeface")) return;
  const Port* const scores = port_with_columns(graph, 1);
  if (scores == nullptr || is_type(maker_of_rows(graph, *scores), {"Sigmoid"})) return;
  const int64_t columns = std::max(columns_of_rows(graph.port(0)), columns_of_rows(graph.port(1)));
  Reading& reading =
      graph.add("blazeface", fmt::format("the outputs have the rows of MediaPipe's detector of {}",
                                         columns == 18 ? "palms" : "faces"));
  // Which also tells how pictures get in.
  if (columns == 18 && reading.config.point_names.empty())
    reading.config.point_names = {"wrist",     "index_mcp", "middle_mcp", "ring_mcp",
                                  "pinky_mcp", "thumb_cmc", "thumb_mcp"};
}

/// Rows of YOLO v5 and v7 with points, which have no bound, between objectness and classes or
/// behind them.
void see_pointed_yolo(const GraphView& graph) {
  std::vector<size_t> rows;
  for (size_t index : graph.selected) {
    if (graph.outputs[index].desc.shape.size() == 3) rows.push_back(index);
  }
  if (rows.size() != 1) return;
  const Port& port = graph.outputs[rows.front()];
  const int64_t values = columns_of_rows(port);
  const auto output = std::ranges::find(graph.model.outputs(), port.name, &ModelOutput::name);
  if (output == graph.model.outputs().end() || values < 9) return;
  const std::optional<int64_t> tail = bounded_tail(*output->value, 2);
  if (!tail) return;
  const int64_t points = values - 5 - *tail;
  if (*tail > 0 && points >= 4 && points % 2 == 0) {
    DecoderConfig config = graph.entry;
    config.classes = static_cast<int>(std::min<int64_t>(*tail, 1 << 16));
    const GraphView with_classes{config,        graph.model,    graph.inputs,
                                 graph.outputs, graph.selected, graph.readings};
    if (!fits(with_classes, "yolo_v5_face")) return;
    with_classes.add(
        "yolo_v5_face",
        fmt::format("output '{}' {} has three rows for each cell, with {} points before "
                    "the scores of classes",
                    port.name, to_string(port.desc), points / 2));
  } else if (*tail == 0 && (values - 6) % 3 == 0 &&
             unbounded_tail(*output->value, 2) == values - 6 && fits(graph, "yolo_v7_pose")) {
    graph.add("yolo_v7_pose",
              fmt::format("output '{}' {} has three rows for each cell, with {} points behind the "
                          "score of one class",
                          port.name, to_string(port.desc), (values - 6) / 3));
  }
}

}  // namespace

/// Detectors of faces, palms and plates, by the columns and rows of their outputs.
void see_faces(const GraphView& graph) {
  for (const auto see : {see_scrfd, see_prior_boxes, see_blazeface, see_pointed_yolo}) {
    see(graph);
    if (!graph.readings.empty()) return;
  }
}

}  // namespace het
