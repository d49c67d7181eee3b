#include "hetero/fail_over.h"

#include <limits>
#include <utility>

#include "inference/log.h"

namespace het::hetero {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
/// One for requests, one so that trying a device again holds none up.
constexpr size_t kThreads = 2;

int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
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

Result<std::unique_ptr<FailOver>> FailOver::create(std::shared_ptr<const PlanMix> first,
                                                   Replan replan, Probe probe,
                                                   std::chrono::milliseconds retry) {
  std::unique_ptr<FailOver> fail_over(
      new FailOver(std::move(first), std::move(replan), std::move(probe), retry));
  HET_ASSIGN(fail_over->threads_, StreamExecutor::create({kThreads, "hetero", {}}));
  return fail_over;
}

FailOver::FailOver(std::shared_ptr<const PlanMix> first, Replan replan, Probe probe,
                   std::chrono::milliseconds retry)
    : replan_(std::move(replan)),
      probe_(std::move(probe)),
      retry_(retry),
      due_ns_(kNever),
      plan_(std::move(first)),
      return_job_(std::make_unique<ReturnJob>(*this)) {}

FailOver::~FailOver() = default;

std::shared_ptr<const PlanMix> FailOver::plan() const {
  std::lock_guard lock(mutex_);
  return plan_;
}

Status FailOver::lose(const std::string& device, const HeteroPlan& used, const Status& cause) {
  std::lock_guard planning(planning_);
  // Of the requests that were in flight, the first to come makes the plan.
  if (!plan()->contains(used) && !plan()->uses(device)) return {};
  std::set<std::string> lost = lost_;
  lost.insert(device);
  auto plan = replan_(lost);
  if (!plan) {
    return cause.with_context(
        fmt::format("and nothing takes the place of {} ({})", device, plan.error().message()));
  }
  lost_ = std::move(lost);
  log(LogLevel::Warning, "{} failed, the model goes on without it: {}", device, cause.message());
  {
    std::lock_guard lock(mutex_);
    plan_ = std::move(*plan);
  }
  ++version_;
  if (retry_.count() > 0) due_ns_ = now_ns() + retry_ / std::chrono::nanoseconds(1);
  return {};
}

void FailOver::retry_if_due() {
  int64_t due = due_ns_;
  // Whoever takes the time away queues the job, once.
  if (due == kNever || now_ns() < due || !due_ns_.compare_exchange_strong(due, kNever)) return;
  submit(*return_job_);
}

void FailOver::try_return() {
  std::lock_guard planning(planning_);
  if (lost_.empty()) return;
  std::set<std::string> lost;
  auto plan = replan_(lost);
  Status status = plan ? probe_(*plan) : Status(plan.error());
  if (status.ok() && !lost.empty()) {
    status = error(StatusCode::DeviceLost, "{} failed to compile", *lost.begin());
  }
  if (!status.ok()) {
    log(LogLevel::Debug, "lost devices are still lost: {}", status.message());
    due_ns_ = now_ns() + retry_ / std::chrono::nanoseconds(1);
    return;
  }
  lost_.clear();
  log(LogLevel::Info, "lost devices are back");
  {
    std::lock_guard lock(mutex_);
    plan_ = std::move(*plan);
  }
  ++version_;
}

}  // namespace het::hetero
