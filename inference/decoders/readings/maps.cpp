#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "inference/decoders/first_convolution.h"
#include "inference/decoders/readings/see.h"

namespace het {

namespace {

/// Rows, columns and channels of an output [batch, channels, rows, columns], [batch, rows, columns,
/// channels] or [batch, rows, columns].
struct Map {
  int64_t channels = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  bool channels_last = false;

  bool is_whole(const InputSize& input) const {
    return rows == input.height && columns == input.width;
  }
};

/// Nothing where the shape is not known or no map. Channels come last only where the picture's do.
std::optional<Map> map_of(const GraphView& graph, const Port& port) {
  const Shape& shape = port.desc.shape;
  const InputSize input = picture_input_size(graph.inputs);
  if (!is_static(shape) || input.width <= 1 || input.height <= 1) return std::nullopt;
  if (shape.size() == 3) return Map{1, shape[1], shape[2]};
  if (shape.size() != 4) return std::nullopt;
  const Map first{shape[1], shape[2], shape[3]};
  const Map last{shape[3], shape[1], shape[2], true};
  return !first.is_whole(input) && last.is_whole(input) ? last : first;
}

/// The output that is meant where a network was trained with further ones of the same shape beside
/// it: "out" of torchvision, else the first.
std::optional<size_t> main_map(const GraphView& graph) {
  if (graph.selected.empty()) return std::nullopt;
  size_t meant = graph.selected.front();
  for (const size_t index : graph.selected) {
    if (graph.outputs[index].desc.shape != graph.port(0).desc.shape) return std::nullopt;
    if (graph.outputs[index].name == "out") meant = index;
  }
  return meant;
}

/// The kernel and stride of a ConvTranspose are 2x2, as PaddleOCR's and DB's heads enlarge.
bool doubles(const Node& node) {
  return node.op_type() == "ConvTranspose" && node.input(1) != nullptr &&
         node.input(1)->desc().shape.size() == 4 && node.input(1)->desc().shape[2] == 2 &&
         node.attributes().get_ints("strides") == std::vector<int64_t>{2, 2};
}

/// What lies before a node on its first input, through activations, sums with constants and
/// normalisations.
const Node* before(const Node& node) {
  const Value* value = node.input(0);
  const Node* producer = value == nullptr ? nullptr : value->producer();
  while (producer != nullptr) {
    const std::string& type = producer->op_type();
    if (type != "Relu" && type != "Add" && type != "BatchNormalization") return producer;
    value = producer->input(0);
    if (value != nullptr && value->is_constant()) value = producer->input(1);
    producer = value == nullptr ? nullptr : value->producer();
  }
  return nullptr;
}

/// DB (Liao et al. 2020): a sigmoid behind two convolutions that double the map.
bool is_text_map(const Node* maker) {
  if (maker == nullptr || maker->op_type() != "Sigmoid") return false;
  const Node* const last = before(*maker);
  if (last == nullptr || !doubles(*last)) return false;
  const Node* const first = before(*last);
  return first != nullptr && doubles(*first);
}

void add_map(const GraphView& graph, const Port& port, const Map& map, std::string converter,
             std::string reason) {
  Reading& reading = graph.add(std::move(converter), std::move(reason));
  reading.config.layout = map.channels_last ? "NHWC" : "NCHW";
  if (graph.selected.size() > 1) {
    reading.config.layer_names = {port.name};
    reading.reason += ", further outputs have the same shape";
  }
}

/// One value for each pixel.
void see_one_channel(const GraphView& graph, const Port& port, const Map& map) {
  const Node* const maker = maker_of(graph.model, port.name);
  if (maker == nullptr) return;
  if (is_text_map(maker)) {
    add_map(graph, port, map, "text_detection_db",
            fmt::format("output '{}' is a sigmoid behind two convolutions that double the map, as "
                        "DB has it",
                        port.name));
  } else if (maker->op_type() == "Sigmoid") {
    add_map(graph, port, map, "semantic_segmentation",
            fmt::format("output '{}' is a sigmoid for each pixel", port.name));
    graph.readings.back().config.classes = 1;
  } else if (maker->op_type() == "Relu") {
    add_map(graph, port, map, "depth_estimation",
            fmt::format("output '{}' is a number from 0 on for each pixel, by Relu", port.name));
  }
}

/// Numbers of classes that only data sets of segmentation have: ADE20K and COCO-Stuff.
bool is_count_of_pixel_classes(int64_t count) {
  return count == 150 || count == 171;
}

}  // namespace

/// A class, scores of classes, or one value for each pixel of the input picture.
void see_pixels(const GraphView& graph) {
  const std::optional<size_t> meant = main_map(graph);
  if (!meant) return;
  const Port& port = graph.outputs[*meant];
  const std::optional<Map> map = map_of(graph, port);
  if (!map) return;
  const InputSize input = picture_input_size(graph.inputs);
  const bool ids = !is_float(port.desc.type) || is_made_by(graph.model, port, "ArgMax");
  if (ids && map->channels == 1 && map->is_whole(input)) {
    add_map(graph, port, *map, "semantic_segmentation",
            fmt::format("output '{}' has a class for each pixel", port.name));
    return;
  }
  if (map->channels == 1) {
    if (map->is_whole(input)) see_one_channel(graph, port, *map);
    return;
  }
  // Three may be a picture's channels.
  const bool softmax = is_made_by(graph.model, port, "Softmax");
  if (map->is_whole(input) ? map->channels != 3 || softmax
                           : is_count_of_pixel_classes(map->channels))
    add_map(graph, port, *map, "semantic_segmentation",
            fmt::format("output '{}' has scores of {} classes for each pixel", port.name,
                        map->channels));
}

constexpr int64_t kTallestPerson = 512;

/// MaskFormer's pair: logits of classes, and of a mask, for each query.
void see_maskformer(const GraphView& graph) {
  if (graph.selected.size() != 2) return;
  for (size_t i = 0; i < 2; ++i) {
    const Shape& classes = graph.port(i).desc.shape;
    const Shape& masks = graph.port(1 - i).desc.shape;
    if (classes.size() != 3 || masks.size() != 4 || classes[1] != masks[1] || classes[2] < 3 ||
        !fits(graph, "maskformer"))
      continue;
    graph.add("maskformer", fmt::format("'{}' are classes and '{}' a mask for each query",
                                        graph.port(i).name, graph.port(1 - i).name));
    return;
  }
}

/// Heat maps of the points of one person: pictures are upright, 3:4 and small, maps a quarter of
/// them.
void see_heat_maps(const GraphView& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  const std::optional<Map> map = map_of(graph, port);
  const InputSize input = picture_input_size(graph.inputs);
  if (!map || 4 * input.width != 3 * input.height || map->channels < 5 ||
      4 * map->columns != input.width || 4 * map->rows != input.height ||
      input.height > kTallestPerson || !fits(graph, "keypoints_hrnet"))
    return;
  graph.add("keypoints_hrnet",
            fmt::format("output '{}' {} has a map for each point of an upright picture", port.name,
                        to_string(port.desc)));
}

/// A picture that is larger by a whole factor, in the range that its end or its beginning tells.
void see_picture(const GraphView& graph) {
  if (graph.selected.size() != 1) return;
  const Port& port = graph.port(0);
  const std::optional<Map> map = map_of(graph, port);
  const InputSize input = picture_input_size(graph.inputs);
  if (!map || (map->channels != 1 && map->channels != 3) || map->rows % input.height != 0 ||
      map->columns % input.width != 0 || map->rows / input.height < 2 ||
      map->rows / input.height != map->columns / input.width)
    return;
  const bool bytes = std::ranges::any_of(graph.model.inputs(), [](const ModelInput& candidate) {
    return pixel_scale(*candidate.value) == PixelScale::Bytes;
  });
  const bool units = is_made_by(graph.model, port, "Sigmoid") ||
                     std::ranges::any_of(graph.model.inputs(), [](const ModelInput& candidate) {
                       return pixel_scale(*candidate.value) == PixelScale::Units;
                     });
  if (bytes == units) return;
  Reading& reading =
      graph.add("picture", fmt::format("output '{}' is a picture {} times as large, of 0..{}",
                                       port.name, map->rows / input.height, bytes ? 255 : 1));
  reading.config.range_high = bytes ? 255.0f : 1.0f;
}

/// anomalib's outputs by their names: scores are normalised in the graph, from 0.5 on a picture or
/// a place is abnormal.
void see_anomalies(const GraphView& graph) {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(graph.selected,
                               [&](size_t i) { return graph.outputs[i].name == name; });
  };
  if (!has("pred_score") || (!has("anomaly_map") && !has("pred_label"))) return;
  Reading& reading = graph.add("AnomalyDetection", "the outputs have anomalib's names");
  reading.config.layer_names = {"pred_score"};
  if (has("anomaly_map"))
    reading.config.layer_names.insert(reading.config.layer_names.begin(), "anomaly_map");
  reading.config.image_threshold = 0.5f;
  reading.config.pixel_threshold = 0.5f;
  reading.config.normalization_scale = 1.0f;
  reading.config.layout = "NCHW";
}

}  // namespace het
