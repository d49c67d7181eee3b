#include "request_pool.h"

#include <utility>

namespace het::gst {

Result<std::unique_ptr<TimedRequest>> TimedRequest::create(CompiledModel& model,
                                                           const std::string& stream) {
  std::unique_ptr<TimedRequest> timed(new TimedRequest());
  HET_ASSIGN(timed->request_, model.create_infer_request());
  timed->request_->set_stream(stream);
  timed->request_->set_callback(
      [self = timed.get()](const Status&) { self->ended_ = std::chrono::steady_clock::now(); });
  return timed;
}

Status TimedRequest::start() {
  started_ = std::chrono::steady_clock::now();
  return request_->start_async();
}

Result<std::unique_ptr<RequestPool>> RequestPool::create(CompiledModel& model, size_t count,
                                                         std::string stream) {
  std::unique_ptr<RequestPool> pool(new RequestPool(model, std::move(stream)));
  for (size_t i = 0; i < count; ++i) {
    HET_ASSIGN(pool->all_.emplace_back(), TimedRequest::create(model, pool->stream_));
    pool->idle_.push_back(pool->all_.back().get());
  }
  return pool;
}

TimedRequest* RequestPool::acquire() {
  std::unique_lock lock(mutex_);
  idle_or_closed_.wait(lock, [this] { return closed_ || !idle_.empty(); });
  if (closed_) return nullptr;
  TimedRequest* request = idle_.back();
  idle_.pop_back();
  return request;
}

bool RequestPool::has_idle() const {
  std::lock_guard lock(mutex_);
  return !idle_.empty();
}

void RequestPool::release(TimedRequest* request) {
  {
    std::lock_guard lock(mutex_);
    idle_.push_back(request);
  }
  idle_or_closed_.notify_one();
}

void RequestPool::replace(TimedRequest* request) {
  auto fresh = TimedRequest::create(model_, stream_);
  TimedRequest* replacement = request;
  std::unique_ptr<TimedRequest> old;
  if (fresh) {
    replacement = fresh->get();
    std::lock_guard lock(mutex_);
    for (std::unique_ptr<TimedRequest>& owned : all_) {
      if (owned.get() != request) continue;
      old = std::exchange(owned, std::move(*fresh));
      break;
    }
  }
  release(replacement);
}

void RequestPool::open() {
  std::lock_guard lock(mutex_);
  closed_ = false;
}

void RequestPool::close() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  idle_or_closed_.notify_all();
}

}  // namespace het::gst
