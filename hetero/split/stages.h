#pragma once

#include <string>
#include <vector>

#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// split_model() with subgraphs that let branches on several devices overlap: nodes share one only
/// when the same values of other devices lie before them, and the same behind them. So none waits
/// for more than its nodes need, and none ends later than somebody waits for it.
Result<Split> split_in_stages(const Model& model, const std::vector<std::string>& devices);

}  // namespace het::hetero
