#include "serving/density/trial/frame_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "serving/launch/instance/process_time.h"

namespace het::density {
namespace {

/// Frames that a pipeline has lost are forgotten after that time.
constexpr double kForgottenAfterS = 120;

std::chrono::steady_clock::time_point time_point(double seconds) {
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9)));
}

}  // namespace

bool FrameTimes::wait_for_turn(std::optional<uint64_t> presentation_time) {
  std::unique_lock lock(mutex_);
  if (!has_begun_) {
    has_begun_ = true;
    base_s_ = serving::wall_time_s();
  }
  // measure() may move the time while this waits.
  while (!is_stopped_ && serving::wall_time_s() < due_s()) {
    turn_.wait_until(lock, time_point(due_s()));
  }
  if (is_stopped_) return false;
  while (!under_way_.empty() && under_way_.front().due_s < due_s() - kForgottenAfterS) {
    under_way_.pop_front();
  }
  under_way_.push_back({presentation_time, due_s()});
  ++index_;
  return true;
}

std::deque<FrameTimes::Frame>::iterator FrameTimes::find(
    std::optional<uint64_t> presentation_time) {
  if (presentation_time) {
    const auto found = std::ranges::find(under_way_, presentation_time, &Frame::presentation_time);
    if (found != under_way_.end()) {
      are_matched_ = true;
      return found;
    }
  }
  // Decoders make up times for frames that had none.
  const auto unknown =
      std::ranges::find_if(under_way_, [](const Frame& frame) { return !frame.presentation_time; });
  if (unknown != under_way_.end()) return unknown;
  // Once times match, a frame of another time is one that the pipeline has made.
  return are_matched_ ? under_way_.end() : under_way_.begin();
}

void FrameTimes::arrive(std::optional<uint64_t> presentation_time, double now_s) {
  const std::lock_guard lock(mutex_);
  const auto frame = find(presentation_time);
  if (frame == under_way_.end()) return;
  if (frame->due_s >= begin_s_ && frame->due_s < end_s_) {
    times_.arrivals.push_back({frame->due_s - begin_s_, (now_s - frame->due_s) * 1000});
  }
  under_way_.erase(frame);
}

void FrameTimes::measure(double base_s, double begin_s, double end_s) {
  {
    const std::lock_guard lock(mutex_);
    has_begun_ = true;
    base_s_ = base_s;
    index_ = 0;
    begin_s_ = begin_s;
    end_s_ = end_s;
    times_ = {};
  }
  turn_.notify_all();
}

void FrameTimes::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  turn_.notify_all();
}

double FrameTimes::lag_s(double now_s) const {
  const std::lock_guard lock(mutex_);
  return now_s - due_s();
}

uint64_t FrameTimes::due_until(double end_s) const {
  // Counted as wait_for_turn() computes due times, so that no frame falls between.
  const auto first = static_cast<uint64_t>(std::max(0.0, (begin_s_ - base_s_) * fps_ - 2));
  uint64_t count = 0;
  for (uint64_t i = first;; ++i) {
    const double due = base_s_ + static_cast<double>(i) / fps_;
    if (due >= end_s) return count;
    if (due >= begin_s_) ++count;
  }
}

bool FrameTimes::has_all() const {
  const std::lock_guard lock(mutex_);
  return times_.arrivals.size() >= due_until(end_s_);
}

StreamTimes FrameTimes::result(double end_s) const {
  const std::lock_guard lock(mutex_);
  const double until = std::min(end_s, end_s_);
  StreamTimes times;
  times.due = due_until(until);
  for (const Arrival& arrival : times_.arrivals) {
    if (begin_s_ + arrival.due_s < until) times.arrivals.push_back(arrival);
  }
  return times;
}

}  // namespace het::density
