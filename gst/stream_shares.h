#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace het::gst {

class StreamShare;

/// Divides the executions of one shared model among its streams in proportion to their weights
/// (start-time fair queueing): as many run at once as there are slots; when a slot gets free, the
/// waiting stream goes on that is least ahead of its share. A stream that does not wait leaves its
/// turn to the others and gets none of it back. Thread-safe.
class StreamShares : public std::enable_shared_from_this<StreamShares> {
 public:
  explicit StreamShares(size_t slots) : free_(static_cast<long>(slots)), slots_(slots) {}

  /// Another stream, until the share is destroyed. There are at least `slots` slots from then on:
  /// what the model wants in flight, not more, as behind a slot the device serves in its order.
  std::unique_ptr<StreamShare> join(double weight, size_t slots);

  /// Streams that wait for a slot now.
  size_t waiting() const;

 private:
  friend class StreamShare;
  /// Gives free slots to those who wait. Under mutex_.
  void grant();

  mutable std::mutex mutex_;  ///< protects everything here and in the shares; taken alone
  std::vector<StreamShare*> waiting_;
  double virtual_time_ = 0.0;  ///< the start of the last one that got a slot
  long free_;
  size_t slots_;
};

/// What one stream holds. enter() belongs to one thread; leave() may come from any other and is
/// short. Every enter() that returned true is followed by one leave() before the end of the share.
class StreamShare {
 public:
  ~StreamShare() = default;
  StreamShare(const StreamShare&) = delete;
  StreamShare& operator=(const StreamShare&) = delete;

  /// Waits for a slot; false once the share is closed.
  bool enter();
  void leave();
  /// Counts from the next enter() on.
  void set_weight(double weight);
  void open();
  /// Wakes enter().
  void close();

 private:
  friend class StreamShares;
  StreamShare(std::shared_ptr<StreamShares> shares, double weight)
      : shares_(std::move(shares)), weight_(weight) {}

  const std::shared_ptr<StreamShares> shares_;
  // Under the mutex of shares_.
  std::condition_variable changed_;
  double weight_;
  double start_ = 0.0;   ///< virtual time at which the execution that waits begins
  double finish_ = 0.0;  ///< ... and at which the last one ended
  bool granted_ = false;
  bool closed_ = false;
};

}  // namespace het::gst
