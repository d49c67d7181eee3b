#pragma once

#include <span>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// Reads COCO's results of detection ([{image_id, category_id, bbox, score}]), one entry per
/// picture of the dataset. For VOC image_id is the picture's name, and category_id the place of its
/// name among all in alphabetical order, from 1. `unread`: pictures of the dataset that are left
/// out, whose entries are passed over. The error names file and key.
Result<std::vector<Found>> read_coco_results(const std::string& path, const Dataset& dataset,
                                             std::span<const LabelledPicture> unread = {});

/// Writes them; the file appears when it is complete.
Status write_coco_results(const std::string& path, const Dataset& dataset,
                          std::span<const Found> found);

}  // namespace het
