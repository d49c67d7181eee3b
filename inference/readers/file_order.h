#pragma once

#include <cstddef>
#include <vector>

namespace het {

/// The order in which the nodes of a file are built: behind what they read, otherwise as the file
/// has them. `readers[i]` are the nodes that read what node i makes, one entry a value;
/// `waiting[i]` the number of values that node i reads from other nodes. Shorter than the number of
/// nodes where they make a cycle: `waiting` is 0 for nodes in the order and not 0 for those on a
/// cycle or behind it.
std::vector<size_t> file_order(const std::vector<std::vector<size_t>>& readers,
                               std::vector<size_t>& waiting);

}  // namespace het
