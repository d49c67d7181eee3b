#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace het::archive {

/// Who does which shard next. Shards that were under way with others when their worker crashed are
/// suspects: each is done alone, so that only the guilty one is blamed. Thread-compatible.
class ShardQueue {
 public:
  /// `keys` in the order in which they are to be done; `most` for each worker at a time.
  ShardQueue(std::vector<std::string> keys, size_t most);

  /// What the worker is to begin now; empty when it has enough, or nothing is left for it.
  std::string next(size_t worker);
  /// Done, given up, or somebody else's.
  void finished(size_t worker, const std::string& key);
  /// Failed, to be tried again behind all others.
  void failed(size_t worker, const std::string& key);
  /// The worker has ended without its fault or theirs: they are tried again.
  void returned(size_t worker);
  /// The worker has crashed. The key that is to blame, which is neither under way nor waiting then;
  /// empty where there were several, or none.
  std::string crashed(size_t worker);
  /// A shard that is to blame for a crash, to be tried again alone.
  void suspect(const std::string& key) { suspects_.push_back(key); }

  const std::set<std::string>& under_way(size_t worker) const;
  /// Shards that are neither finished nor taken out.
  size_t left() const;

 private:
  std::set<std::string> take_all(size_t worker);

  std::deque<std::string> waiting_;
  std::deque<std::string> suspects_;
  std::map<size_t, std::set<std::string>> under_way_;
  std::set<size_t> alone_;  ///< workers that do a suspect
  size_t most_;
};

}  // namespace het::archive
