#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

namespace het::gst {

class StreamShare;

/// Whose turn it is when streams wait for the same model.
enum class TurnOrder {
  Shares,            ///< the stream that is least ahead of its share
  PresentationTime,  ///< the one with the earliest frame
};

/// A frame without a time; it counts as late as the one that had its turn last.
constexpr uint64_t kNoFrameTime = std::numeric_limits<uint64_t>::max();

/// Divides the executions of one shared model among its streams in proportion to their weights
/// (start-time fair queueing): as many run at once as there are slots; when a slot gets free, the
/// waiting stream goes on that is least ahead of its share. A stream that does not wait leaves its
/// turn to the others and gets none of it back. Thread-safe.
class StreamShares : public std::enable_shared_from_this<StreamShares> {
 public:
  explicit StreamShares(size_t slots) : free_(static_cast<long>(slots)), slots_(slots) {}

  /// Another stream, until the share is destroyed. There are at least `slots` slots from then on:
  /// what the model wants in flight, not more, as behind a slot the device serves in its order.
  /// While one stream at least asks for the order of presentation times, all follow it.
  std::unique_ptr<StreamShare> join(double weight, size_t slots,
                                    TurnOrder order = TurnOrder::Shares);

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
  size_t by_time_ = 0;      ///< streams that ask for the order of presentation times
  uint64_t last_time_ = 0;  ///< presentation time of the frame that got a slot last
};

/// What one stream holds. enter() belongs to one thread; leave() may come from any other and is
/// short. Every enter() that returned true is followed by one leave() before the end of the share.
class StreamShare {
 public:
  ~StreamShare();
  StreamShare(const StreamShare&) = delete;
  StreamShare& operator=(const StreamShare&) = delete;

  /// Waits for a slot for a frame of this time (ns, the same clock in all streams); false once the
  /// share is closed.
  bool enter(uint64_t frame_time = kNoFrameTime);
  void leave();
  /// Counts from the next enter() on.
  void set_weight(double weight);
  void open();
  /// Wakes enter().
  void close();

 private:
  friend class StreamShares;
  StreamShare(std::shared_ptr<StreamShares> shares, double weight, TurnOrder order)
      : shares_(std::move(shares)), order_(order), weight_(weight) {}

  const std::shared_ptr<StreamShares> shares_;
  const TurnOrder order_;
  // Under the mutex of shares_.
  std::condition_variable changed_;
  double weight_;
  double start_ = 0.0;       ///< virtual time at which the execution that waits begins
  double finish_ = 0.0;      ///< ... and at which the last one ended
  uint64_t frame_time_ = 0;  ///< of the frame that waits
  bool granted_ = false;
  bool closed_ = false;
};

}  // namespace het::gst
