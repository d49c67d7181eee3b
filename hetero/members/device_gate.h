#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace het::hetero {

/// A subgraph of a frame that goes through a DeviceGate. It lives until its turn has come.
class GateVisitor {
 public:
  virtual ~GateVisitor() = default;
  /// Its turn has come: on the thread that entered, or on that of a visitor who left.
  virtual void pass() = 0;

 private:
  friend class DeviceGate;
  GateVisitor* next_ = nullptr;
  uint64_t frame_ = 0;
};

/// Lets so many subgraphs at a time to a device as keep it busy; of those that wait the one of the
/// oldest frame is next. Where frames visit a device more than once, its own queue, first come
/// first served, lets all of them gather before the same subgraph, and the other devices run dry:
/// no number of frames in flight makes up for it (P. R. Kumar, "Re-entrant lines", 1993). Serving
/// the frame that is closest to its end keeps the busiest device at work. Thread-safe; takes no
/// lock while a visitor passes.
class DeviceGate {
 public:
  explicit DeviceGate(size_t limit) : limit_(limit) {}

  /// The visitor passes now or later. `frame`: rising numbers.
  void enter(GateVisitor& visitor, uint64_t frame);
  /// One that has passed is done with the device; the next one passes on this thread.
  void leave();

 private:
  void let_pass(std::unique_lock<std::mutex>& lock);

  const size_t limit_;
  std::mutex mutex_;  ///< protects the rest; taken alone
  size_t inside_ = 0;
  GateVisitor* first_ = nullptr;  ///< of those that wait, oldest frames first
};

}  // namespace het::hetero
