#pragma once

#include <string>

#include "hetero/explain/graph_picture.h"

namespace het::hetero {

/// The picture in the DOT language of Graphviz.
std::string to_dot(const GraphPicture& picture);

}  // namespace het::hetero
