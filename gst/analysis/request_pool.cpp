#include "request_pool.h"

#include <utility>

namespace het::gst {

Result<std::unique_ptr<TimedRequest>> TimedRequest::create(CompiledModel& model,
                                                           const std::string& stream,
                                                           StreamShare* share) {
  std::unique_ptr<TimedRequest> timed(new TimedRequest());
  timed->share_ = share;
  HET_TRY(timed->use(model, stream));
  return timed;
}

Status TimedRequest::make(CompiledModel& model) {
  HET_ASSIGN(std::unique_ptr<InferRequest> request, model.create_infer_request());
  request->set_callback([this](const Status&) {
    ended_ = std::chrono::steady_clock::now();
    if (share_) share_->leave();
  });
  requests_[&model].request = std::move(request);
  return {};
}

Status TimedRequest::use(CompiledModel& model, const std::string& stream) {
  if (!requests_.contains(&model)) HET_TRY(make(model));
  Made& made = requests_[&model];
  if (made.stream != stream) made.request->set_stream(made.stream = stream);
  current_ = made.request.get();
  return {};
}

Result<bool> TimedRequest::start(uint64_t frame_time) {
  started_ = std::chrono::steady_clock::now();
  if (share_ && !share_->enter(frame_time)) return false;
  submitted_ = std::chrono::steady_clock::now();
  const Status status = current_->start_async();
  if (status.ok()) return true;
  if (share_) share_->leave();
  return Failure(status);
}

Result<std::unique_ptr<RequestPool>> RequestPool::create(CompiledModel& model, size_t count,
                                                         std::string stream,
                                                         std::unique_ptr<StreamShare> share) {
  std::unique_ptr<RequestPool> pool(new RequestPool(model, std::move(stream), std::move(share)));
  for (size_t i = 0; i < count; ++i) {
    HET_ASSIGN(pool->all_.emplace_back(),
               TimedRequest::create(model, pool->stream_, pool->share_.get()));
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

size_t RequestPool::busy() const {
  std::lock_guard lock(mutex_);
  return all_.size() - idle_.size();
}

void RequestPool::release(TimedRequest* request) {
  {
    std::lock_guard lock(mutex_);
    idle_.push_back(request);
  }
  idle_or_closed_.notify_one();
}

void RequestPool::replace(TimedRequest* request) {
  auto fresh = TimedRequest::create(model_, stream_, share_.get());
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

void RequestPool::set_weight(double weight) {
  if (share_) share_->set_weight(weight);
}

void RequestPool::open() {
  if (share_) share_->open();
  std::lock_guard lock(mutex_);
  closed_ = false;
}

void RequestPool::close() {
  if (share_) share_->close();
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  idle_or_closed_.notify_all();
}

}  // namespace het::gst
