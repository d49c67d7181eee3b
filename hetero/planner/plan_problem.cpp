#include "hetero/planner/plan_problem.h"

#include <algorithm>
#include <cmath>

namespace het::hetero {
namespace {

bool is_duration(double seconds) {
  return seconds >= 0;
}  // false for NaN as well

Status check_unit(const PlanProblem& problem, size_t unit) {
  const std::vector<double>& seconds = problem.units[unit].seconds;
  if (seconds.size() != problem.devices) {
    return error(StatusCode::InvalidArgument, "unit {} has times for {} devices instead of {}",
                 unit, seconds.size(), problem.devices);
  }
  const auto bad = std::ranges::find_if_not(seconds, is_duration);
  if (bad != seconds.end()) {
    return error(StatusCode::InvalidArgument, "unit {} takes {} s on device {}", unit, *bad,
                 bad - seconds.begin());
  }
  return {};
}

Status check_tensor(const PlanProblem& problem, size_t index) {
  const PlanTensor& tensor = problem.tensors[index];
  const size_t places = problem.places();
  if (tensor.producer != kOutside && tensor.producer >= problem.units.size()) {
    return error(StatusCode::InvalidArgument, "tensor {} comes from unit {} of {}", index,
                 tensor.producer, problem.units.size());
  }
  for (const size_t consumer : tensor.consumers) {
    if (consumer >= problem.units.size()) {
      return error(StatusCode::InvalidArgument, "tensor {} goes to unit {} of {}", index, consumer,
                   problem.units.size());
    }
    if (tensor.producer != kOutside && consumer <= tensor.producer) {
      return error(StatusCode::InvalidArgument,
                   "tensor {} goes from unit {} to unit {}, which is not behind it", index,
                   tensor.producer, consumer);
    }
  }
  if (tensor.transfer_seconds.size() != places * places) {
    return error(StatusCode::InvalidArgument,
                 "tensor {} has {} transfer times instead of one for each of {} x {} places", index,
                 tensor.transfer_seconds.size(), places, places);
  }
  for (size_t from = 0; from < places; ++from) {
    for (size_t to = 0; to < places; ++to) {
      const double seconds = tensor.transfer_seconds[from * places + to];
      if (is_duration(seconds) && (from != to || seconds == 0)) continue;
      return error(StatusCode::InvalidArgument, "tensor {} takes {} s from place {} to place {}",
                   index, seconds, from, to);
    }
  }
  return {};
}

}  // namespace

UnitTensors::UnitTensors(const PlanProblem& problem)
    : inputs(problem.units.size()), outputs(problem.units.size()) {
  for (size_t t = 0; t < problem.tensors.size(); ++t) {
    const PlanTensor& tensor = problem.tensors[t];
    if (tensor.producer != kOutside) outputs[tensor.producer].push_back(t);
    for (const size_t consumer : tensor.consumers) {
      if (inputs[consumer].empty() || inputs[consumer].back() != t) inputs[consumer].push_back(t);
    }
  }
}

Status check_problem(const PlanProblem& problem) {
  if (problem.devices == 0 || problem.devices > kMaxDevices) {
    return error(StatusCode::InvalidArgument, "there are {} devices; 1 to {} can be planned for",
                 problem.devices, kMaxDevices);
  }
  if (problem.home > problem.devices) {
    return error(StatusCode::InvalidArgument, "frames lie in place {}, but there are {} devices",
                 problem.home, problem.devices);
  }
  for (size_t unit = 0; unit < problem.units.size(); ++unit) HET_TRY(check_unit(problem, unit));
  for (size_t t = 0; t < problem.tensors.size(); ++t) HET_TRY(check_tensor(problem, t));
  return {};
}

size_t source_place(const PlanProblem& problem, const PlanTensor& tensor,
                    const Assignment& assignment) {
  return tensor.producer == kOutside ? problem.home : assignment[tensor.producer];
}

PlaceSet destinations(const PlanProblem& problem, const PlanTensor& tensor,
                      const Assignment& assignment) {
  PlaceSet places = tensor.leaves ? PlaceSet{1} << problem.home : 0;
  for (const size_t consumer : tensor.consumers) places |= PlaceSet{1} << assignment[consumer];
  return places & ~(PlaceSet{1} << source_place(problem, tensor, assignment));
}

double latency(const PlanProblem& problem, const Assignment& assignment) {
  double seconds = 0;
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    seconds += problem.units[unit].seconds[assignment[unit]];
  }
  for (const PlanTensor& tensor : problem.tensors) {
    const size_t source = source_place(problem, tensor, assignment);
    for_each_place(destinations(problem, tensor, assignment), [&](size_t to) {
      seconds += tensor.transfer_seconds[source * problem.places() + to];
    });
  }
  return seconds;
}

}  // namespace het::hetero
