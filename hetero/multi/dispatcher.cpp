#include "hetero/multi/dispatcher.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "hetero/execution/fail_over.h"
#include "hetero/members/zero_request.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

/// Between two attempts to use a lost device, in units of the first.
constexpr int kLongestDispatchPause = 32;

/// Tells that the jobs before it are done.
class Marker final : public StreamJob {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    reached_.wait(lock, [this] { return is_reached_; });
  }

 private:
  void run(size_t) override {
    std::lock_guard lock(mutex_);
    is_reached_ = true;
    reached_.notify_all();  // under the lock: the waiter destroys this
  }

  std::mutex mutex_;  ///< protects is_reached_; taken alone
  std::condition_variable reached_;
  bool is_reached_ = false;
};

}  // namespace

FallBack fall_back_of(const Properties& properties) {
  FallBack fall_back;
  fall_back.is_on = property_boolean(properties, "ENABLE_RUNTIME_FALLBACK");
  fall_back.retry =
      std::chrono::milliseconds(property_integer(properties, "HETERO_RETRY_INTERVAL"));
  return fall_back;
}

/// Runs a lost device's model once, on zeros, in the place of a request that would wait for it.
class MultiDispatcher::Probe final : public StreamJob {
 public:
  Probe(MultiDispatcher& dispatcher, WorkerGroup& group) : dispatcher_(dispatcher), group_(group) {}
  const WorkerGroup& group() const { return group_; }

 private:
  void run(size_t) override {
    const auto request = zero_request(*group_.model);
    dispatcher_.end_probe(group_, request && (*request)->infer().ok());
  }

  MultiDispatcher& dispatcher_;
  WorkerGroup& group_;
};

MultiDispatcher::MultiDispatcher(FallBack fall_back) : fall_back_(std::move(fall_back)) {}
MultiDispatcher::~MultiDispatcher() = default;

Result<std::unique_ptr<MultiDispatcher>> MultiDispatcher::create(FallBack fall_back) {
  const bool retries = fall_back.is_on && fall_back.retry.count() > 0;
  std::unique_ptr<MultiDispatcher> dispatcher(new MultiDispatcher(std::move(fall_back)));
  HET_ASSIGN(dispatcher->executor_, StreamExecutor::create({1, "multi", {}}));
  if (retries) {
    HET_ASSIGN(dispatcher->prober_, StreamExecutor::create({1, "multi-probe", {}}));
  }
  return dispatcher;
}

Status MultiDispatcher::add(std::string device, const std::shared_ptr<CompiledModel>& model,
                            size_t limit) {
  HET_ASSIGN(std::unique_ptr<WorkerGroup> group,
             make_worker_group(*this, std::move(device), model, limit));
  for (const auto& worker : group->workers) {
    worker->next_free_ = std::exchange(group->free, worker.get());
  }
  group->pause = fall_back_.retry;
  std::lock_guard lock(mutex_);
  probes_.push_back(std::make_unique<Probe>(*this, *group));
  groups_.push_back(std::move(group));
  return {};
}

WorkerGroup* MultiDispatcher::find(std::string_view device) const {
  const auto group =
      std::ranges::find_if(groups_, [&](const auto& known) { return known->device == device; });
  return group == groups_.end() ? nullptr : group->get();
}

Status MultiDispatcher::set_order(const std::vector<ListedDevice>& order) {
  {
    std::lock_guard lock(mutex_);
    std::string known;
    for (const auto& group : groups_) known += (known.empty() ? "" : ",") + group->device;
    if (order.empty()) {
      return error(StatusCode::InvalidArgument, "no device is left to run requests: name one of {}",
                   known);
    }
    for (const ListedDevice& entry : order) {
      const WorkerGroup* const group = find(entry.name);
      if (group == nullptr) {
        return error(StatusCode::InvalidArgument,
                     "the model was not compiled for '{}': its devices are {}", entry.name, known);
      }
      if (entry.limit.value_or(1) > group->workers.size()) {
        return error(StatusCode::InvalidArgument,
                     "{} was compiled for {} requests at a time, not for {}", entry.name,
                     group->workers.size(), *entry.limit);
      }
    }
    order_.clear();
    for (const auto& group : groups_) group->limit = 0;
    for (const ListedDevice& entry : order) {
      WorkerGroup* const group = find(entry.name);
      group->limit = entry.limit.value_or(group->workers.size());
      order_.push_back(group);
    }
    waits_for_substitute_ = false;
  }
  drained_.notify_all();
  start_all_waiting();
  return {};
}

void MultiDispatcher::remove(std::string_view device) {
  std::unique_ptr<WorkerGroup> group;
  {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [&] { return find(device)->running == 0 && !find(device)->is_probed; });
    const auto place =
        std::ranges::find_if(groups_, [&](const auto& known) { return known->device == device; });
    group = std::move(*place);
    groups_.erase(place);
    std::erase_if(probes_, [&](const auto& probe) { return &probe->group() == group.get(); });
  }
  // A cancelled execution's end may still be on its way there.
  Marker marker;
  executor_->submit(marker);
  marker.wait();
}

size_t MultiDispatcher::limit() const {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const WorkerGroup* group : order_) sum += group->limit;
  return sum;
}

void MultiDispatcher::set_has_substitute(bool has_one) {
  std::lock_guard lock(mutex_);
  has_substitute_ = has_one;
}

void MultiDispatcher::give_up() {
  {
    std::lock_guard lock(mutex_);
    has_substitute_ = false;
    waits_for_substitute_ = false;
  }
  start_all_waiting();
}

bool MultiDispatcher::has_usable() const {
  return std::ranges::any_of(order_, [](const WorkerGroup* group) { return !group->is_lost; });
}

bool MultiDispatcher::lose(WorkerGroup& group, Clock::time_point now) {
  group.failed_at = now;
  if (group.is_lost) return false;
  group.is_lost = true;
  group.retry_at = now + group.pause;
  if (!has_usable()) waits_for_substitute_ = has_substitute_;
  return true;
}

void MultiDispatcher::requeue(MultiRequest& request) {
  request.previous_ = nullptr;
  request.next_ = first_waiting_;
  (first_waiting_ ? first_waiting_->previous_ : last_waiting_) = &request;
  first_waiting_ = &request;
  request.is_waiting_ = true;
}

void MultiDispatcher::probe_lost(Clock::time_point now) {
  if (prober_ == nullptr) return;
  for (const auto& group : groups_) {
    if (!group->is_lost || group->is_probed || group->limit == 0 || now < group->retry_at) continue;
    group->is_probed = true;
    const auto probe = std::ranges::find_if(
        probes_, [&](const auto& known) { return &known->group() == group.get(); });
    prober_->submit(**probe);
  }
}

void MultiDispatcher::end_probe(WorkerGroup& group, bool works) {
  std::string device;
  {
    std::lock_guard lock(mutex_);
    if (works) {
      device = group.device;
      group.is_lost = false;
      group.pause = fall_back_.retry;
    } else {
      group.pause = std::min(2 * group.pause, kLongestDispatchPause * fall_back_.retry);
      group.retry_at = Clock::now() + group.pause;
    }
  }
  if (works && fall_back_.on_return) fall_back_.on_return(device);
  if (works) start_all_waiting();
  {
    std::lock_guard lock(mutex_);
    group.is_probed = false;
    // From here on the group may go.
    drained_.notify_all();
  }
}

WorkerGroup* MultiDispatcher::fastest_free() const {
  WorkerGroup* best = nullptr;
  std::optional<ServiceTimes::Duration> best_time;
  for (WorkerGroup* const group : order_) {
    if (group->running >= group->limit || group->is_lost) continue;
    const auto time = group->times.expected(group->running);
    // Where one of two is not known, the order says.
    if (best != nullptr && !(time && best_time && *time < *best_time)) continue;
    best = group;
    best_time = time;
  }
  return best;
}

/// They take turns, since nobody knows which works again.
WorkerGroup* MultiDispatcher::longest_lost() const {
  WorkerGroup* best = nullptr;
  for (WorkerGroup* const group : order_) {
    if (group->running >= group->limit) continue;
    if (best == nullptr || group->failed_at < best->failed_at) best = group;
  }
  return best;
}

MultiWorker* MultiDispatcher::take_worker() {
  const bool has_choice = has_usable();
  if (!has_choice && waits_for_substitute_) return nullptr;
  WorkerGroup* const best = has_choice ? fastest_free() : longest_lost();
  if (best == nullptr) return nullptr;
  MultiWorker* const worker = best->free;
  best->free = worker->next_free_;
  worker->others_ = best->running++;
  return worker;
}

void MultiDispatcher::assign(MultiWorker& worker, MultiRequest& request, Clock::time_point now) {
  worker.current_ = &request;
  worker.began_ = now;
  request.worker_ = &worker;
}

void MultiDispatcher::remove_waiting(MultiRequest& request) {
  (request.previous_ ? request.previous_->next_ : first_waiting_) = request.next_;
  (request.next_ ? request.next_->previous_ : last_waiting_) = request.previous_;
  request.is_waiting_ = false;
}

MultiWorker* MultiDispatcher::assign_waiting(Clock::time_point now) {
  if (first_waiting_ == nullptr) return nullptr;
  MultiWorker* const worker = take_worker();
  if (worker == nullptr) return nullptr;
  MultiRequest& request = *first_waiting_;
  remove_waiting(request);
  assign(*worker, request, now);
  return worker;
}

void MultiDispatcher::submit(MultiRequest& request) {
  const Clock::time_point now = Clock::now();
  MultiWorker* worker = nullptr;
  {
    std::lock_guard lock(mutex_);
    request.is_cancelled_ = false;
    probe_lost(now);
    // While others wait no worker is free.
    if (first_waiting_ == nullptr) worker = take_worker();
    if (worker == nullptr) {
      request.next_ = nullptr;
      request.previous_ = last_waiting_;
      (last_waiting_ ? last_waiting_->next_ : first_waiting_) = &request;
      last_waiting_ = &request;
      request.is_waiting_ = true;
      return;
    }
    assign(*worker, request, now);
  }
  worker->start(request);
}

void MultiDispatcher::cancel(MultiRequest& request) {
  MultiWorker* worker = nullptr;
  {
    std::lock_guard lock(mutex_);
    if (request.is_waiting_) {
      remove_waiting(request);
    } else if (request.worker_ != nullptr) {
      // It may not have begun; start_waiting() looks here.
      request.is_cancelled_ = true;
      worker = request.worker_;
      ++worker->cancelling_;
    } else {
      return;
    }
  }
  if (worker == nullptr) return executor_->submit(request);
  worker->request_->cancel();
  {
    std::lock_guard lock(mutex_);
    if (--worker->cancelling_ > 0 || !std::exchange(worker->end_waits_, false)) return;
  }
  executor_->submit(*worker);
}

bool MultiDispatcher::start_waiting(MultiWorker& worker, MultiRequest& request) {
  if (worker.start_within(request)) return true;
  // A cancel() that came before the start found nothing to cancel. It may be another execution by
  // now, even of this request; then nobody has cancelled that.
  {
    std::lock_guard lock(mutex_);
    if (worker.current_ != &request || request.worker_ != &worker || !request.is_cancelled_) {
      return false;
    }
    ++worker.cancelling_;
  }
  worker.request_->cancel();
  {
    std::lock_guard lock(mutex_);
    if (--worker.cancelling_ > 0 || !std::exchange(worker.end_waits_, false)) return false;
  }
  executor_->submit(worker);
  return false;
}

void MultiDispatcher::start_all_waiting() {
  for (;;) {
    MultiWorker* worker = nullptr;
    MultiRequest* request = nullptr;
    {
      std::lock_guard lock(mutex_);
      worker = assign_waiting(Clock::now());
      if (worker == nullptr) return;
      request = worker->current_;
    }
    if (start_waiting(*worker, *request)) end(*worker);
  }
}

void MultiDispatcher::end(MultiWorker& worker) {
  MultiWorker* ended = &worker;
  while (ended != nullptr && detach(*ended)) ended = finish(*ended);
}

bool MultiDispatcher::detach(MultiWorker& worker) {
  std::lock_guard lock(mutex_);
  if (worker.cancelling_ > 0) {
    worker.end_waits_ = true;
    return false;
  }
  worker.current_->worker_ = nullptr;
  return true;
}

MultiWorker* MultiDispatcher::finish(MultiWorker& worker) {
  MultiRequest& request = *worker.current_;
  Status status = std::move(worker.status_);
  if (!status.ok() && status.code() != StatusCode::Cancelled) {
    status = status.with_context("on " + worker.group_.device);
  }
  request.rows_ = worker.profiling();
  worker.take_idle_tensors();
  const Clock::time_point now = Clock::now();
  const bool blames = fall_back_.is_on && blames_device(status);
  std::string lost;
  std::string returned;
  bool runs_again = false;
  MultiWorker* next = nullptr;
  MultiRequest* next_request = nullptr;
  {
    std::lock_guard lock(mutex_);
    WorkerGroup& group = worker.group_;
    if (status.ok()) group.times.add(worker.others_, now - worker.began_);
    if (status.ok() && std::exchange(group.is_lost, false)) returned = group.device;
    worker.current_ = nullptr;
    worker.next_free_ = std::exchange(group.free, &worker);
    --group.running;
    if (blames && lose(group, now)) lost = group.device;
    runs_again = blames && !request.is_cancelled_ && (has_usable() || waits_for_substitute_);
    if (runs_again) requeue(request);
    next = assign_waiting(now);
    if (next != nullptr) next_request = next->current_;
    // From here on the group may go, unless it has something to run.
    if (group.running == 0 && group.limit == 0) drained_.notify_all();
  }
  if (!lost.empty() && fall_back_.on_loss) fall_back_.on_loss(lost, status);
  if (!returned.empty() && fall_back_.on_return) fall_back_.on_return(returned);
  // The device goes on before the application learns of the end.
  const bool has_ended = next != nullptr && start_waiting(*next, *next_request);
  if (!runs_again) complete(request, std::move(status));
  return has_ended ? next : nullptr;
}

void MultiDispatcher::complete(MultiRequest& request, Status status) const {
  // They were kept for another device.
  for (size_t i = 0; fall_back_.is_on && i < request.io_->input_count(); ++i) {
    request.io_->clear_images(i);
  }
  CompletionSink* const sink = request.sink_;
  sink->complete(std::move(status));
}

}  // namespace het::hetero
