#pragma once

#include <string>
#include <vector>

#include "tools/accuracy/coco_metric.h"
#include "tools/preparation_options.h"

namespace het {

/// What the user says to `hetero accuracy`.
struct AccuracyOptions {
  std::vector<std::string> paths;  ///< models, and the dataset last
  std::string device = "CPU";
  std::string annotations;
  std::string split;
  std::vector<std::string> types;
  std::string model_proc;
  std::string labels_file;
  std::string label_map;
  std::string properties;
  std::string load_config;
  PreparationOptions preparation;
  double threshold = 0.001;
  std::vector<int> limits{kCocoLimits.begin(), kCocoLimits.end()};  ///< --max-dets
  std::string metric;  ///< "coco", "voc"; empty: the dataset's
  size_t limit = 0;    ///< of pictures; 0: all
  std::string detections;
  std::string from_detections;
  std::string state;
  bool per_category = false;
  bool json = false;
};

/// Fails on options that do not go together.
Status check(const AccuracyOptions& options);

}  // namespace het
