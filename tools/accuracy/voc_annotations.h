#pragma once

#include <string>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// Reads PASCAL VOC's folders: Annotations/*.xml and JPEGImages/, of the pictures that
/// ImageSets/Main/<split>.txt lists. Without a split those of val.txt, else of test.txt, else all.
/// Categories are the names of all files in alphabetical order, with ids from 1. VOC counts pixels
/// from 1 and means whole ones: columns 1 to 10 are a box at 0 that is 10 wide. The error names
/// file and element.
Result<Dataset> read_voc_annotations(const std::string& folder, const std::string& split);

}  // namespace het
