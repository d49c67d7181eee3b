#include "serving/archive/supervise/shard_queue.h"

#include <utility>

namespace het::archive {
namespace {

std::string take_first(std::deque<std::string>& keys) {
  std::string key = std::move(keys.front());
  keys.pop_front();
  return key;
}

}  // namespace

ShardQueue::ShardQueue(std::vector<std::string> keys, size_t most)
    : waiting_(std::make_move_iterator(keys.begin()), std::make_move_iterator(keys.end())),
      most_(most) {}

std::string ShardQueue::next(size_t worker) {
  std::set<std::string>& mine = under_way_[worker];
  if (alone_.contains(worker)) return "";
  std::string key;
  if (mine.empty() && !suspects_.empty()) {
    key = take_first(suspects_);
    alone_.insert(worker);
  } else if (mine.size() < most_ && suspects_.empty() && !waiting_.empty()) {
    key = take_first(waiting_);
  }
  if (!key.empty()) mine.insert(key);
  return key;
}

void ShardQueue::finished(size_t worker, const std::string& key) {
  under_way_[worker].erase(key);
  alone_.erase(worker);
}

void ShardQueue::failed(size_t worker, const std::string& key) {
  finished(worker, key);
  waiting_.push_back(key);
}

std::set<std::string> ShardQueue::take_all(size_t worker) {
  alone_.erase(worker);
  return std::exchange(under_way_[worker], {});
}

void ShardQueue::returned(size_t worker) {
  for (const std::string& key : take_all(worker)) waiting_.push_front(key);
}

std::string ShardQueue::crashed(size_t worker) {
  const std::set<std::string> keys = take_all(worker);
  if (keys.size() == 1) return *keys.begin();
  for (const std::string& key : keys) suspects_.push_back(key);
  return "";
}

const std::set<std::string>& ShardQueue::under_way(size_t worker) const {
  static const std::set<std::string> kNone;
  const auto found = under_way_.find(worker);
  return found == under_way_.end() ? kNone : found->second;
}

size_t ShardQueue::left() const {
  size_t count = waiting_.size() + suspects_.size();
  for (const auto& [worker, keys] : under_way_) count += keys.size();
  return count;
}

}  // namespace het::archive
