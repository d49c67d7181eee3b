#pragma once

#include "tools/accuracy/evaluation.h"

namespace het {

/// Prints a table with a column per result, or one JSON object.
void print_evaluation(const Evaluation& evaluation, const AccuracyOptions& options);

}  // namespace het
