#include "hetero/planner/simulator.h"

#include <algorithm>

namespace het::hetero {

Simulator::Simulator(const PlanProblem& problem, LinkUse links)
    : problem_(problem),
      links_(links),
      places_(problem.places()),
      tensors_(problem),
      device_free_(problem.devices),
      link_free_(places_ * places_),
      arrival_(problem.tensors.size() * places_) {}

double Simulator::makespan(const Schedule& schedule) {
  return run(schedule, nullptr);
}

Timeline Simulator::timeline(const Schedule& schedule) {
  Timeline timeline;
  timeline.start.resize(problem_.units.size());
  timeline.finish.resize(problem_.units.size());
  timeline.makespan = run(schedule, &timeline);
  return timeline;
}

void Simulator::send(size_t tensor, size_t from, size_t to, double ready) {
  double& arrival = arrival_[tensor * places_ + to];
  if (arrival >= 0) return;
  const double seconds = problem_.tensors[tensor].transfer_seconds[from * places_ + to];
  if (seconds > 0 && links_ == LinkUse::OnePerPair) {
    double& free = link_free_[from * places_ + to];
    free = std::max(free, ready) + seconds;
    arrival = free;
  } else {
    arrival = ready + seconds;
  }
}

double Simulator::run(const Schedule& schedule, Timeline* timeline) {
  const Assignment& assignment = schedule.assignment;
  std::ranges::fill(device_free_, 0.0);
  std::ranges::fill(link_free_, 0.0);
  std::ranges::fill(arrival_, -1.0);
  // 1. The frame's inputs set out.
  for (const size_t unit : schedule.order) {
    for (const size_t t : tensors_.inputs[unit]) {
      if (problem_.tensors[t].producer == kOutside) send(t, problem_.home, assignment[unit], 0.0);
    }
  }
  // 2. Units in order. Those of a device end in order, and so its links serve who asks first.
  double makespan = 0;
  for (const size_t unit : schedule.order) {
    const size_t device = assignment[unit];
    double start = device_free_[device];
    for (const size_t t : tensors_.inputs[unit]) {
      start = std::max(start, arrival_[t * places_ + device]);
    }
    const double finish = start + problem_.units[unit].seconds[device];
    device_free_[device] = finish;
    makespan = std::max(makespan, finish);
    for (const size_t t : tensors_.outputs[unit]) {
      const PlanTensor& tensor = problem_.tensors[t];
      for (const size_t consumer : tensor.consumers) send(t, device, assignment[consumer], finish);
      if (!tensor.leaves) continue;
      send(t, device, problem_.home, finish);
      makespan = std::max(makespan, arrival_[t * places_ + problem_.home]);
    }
    if (timeline) {
      timeline->start[unit] = start;
      timeline->finish[unit] = finish;
    }
  }
  return makespan;
}

Loads loads(const PlanProblem& problem, const Assignment& assignment, LinkUse links) {
  const size_t places = problem.places();
  Loads load{std::vector<double>(problem.devices, 0.0), std::vector<double>(places * places, 0.0)};
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    load.devices[assignment[unit]] += problem.units[unit].seconds[assignment[unit]];
  }
  for (const PlanTensor& tensor : problem.tensors) {
    const size_t from = source_place(problem, tensor, assignment);
    for_each_place(destinations(problem, tensor, assignment), [&](size_t to) {
      const double seconds = tensor.transfer_seconds[from * places + to];
      if (links == LinkUse::OnePerPair || seconds == kImpossible) {
        load.links[from * places + to] += seconds;
      }
    });
  }
  return load;
}

double period(const PlanProblem& problem, const Assignment& assignment, LinkUse links) {
  const Loads load = loads(problem, assignment, links);
  return std::max(*std::ranges::max_element(load.devices), *std::ranges::max_element(load.links));
}

}  // namespace het::hetero
