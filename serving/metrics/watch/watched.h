#pragma once

#include <gst/gst.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "serving/metrics/exposition/time_histogram.h"

namespace het::metrics {

/// A reference that does not keep a GObject alive. Thread-safe.
template <class T>
class WeakObject {
 public:
  explicit WeakObject(T* object) { g_weak_ref_init(&reference_, object); }
  ~WeakObject() { g_weak_ref_clear(&reference_); }
  WeakObject(const WeakObject&) = delete;
  WeakObject& operator=(const WeakObject&) = delete;

  struct Release {
    void operator()(T* object) const { gst_object_unref(object); }
  };
  using Strong = std::unique_ptr<T, Release>;
  /// Null when it has been freed. Letting go of the result may free it, on this thread.
  Strong get() const { return Strong(static_cast<T*>(g_weak_ref_get(&reference_))); }

 private:
  mutable GWeakRef reference_;
};

/// What elements post that is counted.
enum class CountedMessage : uint8_t { Error, Warning, Qos };

/// What is known of an outermost bin besides what can be asked of it. Thread-safe.
struct WatchedPipeline {
  WatchedPipeline(GstElement* element, std::string label) : top(element), name(std::move(label)) {}

  const WeakObject<GstElement> top;
  const std::string name;  ///< of no other that is alive
  std::atomic<uint64_t> starts = 0;
  std::array<std::atomic<uint64_t>, 3> messages = {};  ///< by CountedMessage
  std::atomic<int64_t> playing_since_ns = 0;           ///< of the wall's clock; 0: not
  std::atomic<int64_t> ended_ns = 0;                   ///< the last end of all streams; 0: none

  mutable std::mutex mutex;                            ///< protects what follows; taken alone
  std::string failure;                                 ///< the first error since the last start
  std::set<std::pair<std::string, std::string>> lost;  ///< element and device
};

/// An element that is no bin. Thread-safe.
struct WatchedElement {
  WatchedElement(GstElement* element, std::string label, std::string kind)
      : object(element), name(std::move(label)), factory(std::move(kind)) {}

  const WeakObject<GstElement> object;
  const std::string name;     ///< of no other of its pipeline that is alive
  const std::string factory;  ///< "heterodetect"
  bool is_source = false;
  bool is_sink = false;
  bool has_levels = false;  ///< a queue
  bool has_stats = false;

  std::atomic<uint64_t> pushed = 0;
  std::atomic<uint64_t> pushed_bytes = 0;
  std::atomic<uint64_t> arrived = 0;
  std::atomic<int64_t> arrived_ns = 0;  ///< when the last one did, of the wall's clock; 0: none yet

  mutable std::mutex mutex;                           ///< protects what follows; taken alone
  TimeHistogram latency;                              ///< its own
  std::map<std::string, TimeHistogram> latency_from;  ///< by the source, of a sink
};

/// ns since 1970.
inline int64_t wall_ns() {
  return g_get_real_time() * 1000;
}

}  // namespace het::metrics
