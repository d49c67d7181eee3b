#include "hetero/execution/fail_over.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "inference/base/log.h"

namespace het::hetero {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// One for requests, one so that trying a device again holds none up.
constexpr size_t kThreads = 2;
/// In units of the first.
constexpr int kLongestPause = 32;

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// When so much time has gone by; never for none.
int64_t in_future(std::chrono::milliseconds pause) {
  return pause.count() > 0 ? now_ns() + pause / std::chrono::nanoseconds(1) : kNever;
}

/// Whoever takes the time away does what is due, once.
bool take_if_due(std::atomic<int64_t>& due_ns) {
  int64_t due = due_ns;
  return due != kNever && now_ns() >= due && due_ns.compare_exchange_strong(due, kNever);
}

}  // namespace

bool blames_device(const Status& status) {
  switch (status.code()) {
    case StatusCode::DeviceLost:
    case StatusCode::Internal:
    case StatusCode::OutOfMemory:
    case StatusCode::TimedOut:
      return true;
    default:
      return false;
  }
}

class FailOver::ReturnJob final : public StreamJob {
 public:
  explicit ReturnJob(FailOver& owner) : owner_(owner) {}
  void run(size_t) override { owner_.try_return(); }

 private:
  FailOver& owner_;
};

class FailOver::JudgeJob final : public StreamJob {
 public:
  explicit JudgeJob(FailOver& owner) : owner_(owner) {}
  void run(size_t) override { owner_.judge(); }

 private:
  FailOver& owner_;
};

Result<std::unique_ptr<FailOver>> FailOver::create(Parts parts) {
  std::unique_ptr<FailOver> fail_over(new FailOver(std::move(parts)));
  HET_ASSIGN(fail_over->threads_, StreamExecutor::create({kThreads, "hetero", {}}));
  return fail_over;
}

FailOver::FailOver(Parts parts)
    : replan_(std::move(parts.replan)),
      probe_(std::move(parts.probe)),
      substitute_(std::move(parts.substitute)),
      events_(std::move(parts.events)),
      retry_(parts.retry),
      judge_(std::move(parts.judge)),
      judge_every_(parts.judge_every),
      due_ns_(kNever),
      judge_due_ns_(in_future(judge_every_)),
      lost_(std::move(parts.lost)),
      pause_(retry_),
      plan_(std::move(parts.plan)),
      return_job_(std::make_unique<ReturnJob>(*this)),
      judge_job_(std::make_unique<JudgeJob>(*this)) {
  if (!lost_.empty()) retry_later();
}

FailOver::~FailOver() = default;

std::shared_ptr<const PlanMix> FailOver::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

Status FailOver::lose(const std::string& device, uint64_t version, const Status& cause) {
  std::lock_guard planning(planning_);
  // Of the requests that were in flight, the first to come makes the plan. Late ones may come when
  // the device is back already.
  const auto last = lost_at_.find(device);
  if ((last != lost_at_.end() && version < last->second) || !plan()->uses(device)) return {};
  LostDevices lost = lost_;
  lost.emplace(device, cause.message());
  auto plan = replan_(lost);
  if (!plan) {
    return cause.with_context(
        fmt::format("and nothing takes the place of {} ({})", device, plan.error().message()));
  }
  pause_ = retry_;
  change(std::move(*plan), std::move(lost));
  return {};
}

Result<FailOver::Substitutes> FailOver::substitutes(const HeteroPlan& plan, uint64_t version,
                                                    const std::vector<size_t>& subgraphs,
                                                    const std::string& failed_device) {
  std::lock_guard planning(planning_);
  Substitutes found;
  std::vector<size_t> missing;
  for (const size_t subgraph : subgraphs) {
    const std::string& device = plan.split.subgraphs[subgraph].device;
    const auto last = lost_at_.find(device);
    const bool is_lost = last != lost_at_.end() && last->second > version;
    if (!is_lost && device != failed_device) continue;
    const auto made = substitutes_.find({&plan, subgraph});
    auto model = made != substitutes_.end() ? made->second.lock() : nullptr;
    if (model != nullptr) {
      found[subgraph] = std::move(model);
    } else {
      missing.push_back(subgraph);
    }
  }
  if (missing.empty()) return found;
  HET_ASSIGN(Substitutes made, substitute_(plan, missing, lost_));
  for (auto& [subgraph, model] : made) {
    substitutes_[{&plan, subgraph}] = model;
    found[subgraph] = std::move(model);
  }
  return found;
}

void FailOver::look_after_plan() {
  if (take_if_due(due_ns_)) submit(*return_job_);
  if (take_if_due(judge_due_ns_)) submit(*judge_job_);
}

void FailOver::judge() {
  std::lock_guard planning(planning_);
  // Plans without a device are made in a hurry, and last until it is back.
  if (lost_.empty()) {
    auto plan = judge_(this->plan());
    if (!plan) {
      log(LogLevel::Warning, "the plan is not made anew: {}", plan.error().message());
    } else if (*plan != nullptr) {
      change(std::move(*plan), {});
    }
  }
  judge_due_ns_ = in_future(judge_every_);
}

void FailOver::try_return() {
  std::lock_guard planning(planning_);
  if (lost_.empty()) return;
  LostDevices still_lost;
  auto plan = plan_without_only(still_lost);
  for (auto one = lost_.begin(); !plan && lost_.size() > 1 && one != lost_.end(); ++one) {
    still_lost = lost_;
    still_lost.erase(one->first);
    plan = plan_without_only(still_lost);
  }
  if (plan) {
    change(std::move(*plan), std::move(still_lost));
    return;
  }
  log(LogLevel::Debug, "lost devices are still lost: {}", plan.error().message());
  pause_ = std::min(pause_ * 2, retry_ * kLongestPause);
  retry_later();
}

Result<std::shared_ptr<const PlanMix>> FailOver::plan_without_only(const LostDevices& lost) const {
  LostDevices tried = lost;
  HET_ASSIGN(std::shared_ptr<const PlanMix> plan, replan_(tried));
  if (tried.size() > lost.size()) return error(StatusCode::DeviceLost, "a device does not compile");
  HET_TRY(probe_(plan));
  return plan;
}

void FailOver::change(std::shared_ptr<const PlanMix> plan, LostDevices lost) {
  lost_.swap(lost);
  substitutes_.clear();
  {
    std::lock_guard lock(mutex_);
    plan_.swap(plan);
  }
  ++version_;
  for (const auto& [device, cause] : lost) {
    if (!lost_.contains(device)) events_->add({device, {}});
  }
  for (const auto& [device, cause] : lost_) {
    if (lost.contains(device)) continue;
    lost_at_[device] = version_;
    events_->add({device, cause});
  }
  if (!lost_.empty()) retry_later();
}

void FailOver::retry_later() {
  if (retry_.count() > 0) due_ns_ = in_future(pause_);
}

}  // namespace het::hetero
