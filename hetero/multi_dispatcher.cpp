#include "hetero/multi_dispatcher.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace het::hetero {
namespace {

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

MultiDispatcher::MultiDispatcher() = default;
MultiDispatcher::~MultiDispatcher() = default;

Result<std::unique_ptr<MultiDispatcher>> MultiDispatcher::create() {
  std::unique_ptr<MultiDispatcher> dispatcher(new MultiDispatcher);
  HET_ASSIGN(dispatcher->executor_, StreamExecutor::create({1, "multi", {}}));
  return dispatcher;
}

Status MultiDispatcher::add(std::string device, const std::shared_ptr<CompiledModel>& model,
                            size_t limit) {
  HET_ASSIGN(std::unique_ptr<WorkerGroup> group,
             make_worker_group(*this, std::move(device), model, limit));
  for (const auto& worker : group->workers) {
    worker->next_free_ = std::exchange(group->free, worker.get());
  }
  std::lock_guard lock(mutex_);
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
  }
  drained_.notify_all();
  start_all_waiting();
  return {};
}

void MultiDispatcher::remove(std::string_view device) {
  std::unique_ptr<WorkerGroup> group;
  {
    std::unique_lock lock(mutex_);
    drained_.wait(lock, [&] { return find(device)->running == 0; });
    const auto place =
        std::ranges::find_if(groups_, [&](const auto& known) { return known->device == device; });
    group = std::move(*place);
    groups_.erase(place);
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

MultiWorker* MultiDispatcher::take_worker() {
  WorkerGroup* best = nullptr;
  std::optional<ServiceTimes::Duration> best_time;
  for (WorkerGroup* const group : order_) {
    if (group->running >= group->limit) continue;
    const auto time = group->times.expected(group->running);
    // Where one of two is not known, the order says.
    if (best != nullptr && !(time && best_time && *time < *best_time)) continue;
    best = group;
    best_time = time;
  }
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
  MultiWorker* next = nullptr;
  MultiRequest* next_request = nullptr;
  {
    std::lock_guard lock(mutex_);
    WorkerGroup& group = worker.group_;
    if (status.ok()) group.times.add(worker.others_, now - worker.began_);
    worker.current_ = nullptr;
    worker.next_free_ = std::exchange(group.free, &worker);
    --group.running;
    next = assign_waiting(now);
    if (next != nullptr) next_request = next->current_;
    // From here on the group may go, unless it has something to run.
    if (group.running == 0 && group.limit == 0) drained_.notify_all();
  }
  // The device goes on before the application learns of the end.
  const bool has_ended = next != nullptr && start_waiting(*next, *next_request);
  CompletionSink* const sink = request.sink_;
  sink->complete(std::move(status));
  return has_ended ? next : nullptr;
}

}  // namespace het::hetero
