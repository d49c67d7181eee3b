#pragma once

#include <string>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// Reads COCO's annotations of objects (https://cocodataset.org/#format-data): pictures and
/// categories by rising id, boxes in the order of the file. `file` of a picture is its file_name;
/// an object without area has its box's. The error names file and key: an id twice or unknown, a
/// box that is none, a size of 0.
Result<Dataset> read_coco_annotations(const std::string& path);

/// True where the file begins as COCO's annotations may: a JSON object with the word "images".
bool is_coco_annotations(const std::string& path);

}  // namespace het
