#include "serving/archive/scan/reading_threads.h"

#include "serving/launch/instance/pipeline_elements.h"

namespace het::archive {
namespace {

struct ReadingThreads {
  bool is_source = false;
  size_t running = 0;
  size_t paused = 0;
};

/// Of sources the thread is at the pad that it leaves by, of those that pull (demuxers, typefind)
/// at the pad that it comes in by; queues have others.
gboolean look_at_pad(GstElement*, GstPad* pad, gpointer user) {
  auto& threads = *static_cast<ReadingThreads*>(user);
  if (GST_PAD_DIRECTION(pad) == GST_PAD_SRC && !threads.is_source) return TRUE;
  GST_OBJECT_LOCK(pad);
  GstTask* const task = GST_PAD_TASK(pad);
  if (task) ++(GST_TASK_STATE(task) == GST_TASK_STARTED ? threads.running : threads.paused);
  GST_OBJECT_UNLOCK(pad);
  return TRUE;
}

}  // namespace

bool has_stopped_reading(GstElement* pipeline) {
  ReadingThreads threads;
  for (const serving::ElementRef& element : serving::elements_of(pipeline)) {
    threads.is_source = GST_OBJECT_FLAG_IS_SET(element.get(), GST_ELEMENT_FLAG_SOURCE) &&
                        !GST_IS_BIN(element.get());
    gst_element_foreach_pad(element.get(), look_at_pad, &threads);
  }
  return threads.running == 0 && threads.paused > 0;
}

}  // namespace het::archive
