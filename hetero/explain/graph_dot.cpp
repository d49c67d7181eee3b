#include "hetero/explain/graph_dot.h"

#include "hetero/explain/dump_text.h"

namespace het::hetero {
namespace {

std::string_view shape_of(GraphPicture::Shape shape) {
  return shape == GraphPicture::Shape::Node ? "box" : "ellipse";
}

void write_vertex(const GraphPicture& picture, size_t index, std::string_view indent,
                  std::string& text) {
  const GraphPicture::Vertex& vertex = picture.vertices[index];
  std::string label;
  for (const std::string& line : vertex.lines) {
    label += (label.empty() ? "" : "\\n") + dot_escaped(line);
  }
  const bool has_device = vertex.device != GraphPicture::kNone;
  if (has_device) label += "\\ndevice=" + dot_escaped(picture.devices[vertex.device]);
  const std::string_view colour =
      vertex.shape == GraphPicture::Shape::Node ? device_colour(vertex.device) : "#ffffff";
  text += fmt::format("{}n{} [label=\"{}\", shape={}, fillcolor=\"{}\", tooltip=\"{}\"];\n", indent,
                      index, label, shape_of(vertex.shape), colour, dot_escaped(vertex.tooltip));
}

}  // namespace

std::string to_dot(const GraphPicture& picture) {
  std::string text = fmt::format(
      "digraph \"{0}\" {{\n"
      "  graph [label=\"{0}\", labelloc=t, fontname=\"sans-serif\"];\n"
      "  node [style=filled, fontname=\"sans-serif\", fontsize=10];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      dot_escaped(picture.title));
  for (size_t i = 0; i < picture.vertices.size(); ++i) {
    if (picture.vertices[i].cluster == GraphPicture::kNone) write_vertex(picture, i, "  ", text);
  }
  std::vector<std::string> inside(picture.clusters.size());
  for (size_t i = 0; i < picture.vertices.size(); ++i) {
    const size_t cluster = picture.vertices[i].cluster;
    if (cluster != GraphPicture::kNone) write_vertex(picture, i, "    ", inside[cluster]);
  }
  for (size_t i = 0; i < picture.clusters.size(); ++i) {
    const GraphPicture::Cluster& cluster = picture.clusters[i];
    text += fmt::format(
        "  subgraph cluster_{} {{\n    label=\"{}\";\n    color=\"{}\";\n    penwidth=3;\n{}  }}\n",
        i, dot_escaped(cluster.label), device_colour(cluster.device), inside[i]);
  }
  for (const GraphPicture::Edge& edge : picture.edges) {
    text += fmt::format("  n{} -> n{}", edge.from, edge.to);
    if (edge.is_cut) {
      text +=
          fmt::format(" [color=\"#c00000\", penwidth=2, label=\"{}\"]", dot_escaped(edge.label));
    }
    text += ";\n";
  }
  return text + "}\n";
}

}  // namespace het::hetero
