#pragma once

#include <cstddef>
#include <vector>

#include "hetero/placement/device_profile.h"
#include "hetero/planner/pipeline_flow.h"
#include "hetero/planner/plan_problem.h"
#include "hetero/planner/simulator.h"
#include "hetero/split/subgraph_splitter.h"
#include "inference/model/model.h"

namespace het::hetero {

/// A model as costs: what the planner decides on, and the way back. A unit is a node with those
/// whose only reader it is and that some device fuses with it.
class CostModel {
 public:
  CostModel(const Model& prepared, const NodeTimes& nodes, const TransferTimes& transfers);

  const PlanProblem& problem() const { return problem_; }
  const std::vector<size_t>& unit_of() const { return unit_of_; }
  /// The device of every node.
  std::vector<size_t> node_devices(const Assignment& assignment) const;
  /// The units of a placement of nodes; those whose nodes are on several devices get that of the
  /// last one.
  Assignment assignment(const std::vector<size_t>& node_devices) const;
  /// What nodes take on a device, with all of their units.
  double seconds(const std::vector<size_t>& nodes, size_t device) const;
  /// The way of a frame: subgraphs on their devices, and what goes from one device's memory to
  /// another's. Resources are the devices, then links [from * places + to].
  FrameFlow flow(const Split& split, const std::vector<size_t>& node_devices) const;
  size_t flow_resources() const { return problem_.devices + problem_.places() * problem_.places(); }
  /// Multiplies the times of nodes on a device, after they were measured together.
  void correct(const std::vector<size_t>& nodes, size_t device, double factor);

 private:
  void find_units(const Model& prepared, const NodeTimes& nodes);
  void add_tensors(const Model& prepared, const TransferTimes& transfers);

  PlanProblem problem_;
  std::vector<size_t> unit_of_;  ///< per node
};

}  // namespace het::hetero
