#include "output_queue.h"

#include <algorithm>
#include <utility>

namespace het::gst {

OutputQueue::~OutputQueue() {
  for (const Item& item : items_) {
    if (item.frame) gst_buffer_unref(item.frame->buffer);
    if (item.event) gst_event_unref(item.event);
  }
}

GstFlowReturn OutputQueue::flow() const {
  std::lock_guard lock(mutex_);
  return flow_;
}

void OutputQueue::open() {
  std::lock_guard lock(mutex_);
  flow_ = GST_FLOW_OK;
}

void OutputQueue::close(GstFlowReturn reason) {
  {
    std::lock_guard lock(mutex_);
    if (flow_ == GST_FLOW_OK || reason == GST_FLOW_FLUSHING) flow_ = reason;
  }
  changed_.notify_all();
}

void OutputQueue::cancel_jobs() {
  std::lock_guard lock(mutex_);
  if (awaited_) awaited_->request().cancel();
  for (const Item& item : items_) {
    if (!item.frame) continue;
    for (const RegionJob& job : item.frame->jobs) job.request->request().cancel();
  }
}

void OutputQueue::clear(RequestPool& pool, GstPad* source_pad) {
  std::pmr::deque<Item> items(&frame_memory());
  {
    std::lock_guard lock(mutex_);
    items.swap(items_);
    frames_ = 0;
    batches_ = 0;
  }
  for (const Item& item : items) {
    if (item.event) {
      const GstEventType type = GST_EVENT_TYPE(item.event);
      if (source_pad && GST_EVENT_IS_STICKY(item.event) && type != GST_EVENT_SEGMENT &&
          type != GST_EVENT_EOS) {
        gst_pad_store_sticky_event(source_pad, item.event);
      }
      gst_event_unref(item.event);
    }
    if (!item.frame) continue;
    for (const RegionJob& job : item.frame->jobs) {
      job.request->request().cancel();
      if (job.request->wait().ok()) {
        pool.release(job.request);
      } else {
        pool.replace(job.request);
      }
    }
    gst_buffer_unref(item.frame->buffer);
  }
}

std::shared_ptr<QueuedFrame> OutputQueue::begin_frame(GstBuffer* buffer, const GstVideoInfo& info) {
  auto frame = make_for_frame<QueuedFrame>();
  frame->buffer = buffer;
  frame->info = info;
  frame->arrived = std::chrono::steady_clock::now();
  {
    std::unique_lock lock(mutex_);
    wait_for_room(lock);
    if (flow_ == GST_FLOW_OK) {
      items_.push_back({.frame = frame});
      ++frames_;
      buffer = nullptr;
    }
  }
  if (buffer) {
    gst_buffer_unref(buffer);
    return nullptr;
  }
  changed_.notify_all();
  return frame;
}

void OutputQueue::wait_for_room(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return flow_ != GST_FLOW_OK || frames_ + batches_ < frame_limit_; });
}

void OutputQueue::add_job(QueuedFrame& frame, const RegionJob& job) {
  {
    std::lock_guard lock(mutex_);
    frame.jobs.push_back(job);
    if (flow_ == GST_FLOW_FLUSHING) job.request->request().cancel();
  }
  changed_.notify_all();
}

void OutputQueue::end_frame(QueuedFrame& frame) {
  {
    std::lock_guard lock(mutex_);
    frame.ended = true;
  }
  changed_.notify_all();
}

bool OutputQueue::push_batch(std::shared_ptr<FrameBatch> batch) {
  {
    std::unique_lock lock(mutex_);
    wait_for_room(lock);
    if (flow_ != GST_FLOW_OK) return false;
    items_.push_back({.batch = std::move(batch)});
    ++batches_;
  }
  changed_.notify_all();
  return true;
}

bool OutputQueue::push_event(GstEvent* event) {
  {
    std::lock_guard lock(mutex_);
    if (flow_ == GST_FLOW_OK) items_.push_back({.event = std::exchange(event, nullptr)});
  }
  if (event) {
    gst_event_unref(event);
    return false;
  }
  changed_.notify_all();
  return true;
}

bool OutputQueue::run_query(GstQuery* query) {
  std::unique_lock lock(mutex_);
  if (flow_ != GST_FLOW_OK) return false;
  query_answered_ = false;
  items_.push_back({.query = query});
  changed_.notify_all();
  // The query is the caller's: it must not go away while the source side still works on it.
  changed_.wait(lock,
                [this] { return query_answered_ || (flow_ != GST_FLOW_OK && !query_running_); });
  if (query_answered_) return query_accepted_;
  std::erase_if(items_, [query](const Item& item) { return item.query == query; });
  return false;
}

std::optional<OutputQueue::Item> OutputQueue::front() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return flow_ != GST_FLOW_OK || !items_.empty(); });
  if (flow_ != GST_FLOW_OK) return std::nullopt;
  query_running_ = items_.front().query != nullptr;
  return items_.front();
}

std::optional<RegionJob> OutputQueue::next_job(QueuedFrame& frame) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return flow_ != GST_FLOW_OK || !frame.jobs.empty() || frame.ended; });
  if (flow_ != GST_FLOW_OK || frame.jobs.empty()) return std::nullopt;
  const RegionJob job = frame.jobs.front();
  frame.jobs.pop_front();
  awaited_ = job.request;
  return job;
}

void OutputQueue::job_done() {
  std::lock_guard lock(mutex_);
  awaited_ = nullptr;
}

std::optional<OutputQueue::Item> OutputQueue::pop() {
  std::optional<Item> item;
  {
    std::lock_guard lock(mutex_);
    if (flow_ != GST_FLOW_OK || items_.empty()) return std::nullopt;
    item = std::move(items_.front());
    items_.pop_front();
    if (item->frame) --frames_;
    if (item->batch) --batches_;
  }
  changed_.notify_all();
  return item;
}

void OutputQueue::answer_query(bool accepted) {
  {
    std::lock_guard lock(mutex_);
    query_running_ = false;
    query_answered_ = true;
    query_accepted_ = accepted;
    if (!items_.empty() && items_.front().query) items_.pop_front();
  }
  changed_.notify_all();
}

size_t OutputQueue::frame_limit() const {
  std::lock_guard lock(mutex_);
  return frame_limit_;
}

void OutputQueue::raise_frame_limit(size_t limit) {
  {
    std::lock_guard lock(mutex_);
    frame_limit_ = std::max(frame_limit_, limit);
  }
  changed_.notify_all();
}

size_t OutputQueue::frames() const {
  std::lock_guard lock(mutex_);
  return frames_;
}

}  // namespace het::gst
