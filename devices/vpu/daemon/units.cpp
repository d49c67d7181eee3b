#include "devices/vpu/daemon/units.h"

#include <utility>

namespace het::vpu {

void Units::add(const std::string& flow, UnitChoices choices, Start start) {
  {
    std::lock_guard lock(mutex_);
    jobs_.add(flow, std::make_shared<Job>(Job{std::move(choices), std::move(start)}));
  }
  dispatch();
}

void Units::end(uint32_t number) {
  {
    std::lock_guard lock(mutex_);
    Unit& unit = units_[number];
    unit.is_busy = false;
    unit.busy += Clock::now() - unit.since;
    ++unit.executions;
  }
  dispatch();
}

/// The free unit that suits best; of equal ones that with the least to do until now.
const UnitChoice* Units::idle(const Job& job) const {
  const UnitChoice* best = nullptr;
  for (const UnitChoice& choice : *job.choices) {
    if (units_[choice.unit].is_busy) continue;
    const bool is_better =
        best == nullptr || choice.priority > best->priority ||
        (choice.priority == best->priority && units_[choice.unit].busy < units_[best->unit].busy);
    if (is_better) best = &choice;
  }
  return best;
}

/// One thread at a time starts jobs, and goes on for the others: what ends at once does not nest.
void Units::dispatch() {
  std::unique_lock lock(mutex_);
  if (is_dispatching_) return;
  is_dispatching_ = true;
  while (true) {
    const auto job = jobs_.take_if([this](const auto& j) { return idle(*j) != nullptr; });
    if (!job) break;
    const uint32_t number = idle(**job)->unit;
    units_[number].is_busy = true;
    units_[number].since = Clock::now();
    lock.unlock();
    (*job)->start(number);
    lock.lock();
  }
  is_dispatching_ = false;
}

Units::Clock::duration Units::busy_until(const Unit& unit, Clock::time_point now) const {
  return unit.busy + (unit.is_busy ? now - unit.since : Clock::duration(0));
}

std::vector<Units::Load> Units::loads() {
  std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now - latest_.when > std::chrono::seconds(1)) {
    before_ = std::move(latest_);
    latest_ = {now, {}};
    for (const Unit& unit : units_) latest_.busy.push_back(busy_until(unit, now));
  }
  std::vector<Load> loads;
  const double time = std::chrono::duration<double>(now - before_.when).count();
  for (size_t i = 0; i < units_.size(); ++i) {
    const Clock::duration past = before_.busy.empty() ? Clock::duration(0) : before_.busy[i];
    const double busy = std::chrono::duration<double>(busy_until(units_[i], now) - past).count();
    loads.push_back({units_[i].executions, time > 0 ? std::min(busy / time, 1.0) : 0.0});
  }
  return loads;
}

}  // namespace het::vpu
