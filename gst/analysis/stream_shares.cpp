#include "stream_shares.h"

#include <algorithm>

namespace het::gst {

std::unique_ptr<StreamShare> StreamShares::join(double weight, size_t slots, TurnOrder order) {
  std::unique_ptr<StreamShare> share(new StreamShare(shared_from_this(), weight, order));
  std::lock_guard lock(mutex_);
  if (order == TurnOrder::PresentationTime) ++by_time_;
  if (slots > slots_) {
    free_ += static_cast<long>(slots - slots_);
    slots_ = slots;
    grant();
  }
  return share;
}

size_t StreamShares::waiting() const {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

void StreamShares::grant() {
  while (free_ > 0 && !waiting_.empty()) {
    const auto next = std::min_element(waiting_.begin(), waiting_.end(),
                                       [this](const StreamShare* a, const StreamShare* b) {
                                         if (by_time_ > 0 && a->frame_time_ != b->frame_time_)
                                           return a->frame_time_ < b->frame_time_;
                                         return a->start_ < b->start_;
                                       });
    StreamShare* const share = *next;
    waiting_.erase(next);
    --free_;
    virtual_time_ = share->start_;
    last_time_ = share->frame_time_;
    share->finish_ = share->start_ + 1.0 / share->weight_;
    share->granted_ = true;
    // Under the lock: the share may be gone as soon as its thread sees the slot.
    share->changed_.notify_one();
  }
}

StreamShare::~StreamShare() {
  if (order_ != TurnOrder::PresentationTime) return;
  std::lock_guard lock(shares_->mutex_);
  --shares_->by_time_;
}

bool StreamShare::enter(uint64_t frame_time) {
  std::unique_lock lock(shares_->mutex_);
  if (closed_) return false;
  granted_ = false;
  start_ = std::max(shares_->virtual_time_, finish_);
  frame_time_ = frame_time == kNoFrameTime ? shares_->last_time_ : frame_time;
  shares_->waiting_.push_back(this);
  shares_->grant();
  changed_.wait(lock, [this] { return granted_ || closed_; });
  if (granted_) return true;
  std::erase(shares_->waiting_, this);
  return false;
}

void StreamShare::leave() {
  std::lock_guard lock(shares_->mutex_);
  ++shares_->free_;
  shares_->grant();
}

void StreamShare::set_weight(double weight) {
  std::lock_guard lock(shares_->mutex_);
  weight_ = weight;
}

void StreamShare::open() {
  std::lock_guard lock(shares_->mutex_);
  closed_ = false;
}

void StreamShare::close() {
  std::lock_guard lock(shares_->mutex_);
  closed_ = true;
  changed_.notify_all();
}

}  // namespace het::gst
