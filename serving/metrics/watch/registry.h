#pragma once

#include <gst/gst.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "serving/metrics/watch/watched.h"

namespace het::metrics {

/// What a pad carries of this: whose it is, and what latency events have told it.
struct WatchedPad {
  std::shared_ptr<WatchedElement> element;
  std::mutex mutex;         ///< protects what follows; taken alone
  uint64_t entered_ns = 0;  ///< when the next buffer was pushed into the element; 0: unknown
  uint64_t begun_ns = 0;    ///< the same at the source
  std::string source;       ///< which source that was
};

/// The pipelines and elements of a process that have changed their state, as long as they live.
/// Thread-safe; lives as long as the process, as GStreamer's objects point at it.
class Registry {
 public:
  struct Entry {
    std::shared_ptr<WatchedElement> element;
    std::shared_ptr<WatchedPipeline> pipeline;
  };

  static Registry& of_process();

  /// The outermost bin of an element, or itself; made known where it is not.
  std::shared_ptr<WatchedPipeline> pipeline_of(GstElement* element);
  /// The same; null where it is not known.
  std::shared_ptr<WatchedPipeline> known_pipeline_of(GstElement* element) const;
  /// Makes an element known, its pads and its pipeline. Bins are no elements.
  void watch(GstElement* element);
  /// A pad that its element has now; nothing unless the element is known.
  void watch_pad(GstElement* element, GstPad* pad);
  /// Null for a pad that is of no interest.
  static WatchedPad* of_pad(GstPad* pad);

  std::vector<std::shared_ptr<WatchedPipeline>> pipelines() const;
  std::vector<Entry> elements() const;

  /// Called with each pad that is new; set before the first.
  void on_new_pad(void (*take)(GstPad*, WatchedPad&)) { take_pad_ = take; }
  /// Called with the name of an element that has ended; set before the first.
  void on_end(void (*take)(const std::string&)) { take_end_ = take; }

 private:
  /// What was counted of pipelines that have ended, by their names: one of the same name goes on.
  struct Ended {
    uint64_t starts = 0;
    std::array<uint64_t, 3> messages = {};
  };
  static constexpr size_t kMostEnded = 256;

  static void forget_element(gpointer element);
  static void forget_pipeline(gpointer pipeline);

  mutable std::recursive_mutex mutex_;  ///< protects what follows; no object of GStreamer's is
                                        ///< freed while it is held
  std::vector<std::shared_ptr<WatchedPipeline>> pipelines_;
  std::vector<Entry> elements_;
  std::map<std::string, Ended> ended_;
  void (*take_pad_)(GstPad*, WatchedPad&) = nullptr;
  void (*take_end_)(const std::string&) = nullptr;
};

}  // namespace het::metrics
