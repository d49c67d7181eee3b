#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

/// Upward rank of every unit: its mean seconds over the devices that run it, and the largest sum of
/// mean transfer and rank behind it. Topcuoglu, Hariri, Wu: Performance-effective and
/// low-complexity task scheduling for heterogeneous computing (HEFT), 2002.
std::vector<double> upward_rank(const PlanProblem& problem);

/// The rank of ONE runtime's scheduler: mean seconds times their standard deviation over the
/// devices, in microseconds where it is above one, so that units come first whose device matters;
/// and the same sum behind it, with transfers between all devices divided by their number.
std::vector<double> one_rank(const PlanProblem& problem);

/// The upward rank with the seconds of an assignment instead of means: the time from each unit's
/// start to the end if devices and links were free.
std::vector<double> assigned_rank(const PlanProblem& problem, const Assignment& assignment);

/// Units by falling rank, each on the device where it ends first, in a gap between others where it
/// fits. A link takes transfers one behind the other.
Schedule list_schedule(const PlanProblem& problem, const std::vector<double>& rank, LinkUse links);

/// Units by falling rank, but behind their producers.
std::vector<size_t> rank_order(const PlanProblem& problem, const std::vector<double>& rank);

}  // namespace het::hetero
