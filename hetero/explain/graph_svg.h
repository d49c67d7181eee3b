#pragma once

#include <string>

#include "hetero/explain/graph_picture.h"

namespace het::hetero {

/// The picture as SVG, laid out without the help of other programs: layers from top to bottom,
/// clusters as frames. Tooltips tell full names and reasons.
std::string to_svg(const GraphPicture& picture);

}  // namespace het::hetero
