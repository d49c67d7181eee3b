#include "stream_memory.h"

#include <fmt/format.h>

namespace het::gst {

StreamMemory& StreamMemories::of(size_t stream) {
  std::lock_guard lock(mutex_);
  while (memories_.size() <= stream) {
    const size_t index = memories_.size();
    memories_.emplace_back(index == 0 ? model_state_ : fmt::format("{}/{}", model_state_, index));
  }
  return memories_[stream];
}

std::vector<StreamMemory*> StreamMemories::all() {
  std::lock_guard lock(mutex_);
  std::vector<StreamMemory*> all;
  for (StreamMemory& memory : memories_) all.push_back(&memory);
  return all;
}

}  // namespace het::gst
