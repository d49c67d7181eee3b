#include <fmt/format.h>

#include <algorithm>

#include "inference/decoders/points/point_scheme.h"
#include "inference/decoders/readings/see.h"

namespace het {
namespace {

/// Values per picture of an output, whatever its shape; unknown where a dimension besides the batch
/// is.
int64_t values_of(const Port& port) {
  const Shape& shape = port.desc.shape;
  if (shape.empty() || !is_float(port.desc.type)) return kUnknownDim;
  int64_t values = 1;
  for (size_t axis = 1; axis < shape.size(); ++axis) {
    if (shape[axis] < 1 || shape[axis] > 1 << 20 || values > 1 << 20) return kUnknownDim;
    values *= shape[axis];
  }
  return values;
}

/// One of MediaPipe's networks of landmarks, by the values of its outputs and the side of its
/// picture, as its graphs have them (mediapipe/modules).
struct MediaPipeNetwork {
  std::string_view name;
  int64_t side;
  std::vector<int64_t> points;  ///< values of the outputs that have points
  std::vector<int64_t> beside;  ///< of an output that has to be there, too
  int values_per_point;
  int64_t read;  ///< of the values, where not all are points of a body
};

const std::vector<MediaPipeNetwork>& media_pipe_networks() {
  static const std::vector<MediaPipeNetwork> kNetworks{
      {"the face mesh", 192, {1404}, {}, 3, 0},
      {"the face mesh", 256, {1434}, {}, 3, 0},
      {"the iris", 64, {213, 15}, {}, 3, 0},
      {"hands", 224, {63}, {1}, 3, 0},
      {"hands", 256, {63}, {1}, 3, 0},
      // Behind the 33 points of a body come those that MediaPipe places the next picture by.
      {"poses", 256, {195}, {117, 1}, 5, 165},
  };
  return kNetworks;
}

/// The first output with so many values.
const Port* output_with(const GraphView& graph, int64_t values) {
  for (const size_t index : graph.selected) {
    if (values_of(graph.outputs[index]) == values) return &graph.outputs[index];
  }
  return nullptr;
}

bool is_network(const MediaPipeNetwork& network, const GraphView& graph) {
  const InputSize input = picture_input_size(graph.inputs);
  const auto is_there = [&](int64_t values) { return output_with(graph, values) != nullptr; };
  return input.width == network.side && input.height == network.side &&
         std::ranges::all_of(network.points, is_there) &&
         std::ranges::all_of(network.beside, is_there);
}

void name_points(const PointScheme& scheme, DecoderConfig& config) {
  config.format = scheme.format;
  config.point_names = scheme.names;
  for (const auto& [from, to] : scheme.connections) {
    config.point_connections.push_back(scheme.names[static_cast<size_t>(from)]);
    config.point_connections.push_back(scheme.names[static_cast<size_t>(to)]);
  }
}

/// The node behind an output that joins three parts.
bool joins_three(const Node* maker) {
  return maker != nullptr && maker->op_type() == "Concat" && maker->inputs().size() == 3;
}

}  // namespace

/// MediaPipe's landmarks, in pixels of the picture: the first output with as many values as the
/// points have; the first of one value tells whether they are there. Further outputs (points in
/// metres, left or right, masks, heat maps) are left out.
void see_media_pipe(const GraphView& graph) {
  for (const MediaPipeNetwork& network : media_pipe_networks()) {
    if (!is_network(network, graph)) continue;
    Reading& reading = graph.add("landmarks", "");
    DecoderConfig& config = reading.config;
    config.layer_names.clear();
    for (const int64_t values : network.points)
      config.layer_names.push_back(output_with(graph, values)->name);
    config.unit = "pixels";
    config.values_per_point = network.values_per_point;
    if (network.read > 0) config.slice = {0, static_cast<int>(network.read)};
    if (const Port* const presence = output_with(graph, 1)) {
      config.presence_layer = presence->name;
      config.sigmoid_activation = !is_made_by(graph.model, *presence, "Sigmoid");
    }
    if (network.read > 0) name_points(blaze_pose(), config);
    if (network.points.front() == 63) name_points(hand(), config);
    reading.reason = fmt::format(
        "the outputs and the picture have the sizes of MediaPipe's network of {}", network.name);
    return;
  }
}

/// MoveNet's 17 points of one body, or of six with boxes.
void see_movenet(const GraphView& graph) {
  if (graph.selected.size() != 1 || !fits(graph, "movenet")) return;
  const Port& port = graph.port(0);
  const Shape& shape = port.desc.shape;
  const InputSize input = picture_input_size(graph.inputs);
  const bool one = shape.size() == 4 && shape[1] == 1 && input.width == input.height;
  const bool six = shape.size() == 3 && shape[1] == 6;
  if (one || six)
    graph.add("movenet", fmt::format("output '{}' {} has 17 points of {}", port.name,
                                     to_string(port.desc), one ? "one body" : "six bodies"));
}

/// Scores of columns and rows for each point, as many for each pixel on both axes.
void see_simcc(const GraphView& graph) {
  if (graph.selected.size() != 2 || !fits(graph, "simcc")) return;
  const Port& first = graph.port(0);
  const Port& second = graph.port(1);
  const InputSize input = picture_input_size(graph.inputs);
  // As many points as the picture has rows are maps over it.
  const int64_t points = dimension(first, 1);
  const bool is_sure = input.width > 0 && points > 1 && points < input.height &&
                       dimension(first, 2) > 0 && dimension(second, 2) > 0;
  const bool named = first.name.starts_with("simcc") && second.name.starts_with("simcc");
  if (named || is_sure)
    graph.add("simcc", fmt::format("outputs '{}' and '{}' have scores of columns and rows for "
                                   "each point",
                                   first.name, second.name));
}

/// Where heads and eyes are turned: a rotation of three axes that are joined (6DRepNet), three
/// angles by classes (Hopenet, WHENet), two by classes (L2CS-Net).
void see_head_pose(const GraphView& graph) {
  if (!graph.entry.labels.empty() || !fits(graph, "head_pose")) return;
  if (graph.selected.size() == 1) {
    const Port& port = graph.port(0);
    const bool called = port.name.find("rotation") != std::string::npos;
    if (port.desc.shape.size() == 3 && (called || joins_three(maker_of(graph.model, port.name))))
      graph.add("head_pose",
                fmt::format("output '{}' joins the three axes of a rotation", port.name));
    return;
  }
  const auto with = [&](int64_t classes) {
    return std::ranges::count_if(graph.selected, [&](size_t index) {
      const Shape& shape = graph.outputs[index].desc.shape;
      return shape.size() == 2 && shape[1] == classes;
    });
  };
  const auto called = [&](std::string_view part) {
    return std::ranges::any_of(graph.selected, [&](size_t index) {
      return graph.outputs[index].name.find(part) != std::string::npos;
    });
  };
  const InputSize input = picture_input_size(graph.inputs);
  const bool is_gaze = (called("yaw") && called("pitch")) || input.width == 448;
  if (with(66) == 3 || (with(120) == 1 && with(66) == 2)) {
    graph.add("head_pose", "the outputs are classes of yaw, pitch and roll, as Hopenet has them");
  } else if (graph.selected.size() == 2 && (with(90) == 2 || with(28) == 2) && is_gaze) {
    graph.add("head_pose", "the outputs are classes of yaw and pitch, as L2CS-Net has them")
        .config.attribute_name = "gaze";
  }
}

}  // namespace het
