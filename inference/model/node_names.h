#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Finds nodes as users name them: by their own names and by those of the file's nodes that they
/// stand for. Refers to the model, which may not change meanwhile.
class HET_API NodesByName {
 public:
  explicit NodesByName(const Model& model);

  /// Indices of model.nodes(), ascending; empty when no node has the name.
  const std::vector<size_t>& find(std::string_view name) const;
  /// "; the nearest names are 'conv1', 'conv2'", for errors.
  std::string nearest(std::string_view name) const;

 private:
  std::unordered_map<std::string_view, std::vector<size_t>> nodes_;
};

/// Sets Node::affinity() by names as find() takes them, "" takes it away. What is said of a node's
/// own name counts more than what is said of a layer that it is a part of. Fails with NotFound,
/// telling the nearest names, and changes nothing then. Whether the devices exist is seen when the
/// model is compiled.
HET_API Status set_affinities(Model& model,
                              const std::map<std::string, std::string, std::less<>>& devices);

}  // namespace het
