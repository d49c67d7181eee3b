#pragma once

#include <string>

#include "hetero/placement/placement.h"
#include "hetero/placement/plan_report.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A plan for people: the candidates, then per subgraph of the chosen one its device, nodes and
/// what it waits for, and per cut the tensor, its bytes, the two sides and why they differ.
std::string explain(const Model& prepared, const PlanReport& report, const SupportTable& table);

}  // namespace het::hetero
