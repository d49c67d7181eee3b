#pragma once

#include <functional>
#include <random>
#include <string>

#include "hetero/planner/plan_problem.h"

namespace het::hetero {

using Random = std::mt19937;

struct ProblemShape {
  size_t devices = 2;
  size_t units = 8;
};

/// A problem of random form and times: chains and branches, tensors with several consumers, several
/// inputs and results, frames in a device's memory or in the host's. Each problem has zero,
/// symmetric or asymmetric transfers of its own size, and of some of them units are unsupported on
/// devices or tensors have no way.
PlanProblem random_problem(Random& random, const ProblemShape& shape);
/// The same without anything impossible.
PlanProblem random_possible_problem(Random& random, const ProblemShape& shape);

/// Residual blocks, each with a way around it: the tables of any number of units are small.
PlanProblem residual_problem(Random& random, const ProblemShape& shape);
/// Every unit reads what all units before it give: the tables of 30 units are too large.
PlanProblem dense_problem(Random& random, const ProblemShape& shape);

/// Every assignment, each with its latency; stops below those that are not below what `limit`
/// returns. Adds up by itself, without latency().
void enumerate(const PlanProblem& problem, const std::function<double()>& limit,
               const std::function<void(const Assignment&, double)>& visit);
/// The least latency of all assignments; kImpossible where there is none.
double least_latency(const PlanProblem& problem);

/// Equal up to rounding; impossible only both.
bool is_close(double a, double b);
/// The problem as text, for a test's message.
std::string to_text(const PlanProblem& problem);

}  // namespace het::hetero
