#include "inference/model/node_names.h"

#include <utility>

#include "inference/base/edit_distance.h"

namespace het {
namespace {

/// What an error shows of a name.
constexpr size_t kMaxShownNameBytes = 100;

std::string_view beginning(std::string_view text) {
  return text.substr(0, kMaxShownNameBytes);
}

}  // namespace

NodesByName::NodesByName(const Model& model) {
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    const Node& node = *model.nodes()[i];
    nodes_[node.name()].push_back(i);
    for (const std::string& name : node.original_names()) {
      if (name != node.name()) nodes_[name].push_back(i);
    }
  }
}

const std::vector<size_t>& NodesByName::find(std::string_view name) const {
  static const std::vector<size_t> none;
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? none : found->second;
}

std::string NodesByName::nearest(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [other, indices] : nodes_) names.push_back(other);
  std::string text;
  for (const std::string_view other : nearest_names(std::move(names), name)) {
    text += fmt::format("{} '{}{}'", text.empty() ? "" : ",", beginning(other),
                        other.size() > kMaxShownNameBytes ? "..." : "");
  }
  return text.empty() ? "; it has no nodes" : "; the nearest names are" + text;
}

Status set_affinities(Model& model,
                      const std::map<std::string, std::string, std::less<>>& devices) {
  const NodesByName names(model);
  std::vector<std::pair<Node*, const std::string*>> wishes;
  for (const auto& [name, device] : devices) {
    const std::vector<size_t>& found = names.find(name);
    if (found.empty()) {
      return error(StatusCode::NotFound, "model '{}' has no node '{}'{}", model.name(),
                   beginning(name), names.nearest(name));
    }
    for (const size_t i : found) wishes.emplace_back(model.nodes()[i].get(), &device);
  }
  for (const auto& node : model.nodes()) {
    const auto own = devices.find(node->name());
    if (own != devices.end()) wishes.emplace_back(node.get(), &own->second);
  }
  for (const auto& [node, device] : wishes) node->set_affinity(*device);
  return {};
}

}  // namespace het
