#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "gst/messages/broker_settings.h"
#include "gst/messages/sink.h"

namespace het::gst {

/// Messages between write() and the broker's confirmation: bounded, in their order, counted. Some
/// are with the broker's library ("in flight"), the rest waits here. Thread-safe.
class BrokerQueue {
 public:
  /// Hands one message to the library: true: it is in flight until confirmed() or given_up();
  /// false: not now, it stays here. The library may call back from within.
  using Transmit = std::function<Result<bool>(const std::string& message)>;

  /// `settings` outlive the queue.
  BrokerQueue(const BrokerSettings& settings, size_t most_in_flight, Transmit transmit)
      : settings_(settings), most_in_flight_(most_in_flight), transmit_(std::move(transmit)) {}

  /// Waits while the queue is full, or drops the oldest of those that wait. Fails with Cancelled
  /// after interrupt().
  Status write(const std::string& message);
  void interrupt();
  MessageCounts counts() const;

  /// Messages go out from now on, or stay here.
  Status set_connected(bool connected);
  /// One in flight has arrived.
  Status confirmed();
  /// One in flight never will.
  Status given_up();
  /// Waits until nothing is left and ends; what is left is dropped. Empty, or what to say of it.
  Status drain();

 private:
  Status send();

  const BrokerSettings& settings_;
  const size_t most_in_flight_;
  const Transmit transmit_;
  mutable std::recursive_mutex mutex_;  ///< protects everything below; taken alone
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_;
  size_t in_flight_ = 0;
  uint64_t written_ = 0;
  uint64_t delivered_ = 0;
  uint64_t dropped_ = 0;
  bool connected_ = false;
  bool interrupted_ = false;
};

}  // namespace het::gst
