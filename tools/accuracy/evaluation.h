#pragma once

#include <string>
#include <vector>

#include "inference/core.h"
#include "tools/accuracy/columns.h"
#include "tools/accuracy/dataset.h"
#include "tools/accuracy/options.h"
#include "tools/accuracy/scores.h"

namespace het {

/// What was measured of a model in a type, or of a file of detections.
struct ColumnResult {
  AccuracyColumn column;
  std::string precision;  ///< type of the arithmetic, as the device tells it; may be empty
  std::string labels;     ///< how labels became categories; empty without a model
  std::vector<std::string> labels_without_category;
  std::vector<std::string> categories_without_label;
  Scores scores;
};

struct Evaluation {
  Dataset dataset;  ///< of the pictures that were evaluated
  std::vector<ColumnResult> columns;
};

/// Reads the dataset, runs the models over it, or reads their detections, and scores what was
/// found. Tells its progress and keeps it, as the options say.
Result<Evaluation> evaluate(Core& core, const AccuracyOptions& options);

}  // namespace het
