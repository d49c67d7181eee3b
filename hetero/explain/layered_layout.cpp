#include "hetero/explain/layered_layout.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace het::hetero {
namespace {

/// Sweeps down and up that reduce crossings, and that straighten edges.
constexpr int kOrderSweeps = 12;
constexpr int kStraightenSweeps = 12;
/// Long edges get a place in every layer only while these are not many more than the boxes.
constexpr size_t kMaxBendsPerBox = 20;
constexpr double kBendWidth = 4;

/// A box or a bend of an edge.
struct Item {
  size_t layer = 0;
  double width = 0;
  double x = 0;  ///< of the centre
  std::vector<size_t> above;
  std::vector<size_t> below;
};

class LayeredLayout {
 public:
  LayeredLayout(const std::vector<LayoutBox>& boxes,
                const std::vector<std::pair<size_t, size_t>>& edges, const LayoutGaps& gaps)
      : boxes_(boxes), edges_(edges), gaps_(gaps), items_(boxes.size()), bends_(edges.size()) {}

  Layout run() {
    assign_layers();
    add_bends();
    order_layers();
    straighten();
    return collect();
  }

 private:
  /// Pass 1. A box is one layer below the lowest box that it needs; boxes that need none are right
  /// above the first that needs them. Those for top and bottom are there.
  void assign_layers() {
    const size_t count = boxes_.size();
    std::vector<std::vector<size_t>> readers(count);
    std::vector<size_t> waiting(count);
    for (const auto& [from, to] : edges_) {
      readers[from].push_back(to);
      ++waiting[to];
    }
    const std::vector<size_t> needs = waiting;
    std::vector<size_t> ready;
    for (size_t i = 0; i < count; ++i) {
      items_[i].width = boxes_[i].size.width;
      if (waiting[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const size_t i = ready.back();
      ready.pop_back();
      for (const size_t reader : readers[i]) {
        items_[reader].layer = std::max(items_[reader].layer, items_[i].layer + 1);
        if (--waiting[reader] == 0) ready.push_back(reader);
      }
    }
    for (size_t i = 0; i < count; ++i) {
      if (needs[i] > 0 || readers[i].empty() || boxes_[i].place == LayoutBox::Place::Top) continue;
      size_t first = std::numeric_limits<size_t>::max();
      for (const size_t reader : readers[i]) first = std::min(first, items_[reader].layer);
      items_[i].layer = first == 0 ? 0 : first - 1;
    }
    size_t bottom = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool is_last = boxes_[i].place == LayoutBox::Place::Bottom;
      bottom = std::max(bottom, items_[i].layer + (is_last ? 0 : 1));
    }
    for (size_t i = 0; i < count; ++i) {
      if (boxes_[i].place == LayoutBox::Place::Bottom) items_[i].layer = bottom;
    }
  }

  /// Pass 2. An edge over several layers goes through an item in each.
  void add_bends() {
    size_t wanted = 0;
    for (const auto& [from, to] : edges_) {
      if (items_[to].layer > items_[from].layer)
        wanted += items_[to].layer - items_[from].layer - 1;
    }
    const bool has_bends = wanted <= kMaxBendsPerBox * boxes_.size();
    for (size_t e = 0; e < edges_.size(); ++e) {
      const auto [from, to] = edges_[e];
      const size_t end = items_[to].layer;
      if (end <= items_[from].layer) continue;
      size_t last = from;
      for (size_t layer = items_[from].layer + 1; has_bends && layer < end; ++layer) {
        Item& bend = items_.emplace_back();
        bend.layer = layer;
        bend.width = kBendWidth;
        connect(last, items_.size() - 1);
        last = items_.size() - 1;
        bends_[e].push_back(last);
      }
      if (items_[last].layer + 1 == end) connect(last, to);
    }
    for (size_t i = 0; i < items_.size(); ++i) {
      if (layers_.size() <= items_[i].layer) layers_.resize(items_[i].layer + 1);
      layers_[items_[i].layer].push_back(i);
    }
  }

  void connect(size_t above, size_t below) {
    items_[above].below.push_back(below);
    items_[below].above.push_back(above);
  }

  /// Pass 3. Items of a layer are ordered by the mean place of their neighbours in the layer
  /// before.
  void order_layers() {
    std::vector<double> place(items_.size());
    const auto number = [&](const std::vector<size_t>& layer) {
      for (size_t i = 0; i < layer.size(); ++i) {
        place[layer[i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(layer.size());
      }
    };
    for (const auto& layer : layers_) number(layer);
    for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
      const bool is_down = sweep % 2 == 0;
      for (size_t k = 1; k < layers_.size(); ++k) {
        std::vector<size_t>& layer = layers_[is_down ? k : layers_.size() - 1 - k];
        for (const size_t i : layer) place[i] = mean(i, is_down, place, place[i]);
        std::ranges::stable_sort(layer, std::less<>(), [&](size_t i) { return place[i]; });
        number(layer);
      }
    }
  }

  double mean(size_t item, bool of_above, const std::vector<double>& values,
              double fallback) const {
    const std::vector<size_t>& list = of_above ? items_[item].above : items_[item].below;
    if (list.empty()) return fallback;
    double sum = 0;
    for (const size_t other : list) sum += values[other];
    return sum / static_cast<double>(list.size());
  }

  /// Pass 4. Items move towards their neighbours as far as their order and sizes allow.
  void straighten() {
    std::vector<double> x(items_.size());
    for (const auto& layer : layers_) place_layer(layer, std::vector<double>(layer.size()), x);
    for (int sweep = 0; sweep < kStraightenSweeps; ++sweep) {
      const bool is_down = sweep % 2 == 0;
      for (size_t k = 1; k < layers_.size(); ++k) {
        const std::vector<size_t>& layer = layers_[is_down ? k : layers_.size() - 1 - k];
        std::vector<double> wanted;
        for (const size_t i : layer) wanted.push_back(mean(i, is_down, x, x[i]));
        place_layer(layer, wanted, x);
      }
    }
    for (size_t i = 0; i < items_.size(); ++i) items_[i].x = x[i];
  }

  /// The places nearest to the wanted ones (least squares) without overlaps: relative to a row
  /// without gaps they may not decrease, and groups that would are placed at their mean.
  void place_layer(const std::vector<size_t>& layer, const std::vector<double>& wanted,
                   std::vector<double>& x) const {
    struct Group {
      double sum;
      size_t count;
      double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<double> offsets;
    std::vector<Group> groups;
    double offset = 0;
    for (size_t i = 0; i < layer.size(); ++i) {
      const double half = items_[layer[i]].width / 2;
      if (i > 0) offset += items_[layer[i - 1]].width / 2 + gaps_.across + half;
      offsets.push_back(offset);
      groups.push_back({wanted[i] - offset, 1});
      while (groups.size() > 1 && groups[groups.size() - 2].mean() > groups.back().mean()) {
        const Group last = groups.back();
        groups.pop_back();
        groups.back().sum += last.sum;
        groups.back().count += last.count;
      }
    }
    size_t i = 0;
    for (const Group& group : groups) {
      for (size_t k = 0; k < group.count; ++k, ++i) x[layer[i]] = group.mean() + offsets[i];
    }
  }

  Layout collect() const {
    Layout layout;
    layout.centres.resize(boxes_.size());
    layout.bends.resize(edges_.size());
    double left = std::numeric_limits<double>::max();
    double right = std::numeric_limits<double>::lowest();
    for (const Item& item : items_) {
      left = std::min(left, item.x - item.width / 2);
      right = std::max(right, item.x + item.width / 2);
    }
    std::vector<double> y;
    std::vector<double> halves;
    for (const auto& layer : layers_) {
      double height = 0;
      for (const size_t i : layer) {
        if (i < boxes_.size()) height = std::max(height, boxes_[i].size.height);
      }
      if (!y.empty()) layout.size.height += gaps_.along;
      halves.push_back(height / 2);
      y.push_back(layout.size.height + height / 2);
      layout.size.height += height;
    }
    const auto point = [&](size_t i) { return Point{items_[i].x - left, y[items_[i].layer]}; };
    for (size_t i = 0; i < boxes_.size(); ++i) layout.centres[i] = point(i);
    for (size_t e = 0; e < edges_.size(); ++e) {
      for (const size_t bend : bends_[e]) {
        const auto [x, middle] = point(bend);
        const double half = halves[items_[bend].layer];
        layout.bends[e].insert(layout.bends[e].end(), {{x, middle - half}, {x, middle + half}});
      }
    }
    layout.size.width = items_.empty() ? 0 : right - left;
    return layout;
  }

  const std::vector<LayoutBox>& boxes_;
  const std::vector<std::pair<size_t, size_t>>& edges_;
  const LayoutGaps gaps_;
  std::vector<Item> items_;                 ///< boxes first, then bends
  std::vector<std::vector<size_t>> bends_;  ///< per edge
  std::vector<std::vector<size_t>> layers_;
};

}  // namespace

Layout lay_out(const std::vector<LayoutBox>& boxes,
               const std::vector<std::pair<size_t, size_t>>& edges, const LayoutGaps& gaps) {
  return LayeredLayout(boxes, edges, gaps).run();
}

}  // namespace het::hetero
