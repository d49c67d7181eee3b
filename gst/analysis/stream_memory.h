#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "carried_results.h"
#include "classification_history.h"

namespace het::gst {

/// What is kept of a stream from frame to frame.
struct StreamMemory {
  explicit StreamMemory(std::string state) : model_state(std::move(state)) {}

  const std::string model_state;  ///< what the model's state for this stream goes by
  uint64_t frames = 0;            ///< of the streaming thread
  ClassificationHistory history;
  CarriedResults carried;  ///< of the source task
};

/// Those of an element: of its stream, or of each stream of its batches. They live as long as this.
/// Thread-safe; what a memory holds is not, unless it says so.
class StreamMemories {
 public:
  /// `model_state` as of the first stream; those of others are made of it.
  explicit StreamMemories(std::string model_state) : model_state_(std::move(model_state)) {}

  /// Made when it is first asked for.
  StreamMemory& of(size_t stream);
  /// All that were made.
  std::vector<StreamMemory*> all();

 private:
  const std::string model_state_;
  std::mutex mutex_;  ///< protects the length of memories_; taken alone
  std::deque<StreamMemory> memories_;
};

}  // namespace het::gst
