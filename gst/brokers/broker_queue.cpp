#include "broker_queue.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace het::gst {

Status BrokerQueue::write(const std::string& message) {
  std::unique_lock lock(mutex_);
  const auto has_room = [&] { return waiting_.size() + in_flight_ < settings_.queue_size; };
  if (!has_room() && settings_.drop_oldest) {
    ++dropped_;
    if (waiting_.empty()) {  // all that could be dropped are on their way already
      ++written_;
      return {};
    }
    waiting_.pop_front();
  } else {
    changed_.wait(lock, [&] { return has_room() || interrupted_; });
    if (interrupted_) return error(StatusCode::Cancelled, "writing to the broker was ended");
  }
  ++written_;
  waiting_.push_back(message);
  return send();
}

void BrokerQueue::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  changed_.notify_all();
}

MessageCounts BrokerQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return {written_, delivered_, dropped_, waiting_.size() + in_flight_};
}

Status BrokerQueue::set_connected(bool connected) {
  const std::lock_guard lock(mutex_);
  connected_ = connected;
  return send();
}

Status BrokerQueue::confirmed() {
  const std::lock_guard lock(mutex_);
  if (in_flight_ == 0) return {};  // dropped before
  --in_flight_;
  ++delivered_;
  changed_.notify_all();
  return send();
}

Status BrokerQueue::given_up() {
  const std::lock_guard lock(mutex_);
  if (in_flight_ == 0) return {};  // dropped before
  --in_flight_;
  ++dropped_;
  changed_.notify_all();
  return send();
}

Status BrokerQueue::drain() {
  std::unique_lock lock(mutex_);
  const std::chrono::milliseconds limit(settings_.drain_timeout_ms);
  changed_.wait_for(lock, limit, [&] { return waiting_.empty() && in_flight_ == 0; });
  const size_t left = waiting_.size() + std::exchange(in_flight_, 0);
  waiting_.clear();
  connected_ = false;
  if (left == 0) return {};
  dropped_ += left;
  return Status(StatusCode::TimedOut,
                fmt::format("{} messages for {} were not confirmed within drain-timeout of {} ms "
                            "and are given up",
                            left, settings_.address, settings_.drain_timeout_ms));
}

/// Hands the library what it may have in flight. Under mutex_.
Status BrokerQueue::send() {
  while (connected_ && !waiting_.empty() && in_flight_ < most_in_flight_) {
    const std::string message = std::move(waiting_.front());
    waiting_.pop_front();
    ++in_flight_;  // before: its confirmation may come first
    const Result<bool> sent = transmit_(message);
    if (sent && *sent) continue;
    --in_flight_;
    waiting_.push_front(message);
    return sent ? Status() : Status(sent.error());
  }
  return {};
}

}  // namespace het::gst
