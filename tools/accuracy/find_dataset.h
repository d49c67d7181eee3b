#pragma once

#include <string>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// Where a dataset is, as the user says it.
struct DatasetPlace {
  std::string path;         ///< a folder, or COCO's annotations
  std::string annotations;  ///< COCO's annotations; empty: found in the folder
  std::string split;        ///< "val2017", "test" ...; empty: chosen
  bool needs_pictures = true;
};

/// Reads a dataset of any form that is known here: COCO (the given annotations, or
/// annotations/instances_*.json, or a .json of the folder), VOC (Annotations/ and JPEGImages/) or
/// class folders, in this order. With `needs_pictures` the pictures' files are looked for, and the
/// first that is missing is an error. Where nothing fits, the error names what was looked for.
Result<Dataset> find_dataset(const DatasetPlace& place);

}  // namespace het
