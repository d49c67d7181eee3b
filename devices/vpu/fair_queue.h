#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace het::vpu {

/// Items of several flows that take turns: start-time fair queueing with equal shares (Goyal, Vin,
/// Cheng 1996), so that who adds many gets no more turns than who adds one at a time. Items of one
/// flow keep their order. Thread-compatible.
template <class T>
class FairQueue {
 public:
  void add(const std::string& name, T item) {
    Flow& flow = flows_[name];
    if (flow.items.empty()) flow.turn = std::max(flow.turn, now_);
    flow.items.push_back({std::move(item), arrivals_++});
    ++size_;
  }

  /// The first item, in the order of turns, of which `wanted` holds.
  template <class Wanted>
  std::optional<T> take_if(Wanted&& wanted) {
    Flow* best = nullptr;
    size_t place = 0;
    for (auto& [name, flow] : flows_) {
      if (best != nullptr && !is_before(flow, *best)) continue;
      const auto it = std::ranges::find_if(flow.items, [&](Item& i) { return wanted(i.value); });
      if (it == flow.items.end()) continue;
      best = &flow;
      place = static_cast<size_t>(it - flow.items.begin());
    }
    if (best == nullptr) return std::nullopt;
    std::optional<T> item = std::move(best->items[place].value);
    best->items.erase(best->items.begin() + static_cast<ptrdiff_t>(place));
    now_ = best->turn++;
    --size_;
    if (flows_.size() > kMostIdle) forget_idle();
    return item;
  }
  std::optional<T> take() {
    return take_if([](const T&) { return true; });
  }

  /// True when it was there.
  bool remove(const T& item) {
    for (auto& [name, flow] : flows_) {
      const auto it =
          std::ranges::find_if(flow.items, [&](const Item& i) { return i.value == item; });
      if (it == flow.items.end()) continue;
      flow.items.erase(it);
      --size_;
      return true;
    }
    return false;
  }

  bool empty() const { return size_ == 0; }

 private:
  static constexpr size_t kMostIdle = 64;
  struct Item {
    T value;
    uint64_t arrival = 0;
  };
  struct Flow {
    std::deque<Item> items;
    uint64_t turn = 0;  ///< of its next item
  };
  static bool is_before(const Flow& a, const Flow& b) {
    if (a.items.empty()) return false;
    if (a.turn != b.turn) return a.turn < b.turn;
    return a.items.front().arrival < b.items.front().arrival;
  }
  /// A flow that has nothing and is not ahead of others is as good as new.
  void forget_idle() {
    std::erase_if(flows_, [this](const auto& entry) {
      return entry.second.items.empty() && entry.second.turn <= now_;
    });
  }

  std::map<std::string, Flow> flows_;
  uint64_t now_ = 0;       ///< the turn of the item taken last
  uint64_t arrivals_ = 0;  ///< items added ever
  size_t size_ = 0;
};

}  // namespace het::vpu
