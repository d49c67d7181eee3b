#include "hetero/explain/graph_svg.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hetero/explain/dump_text.h"
#include "hetero/explain/layered_layout.h"

namespace het::hetero {
namespace {

using Pairs = std::vector<std::pair<size_t, size_t>>;

constexpr double kLineHeight = 13;
constexpr double kCharWidth = 6.3;  // of a font of 11 pixels, rather more than less
constexpr double kPadding = 8;
constexpr double kFrame = 12;  // between a cluster's frame and its nodes
constexpr double kMargin = 16;
constexpr double kHeader = 48;  // title and legend
constexpr double kPortWidth = 4;
constexpr LayoutGaps kInnerGaps{16, 30};
constexpr LayoutGaps kOuterGaps{28, 52};

double text_width(std::string_view text) {
  // Bytes that continue a character of UTF-8 take no place.
  const auto count = std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
  return kCharWidth * static_cast<double>(count);
}

BoxSize size_of(const GraphPicture::Vertex& vertex) {
  BoxSize size{0, kLineHeight * static_cast<double>(vertex.lines.size()) + kPadding};
  for (const std::string& line : vertex.lines) size.width = std::max(size.width, text_width(line));
  size.width += 2 * kPadding;
  return size;
}

/// A frame of a cluster, or a vertex that is in none. Slots are vertices, then ports: the points of
/// a frame where a value of one of its vertices leaves, or one of another frame enters.
struct Block {
  std::vector<size_t> slots;
  size_t cluster = GraphPicture::kNone;
  Pairs edges;  ///< between slots
  Layout layout;
  BoxSize size;
  Point corner;  ///< top left, in the drawing
};

class Drawing {
 public:
  explicit Drawing(const GraphPicture& picture) : picture_(picture) {
    for (const GraphPicture::Vertex& vertex : picture.vertices) boxes_.push_back({size_of(vertex)});
  }

  std::string run() {
    make_blocks();
    make_routes();
    lay_out_blocks();
    place_blocks();
    right_ = std::max(outer_.size.width, header_width()) + kMargin;
    draw_header();
    for (const Block& block : blocks_) draw_frame(block);
    for (size_t i = 0; i < picture_.edges.size(); ++i) draw_edge(i);
    for (size_t i = 0; i < picture_.vertices.size(); ++i) draw_vertex(i);
    for (size_t i = 0; i < picture_.edges.size(); ++i) draw_edge_label(i);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{2}</svg>\n",
        right_ + kMargin, outer_.size.height + kHeader + 2 * kMargin, text_);
  }

 private:
  /// Pass 1. Who is in which block. Without clusters the whole graph is one block.
  void make_blocks() {
    blocks_.resize(std::max<size_t>(picture_.clusters.size(), 1));
    for (size_t i = 0; i < picture_.clusters.size(); ++i) blocks_[i].cluster = i;
    for (size_t i = 0; i < picture_.vertices.size(); ++i) {
      size_t block = picture_.clusters.empty() ? 0 : picture_.vertices[i].cluster;
      if (block == GraphPicture::kNone) {
        block = blocks_.size();
        blocks_.emplace_back();
      }
      block_of_.push_back(block);
      blocks_[block].slots.push_back(i);
    }
  }

  /// Pass 2. An edge between blocks goes through ports of their frames. A vertex has one port to
  /// leave by and one for each block that it enters.
  void make_routes() {
    std::map<std::pair<size_t, size_t>, size_t> ports;  // a vertex and a block
    std::map<std::pair<size_t, size_t>, size_t> legs;
    const auto port_of = [&](size_t vertex, size_t block, LayoutBox::Place place) {
      const auto [port, is_new] = ports.try_emplace({vertex, block}, boxes_.size());
      if (is_new) {
        boxes_.push_back({{kPortWidth, 0}, place});
        block_of_.push_back(block);
        blocks_[block].slots.push_back(port->second);
      }
      return port->second;
    };
    for (const GraphPicture::Edge& edge : picture_.edges) {
      const size_t from = block_of_[edge.from];
      const size_t to = block_of_[edge.to];
      std::vector<size_t> route{edge.from};
      if (from != to && blocks_[from].cluster != GraphPicture::kNone) {
        route.push_back(port_of(edge.from, from, LayoutBox::Place::Bottom));
      }
      if (from != to && blocks_[to].cluster != GraphPicture::kNone) {
        route.push_back(port_of(edge.from, to, LayoutBox::Place::Top));
      }
      route.push_back(edge.to);
      for (size_t i = 1; i < route.size(); ++i) {
        const std::pair leg(route[i - 1], route[i]);
        const size_t block = block_of_[leg.first];
        const bool is_new = legs.emplace(leg, 0).second;
        if (is_new && block == block_of_[leg.second]) blocks_[block].edges.push_back(leg);
      }
      routes_.push_back(std::move(route));
    }
  }

  /// Pass 3. What is in a block, then the blocks.
  void lay_out_blocks() {
    std::vector<LayoutBox> outer_boxes;
    std::vector<size_t> place(boxes_.size());
    for (Block& block : blocks_) {
      std::vector<LayoutBox> boxes;
      for (const size_t slot : block.slots) {
        place[slot] = boxes.size();
        boxes.push_back(boxes_[slot]);
      }
      Pairs edges;
      for (const auto& [from, to] : block.edges) edges.emplace_back(place[from], place[to]);
      block.layout = lay_out(boxes, edges, kInnerGaps);
      block.size = block.layout.size;
      if (block.cluster != GraphPicture::kNone) {
        const double title = text_width(picture_.clusters[block.cluster].label);
        block.size.width = std::max(block.size.width, title) + 2 * kFrame;
        block.size.height += 2 * kFrame + kLineHeight;
      }
      outer_boxes.push_back({block.size});
    }
    for (const std::vector<size_t>& route : routes_) {
      for (size_t i = 1; i < route.size(); ++i) {
        const std::pair blocks(block_of_[route[i - 1]], block_of_[route[i]]);
        if (blocks.first != blocks.second) outer_edges_.push_back(blocks);
      }
    }
    std::ranges::sort(outer_edges_);
    const auto repeated = std::ranges::unique(outer_edges_);
    outer_edges_.erase(repeated.begin(), repeated.end());
    outer_ = lay_out(outer_boxes, outer_edges_, kOuterGaps);
  }

  /// Pass 4. Places in blocks become places in the drawing.
  void place_blocks() {
    centres_.resize(boxes_.size());
    const auto shift = [](const Point& point, double left, double top) {
      return Point{point.x + left, point.y + top};
    };
    for (size_t index = 0; index < blocks_.size(); ++index) {
      Block& block = blocks_[index];
      Point& centre = outer_.centres[index];
      centre = shift(centre, kMargin, kHeader + kMargin);
      const bool has_frame = block.cluster != GraphPicture::kNone;
      const double left = centre.x - block.layout.size.width / 2;
      const double top = centre.y - block.size.height / 2 + (has_frame ? kFrame + kLineHeight : 0);
      block.corner = {centre.x - block.size.width / 2, centre.y - block.size.height / 2};
      for (size_t i = 0; i < block.slots.size(); ++i) {
        Point& place = centres_[block.slots[i]];
        place = shift(block.layout.centres[i], left, top);
        // Ports are on the frame.
        if (boxes_[block.slots[i]].place == LayoutBox::Place::Top) place.y = block.corner.y;
        if (boxes_[block.slots[i]].place == LayoutBox::Place::Bottom) {
          place.y = block.corner.y + block.size.height;
        }
      }
      for (size_t i = 0; i < block.edges.size(); ++i) {
        for (const Point& bend : block.layout.bends[i]) {
          bends_[block.edges[i]].push_back(shift(bend, left, top));
        }
      }
    }
    for (size_t i = 0; i < outer_edges_.size(); ++i) {
      for (const Point& bend : outer_.bends[i]) {
        outer_bends_[outer_edges_[i]].push_back(shift(bend, kMargin, kHeader + kMargin));
      }
    }
  }

  /// The bends between two slots of a route.
  const std::vector<Point>& bends_between(size_t from, size_t to) {
    if (block_of_[from] == block_of_[to]) return bends_[{from, to}];
    return outer_bends_[{block_of_[from], block_of_[to]}];
  }

  double header_width() const {
    double width = text_width(picture_.title) * 1.4;
    double legend = 0;
    for (const std::string& device : picture_.devices) legend += text_width(device) + 34;
    return std::max(width, legend);
  }

  void draw_header() {
    text_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"14\">{}</text>\n", kMargin,
                         kMargin + 8, xml_escaped(picture_.title));
    double x = kMargin;
    for (size_t i = 0; i < picture_.devices.size(); ++i) {
      text_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" fill=\"{}\" "
          "stroke=\"#606060\"/>\n<text x=\"{:.1f}\" y=\"{:.0f}\">{}</text>\n",
          x, kMargin + 18, device_colour(i), x + 18, kMargin + 29,
          xml_escaped(picture_.devices[i]));
      x += text_width(picture_.devices[i]) + 34;
    }
  }

  void draw_frame(const Block& block) {
    if (block.cluster == GraphPicture::kNone) return;
    const GraphPicture::Cluster& cluster = picture_.clusters[block.cluster];
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" "
        "fill=\"{}\" fill-opacity=\"0.25\" stroke=\"#606060\"/>\n"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
        block.corner.x, block.corner.y, block.size.width, block.size.height,
        device_colour(cluster.device), block.corner.x + kFrame, block.corner.y + kLineHeight + 2,
        xml_escaped(cluster.label));
  }

  void draw_edge(size_t index) {
    const GraphPicture::Edge& edge = picture_.edges[index];
    const std::vector<size_t>& route = routes_[index];
    Point last = centres_[edge.from];
    last.y += boxes_[edge.from].size.height / 2;
    std::string path = fmt::format("M{:.1f} {:.1f}", last.x, last.y);
    const auto curve_to = [&](const Point& point) {
      const double middle = (last.y + point.y) / 2;
      path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", last.x, middle, point.x,
                          middle, point.x, point.y);
      last = point;
    };
    for (size_t i = 1; i < route.size(); ++i) {
      for (const Point& bend : bends_between(route[i - 1], route[i])) curve_to(bend);
      Point end = centres_[route[i]];
      end.y -= boxes_[route[i]].size.height / 2;
      curve_to(end);
    }
    text_ += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n"
        "<path d=\"M{:.1f} {:.1f}l-3 -6h6z\" fill=\"{}\"/>\n",
        path, colour_of(edge), edge.is_cut ? "1.8" : "1", last.x, last.y, colour_of(edge));
  }

  static std::string_view colour_of(const GraphPicture::Edge& edge) {
    return edge.is_cut ? "#c00000" : "#707070";
  }

  void draw_vertex(size_t index) {
    const GraphPicture::Vertex& vertex = picture_.vertices[index];
    const bool is_node = vertex.shape == GraphPicture::Shape::Node;
    const Point centre = centres_[index];
    const BoxSize size = boxes_[index].size;
    text_ += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{:.0f}\" fill=\"{}\" stroke=\"#404040\"/>",
        xml_escaped(vertex.tooltip), centre.x - size.width / 2, centre.y - size.height / 2,
        size.width, size.height, is_node ? 3 : size.height / 2,
        is_node ? device_colour(vertex.device) : "#ffffff");
    double y = centre.y - size.height / 2 + kPadding / 2 + 10;
    for (const std::string& line : vertex.lines) {
      text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>",
                           centre.x, y, xml_escaped(line));
      y += kLineHeight;
    }
    text_ += "</g>\n";
  }

  /// Above the frame or the node where the edge ends.
  void draw_edge_label(size_t index) {
    const GraphPicture::Edge& edge = picture_.edges[index];
    if (edge.label.empty()) return;
    const size_t slot = routes_[index][std::max<size_t>(routes_[index].size(), 2) - 2];
    const bool has_port = slot != edge.from && block_of_[slot] == block_of_[edge.to];
    Point place = centres_[has_port ? slot : edge.to];
    if (!has_port) place.y -= boxes_[edge.to].size.height / 2;
    const double width = text_width(edge.label) * 9 / 11;
    right_ = std::max(right_, place.x + 4 + width);
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"11\" fill=\"#ffffff\" "
        "fill-opacity=\"0.8\"/>\n<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"9\" "
        "fill=\"#900000\">{}</text>\n",
        place.x + 4, place.y - 13, width, place.x + 5, place.y - 4, xml_escaped(edge.label));
  }

  const GraphPicture& picture_;
  // Per slot.
  std::vector<LayoutBox> boxes_;
  std::vector<size_t> block_of_;
  std::vector<Point> centres_;

  std::vector<Block> blocks_;
  std::vector<std::vector<size_t>> routes_;  ///< per edge the slots that it goes through
  Pairs outer_edges_;                        ///< between blocks
  Layout outer_;
  std::map<std::pair<size_t, size_t>, std::vector<Point>> bends_;        ///< between slots
  std::map<std::pair<size_t, size_t>, std::vector<Point>> outer_bends_;  ///< between blocks
  std::string text_;
  double right_ = 0;  ///< where what is drawn ends
};

}  // namespace

std::string to_svg(const GraphPicture& picture) {
  return Drawing(picture).run();
}

}  // namespace het::hetero
