#pragma once

#include "hetero/planner/plan_problem.h"

namespace het::hetero {

/// What a transfer occupies besides time.
enum class LinkUse {
  OnePerPair,  ///< a link for every ordered pair of places, one transfer at a time
  None,        ///< nothing: transfers run side by side
};

/// Where units run, and in which order: every device runs its own strictly in this one.
struct Schedule {
  Assignment assignment;
  std::vector<size_t> order;  ///< all units, each behind the producers of its tensors
};

/// When each unit of a request runs, in seconds from its start.
struct Timeline {
  std::vector<double> start;
  std::vector<double> finish;
  double makespan = 0;  ///< until every unit is done and every result is at home
};

/// Runs one request on paper, as the executor does: a unit begins when its device is done with the
/// one before and its tensors have arrived; a transfer begins when the tensor is there and the link
/// is done with those that asked before. Inputs of the frame ask first, in the order of their
/// units; transfers of zero seconds wait for nothing. Times that become shorter never make a
/// request longer, because nothing changes places.
///
/// Keeps the problem's address and memory for the next run: not for several threads at once.
class Simulator {
 public:
  Simulator(const PlanProblem& problem, LinkUse links);

  double makespan(const Schedule& schedule);
  Timeline timeline(const Schedule& schedule);

 private:
  double run(const Schedule& schedule, Timeline* timeline);
  void send(size_t tensor, size_t from, size_t to, double ready);

  const PlanProblem& problem_;
  LinkUse links_;
  size_t places_;
  UnitTensors tensors_;
  std::vector<double> device_free_;
  std::vector<double> link_free_;  // [from * places + to]
  std::vector<double> arrival_;    // [tensor * places + place], negative before it is sent
};

/// Seconds of each device and link that one frame takes up.
struct Loads {
  std::vector<double> devices;
  std::vector<double> links;  ///< [from * places + to]; zero where links count for nothing
};
Loads loads(const PlanProblem& problem, const Assignment& assignment, LinkUse links);

/// Seconds from frame to frame with many requests in flight: those of the busiest device or link.
double period(const PlanProblem& problem, const Assignment& assignment, LinkUse links);

}  // namespace het::hetero
