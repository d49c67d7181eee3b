#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

/// Corners, of the picture's or in pixels: boxes are only compared with others of the same kind.
struct ObjectBox {
  double x_min = 0;
  double y_min = 0;
  double x_max = 0;
  double y_max = 0;
  bool operator==(const ObjectBox&) const = default;
};

/// Intersection over union, 0 for boxes without area.
double overlap(const ObjectBox& a, const ObjectBox& b);

/// An object with an id.
struct TrackedObject {
  int64_t id = 0;
  std::string label;
  ObjectBox box;
  // Where the id stands in the line.
  size_t id_begin = 0;
  size_t id_size = 0;
};

/// A frame of an output, as far as identities need it.
struct TrackedLine {
  int64_t timestamp_ns = 0;
  std::vector<TrackedObject> objects;  ///< those with an id, in the line's order
};

/// Reads a line of heterometaconvert. Fails with ParseError, `place` names it in the message.
Result<TrackedLine> read_tracked_line(std::string_view line, std::string_view place);

/// The line with other ids, every other byte as it was. `ids` are those of the line's objects.
std::string with_ids(std::string_view line, const TrackedLine& read,
                     const std::vector<int64_t>& ids);

}  // namespace het::archive
