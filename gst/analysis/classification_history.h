#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "inference/decoders/results.h"

namespace het::gst {

/// The last results of tracked objects, for frames in which they are not analysed again. Frames are
/// numbered in their order; is_due() belongs to the streaming thread, store() and last() to the
/// source task, clear() to any. Thread-safe.
class ClassificationHistory {
 public:
  /// True when the object is to be analysed in this frame: it is new, or `interval` frames have
  /// passed since it was; with 0 once is enough.
  bool is_due(int object_id, uint64_t frame, uint64_t interval);
  /// What was found in the frame for which is_due() said yes.
  void store(int object_id, uint64_t frame, const Rect& rect, const Results& results);
  /// The last results, moved to where the object is now; nothing where there are none yet.
  std::optional<Results> last(int object_id, uint64_t frame, const Rect& rect);
  /// Ids of frames to come mean other objects.
  void clear();

 private:
  struct Entry {
    uint64_t first = 0;  ///< frame since which the object is known
    uint64_t due = 0;    ///< frame in which it was analysed last
    std::optional<uint64_t> found_in;
    Rect rect;
    Results results;
  };

  std::mutex mutex_;  ///< protects entries_
  std::map<int, Entry> entries_;
};

}  // namespace het::gst
