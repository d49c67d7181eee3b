#include "hetero/explain/graph_picture.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>

#include "hetero/explain/dump_text.h"

namespace het::hetero {
namespace {

constexpr size_t kMaxLineChars = 36;
constexpr size_t kMaxTooltipChars = 400;

std::string size_text(const TensorDesc& desc) {
  const auto bytes = dense_size_bytes(desc);
  if (!bytes) return "size known at run time";
  const auto count = static_cast<double>(*bytes);
  if (count < 1024) return fmt::format("{} bytes", *bytes);
  if (count < 1024 * 1024) return fmt::format("{:.1f} KiB", count / 1024);
  return fmt::format("{:.1f} MiB", count / (1024 * 1024));
}

std::string shape_text(const TensorDesc& desc) {
  return desc.type == ElementType::Undefined ? "?" : het::to_string(desc.shape);
}

/// Where a node is and why.
struct Place {
  std::string device;
  std::string reason;
  size_t cluster = GraphPicture::kNone;
};

class Painter {
 public:
  Painter(const Model& model, std::string title) : model_(model) {
    picture_.title = printable(title, kMaxTooltipChars);
  }

  void add_cluster(const Subgraph& subgraph) {
    picture_.clusters.push_back(
        {printable(fmt::format("{}: {}, {} node{}", subgraph.name, subgraph.device,
                               subgraph.nodes.size(), subgraph.nodes.size() == 1 ? "" : "s"),
                   kMaxTooltipChars),
         number_of(subgraph.device)});
  }

  GraphPicture paint(const std::vector<Place>& places) {
    for (const ModelInput& input : model_.inputs()) {
      const std::string& name = input.value->name();
      made_by_[input.value] =
          add({GraphPicture::Shape::Input,
               {printable(name, kMaxLineChars), shape_text(input.value->desc())},
               printable(fmt::format("input {}", name), kMaxTooltipChars)});
    }
    for (size_t i = 0; i < model_.nodes().size(); ++i) add_node(*model_.nodes()[i], places.at(i));
    for (const auto& node : model_.nodes()) {
      for (const Value* output : node->outputs()) made_by_[output] = vertex_of_[node.get()];
    }
    for (const auto& node : model_.nodes()) {
      for (const Value* input : node->inputs()) {
        if (input != nullptr) add_edge(*input, vertex_of_[node.get()]);
      }
    }
    for (const ModelOutput& output : model_.outputs()) {
      const size_t vertex =
          add({GraphPicture::Shape::Output,
               {printable(output.name, kMaxLineChars), shape_text(output.value->desc())},
               printable(fmt::format("output {}{}", output.name,
                                     output.value->is_constant() ? ", a constant" : ""),
                         kMaxTooltipChars)});
      add_edge(*output.value, vertex);
    }
    return std::move(picture_);
  }

 private:
  size_t add(GraphPicture::Vertex vertex) {
    picture_.vertices.push_back(std::move(vertex));
    return picture_.vertices.size() - 1;
  }

  size_t number_of(const std::string& device) {
    if (device.empty()) return GraphPicture::kNone;
    const std::string shown = printable(device, kMaxLineChars);
    const auto found = std::ranges::find(picture_.devices, shown);
    if (found == picture_.devices.end()) {
      picture_.devices.push_back(shown);
      return picture_.devices.size() - 1;
    }
    return static_cast<size_t>(found - picture_.devices.begin());
  }

  void add_node(const Node& node, const Place& place) {
    GraphPicture::Vertex vertex;
    vertex.device = number_of(place.device);
    vertex.cluster = place.cluster;
    std::string type = node.qualified_type();
    if (node.output() != nullptr) type += " " + shape_text(node.output()->desc());
    vertex.lines = {printable(node.name(), kMaxLineChars), printable(type, kMaxLineChars)};
    std::string tooltip = fmt::format("{} ({})", node.name(), node.qualified_type());
    if (!place.device.empty()) tooltip += " on " + place.device;
    if (!place.reason.empty()) tooltip += ": " + place.reason;
    vertex.tooltip = printable(tooltip, kMaxTooltipChars);
    vertex_of_[&node] = add(std::move(vertex));
  }

  void add_edge(const Value& value, size_t to) {
    const auto from = made_by_.find(&value);
    if (from == made_by_.end()) return;  // a constant
    const auto [place, is_new] = edges_.try_emplace({from->second, to}, picture_.edges.size());
    if (is_new) picture_.edges.push_back({from->second, to, false, ""});
    GraphPicture::Edge& edge = picture_.edges[place->second];
    const GraphPicture::Vertex& source = picture_.vertices[edge.from];
    const GraphPicture::Vertex& reader = picture_.vertices[to];
    if (source.shape != GraphPicture::Shape::Node || reader.shape != GraphPicture::Shape::Node) {
      return;
    }
    edge.is_cut = source.device != reader.device || source.cluster != reader.cluster;
    // One label for a value and everybody who reads it at the same place.
    const bool is_first = labelled_.insert({&value, {reader.device, reader.cluster}}).second;
    if (!edge.is_cut || !is_first) return;
    if (!edge.label.empty()) edge.label += " + ";
    edge.label += fmt::format("{}, {}", to_string(value.desc()), size_text(value.desc()));
  }

  const Model& model_;
  GraphPicture picture_;
  std::unordered_map<const Node*, size_t> vertex_of_;
  std::unordered_map<const Value*, size_t> made_by_;
  std::map<std::pair<size_t, size_t>, size_t> edges_;
  std::set<std::pair<const Value*, std::pair<size_t, size_t>>> labelled_;
};

}  // namespace

std::string_view device_colour(size_t device) {
  constexpr std::array<std::string_view, 10> kColours{"#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6",
                                                      "#fb9a99", "#ffff99", "#80cdc1", "#d9b38c",
                                                      "#bdbdbd", "#f4a3d0"};
  return device == GraphPicture::kNone ? kNoDeviceColour : kColours[device % kColours.size()];
}

GraphPicture picture_placement(const Model& model, const std::vector<NodeSupport>& rows) {
  std::vector<Place> places(model.nodes().size());
  for (size_t i = 0; i < std::min(places.size(), rows.size()); ++i) {
    places[i] = {rows[i].device, rows[i].reason};
  }
  return Painter(model, fmt::format("{}: devices", model.name())).paint(places);
}

GraphPicture picture_split(const Model& model, const Split& split) {
  Painter painter(model, fmt::format("{}: {} subgraph{}", model.name(), split.subgraphs.size(),
                                     split.subgraphs.size() == 1 ? "" : "s"));
  for (const Subgraph& subgraph : split.subgraphs) painter.add_cluster(subgraph);
  std::vector<Place> places;
  for (const size_t subgraph : split.subgraph_of) {
    places.push_back({split.subgraphs[subgraph].device, "", subgraph});
  }
  return painter.paint(places);
}

}  // namespace het::hetero
