// GStreamer's tracers are not among what it promises to keep.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include "serving/launch/instance/decoder_clock.h"

#include <gst/gst.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "serving/launch/instance/decoder_threads.h"
#include "serving/launch/instance/process_time.h"

namespace het::serving {
namespace {

constexpr char kWorkerName[] = "hetero:decoding";
static_assert(sizeof kWorkerName <= 16, "the kernel cuts names of threads");

using ThreadName = std::array<char, 16>;

std::atomic<int64_t> streaming_ns = 0;
/// Threads that push buffers: not decoders' own, whatever they are called.
std::mutex pushing_mutex;

std::set<pid_t>& pushing_threads() {
  static std::set<pid_t> threads;
  return threads;
}

/// A push of a buffer or an event that has not come back yet. Decoders make threads at caps.
struct Push {
  bool to_decoder = false;
  double begin_s = 0;
  double further_s = 0;  ///< of it, in pushes further on
};

/// What a thread is in the middle of.
struct PushingThread {
  std::vector<Push> pushes;
  ThreadName own_name = {};
  PushingThread() {
    std::lock_guard lock(pushing_mutex);
    pushing_threads().insert(gettid());
  }
};

PushingThread& this_thread() {
  thread_local PushingThread thread;
  return thread;
}

double thread_time_s() {
  return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

/// Is asked with each buffer: the answer stays at the pad.
bool leads_to_decoder(GstPad* pad) {
  static const GQuark known = g_quark_from_static_string("hetero-launch-decoder");
  GstPad* peer = gst_pad_get_peer(pad);
  if (!peer) return false;
  gpointer answer = g_object_get_qdata(G_OBJECT(peer), known);
  if (!answer) {
    GstElement* element = gst_pad_get_parent_element(peer);
    answer = GINT_TO_POINTER(element && is_video_decoder(element) ? 2 : 1);
    gst_clear_object(&element);
    g_object_set_qdata(G_OBJECT(peer), known, answer);
  }
  gst_object_unref(peer);
  return GPOINTER_TO_INT(answer) == 2;
}

bool is_decoding(const PushingThread& thread) {
  return !thread.pushes.empty() && thread.pushes.back().to_decoder;
}

void rename_thread(PushingThread& thread, bool decodes) {
  if (decodes) {
    pthread_getname_np(pthread_self(), thread.own_name.data(), thread.own_name.size());
    pthread_setname_np(pthread_self(), kWorkerName);
  } else {
    pthread_setname_np(pthread_self(), thread.own_name.data());
  }
}

void begin_push(bool to_decoder) {
  PushingThread& thread = this_thread();
  const bool decoded = is_decoding(thread);
  Push push;
  push.to_decoder = to_decoder;
  if (push.to_decoder != decoded) rename_thread(thread, push.to_decoder);
  push.begin_s = thread_time_s();
  thread.pushes.push_back(push);
}

void end_push() {
  PushingThread& thread = this_thread();
  if (thread.pushes.empty()) return;
  const Push push = thread.pushes.back();
  thread.pushes.pop_back();
  const double whole_s = thread_time_s() - push.begin_s;
  if (push.to_decoder) streaming_ns += static_cast<int64_t>((whole_s - push.further_s) * 1e9);
  if (!thread.pushes.empty()) thread.pushes.back().further_s += whole_s;
  if (push.to_decoder != is_decoding(thread)) rename_thread(thread, is_decoding(thread));
}

void before_push(GObject*, GstClockTime, GstPad* pad) {
  begin_push(leads_to_decoder(pad));
}

void after_push(GObject*, GstClockTime, GstPad*) {
  end_push();
}

GQuark own_event_function() {
  static const GQuark quark = g_quark_from_static_string("hetero-launch-event-function");
  return quark;
}

/// Before the pad's own function: decodebin sends caps to a decoder without a push.
gboolean take_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  const auto own = reinterpret_cast<GstPadEventFunction>(
      g_object_get_qdata(G_OBJECT(pad), own_event_function()));
  begin_push(true);
  const gboolean taken = own(pad, parent, event);
  end_push();
  return taken;
}

struct DecoderTracer {
  GstTracer parent;
};
struct DecoderTracerClass {
  GstTracerClass parent_class;
};

G_DEFINE_TYPE(DecoderTracer, decoder_tracer, GST_TYPE_TRACER)

void decoder_tracer_class_init(DecoderTracerClass*) {}
void decoder_tracer_init(DecoderTracer*) {}

}  // namespace

namespace decoder_clock {

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    auto* tracer = GST_TRACER(g_object_new(decoder_tracer_get_type(), nullptr));
    gst_object_ref_sink(tracer);
    // Not for events: since 1.26 that hook runs with the pad's lock held, and those that a decoder
    // takes are seen by take_event().
    for (const char* hook : {"pad-push-pre", "pad-push-list-pre"}) {
      gst_tracing_register_hook(tracer, hook, G_CALLBACK(before_push));
    }
    for (const char* hook : {"pad-push-post", "pad-push-list-post"}) {
      gst_tracing_register_hook(tracer, hook, G_CALLBACK(after_push));
    }
    // The hooks hold it.
    gst_object_unref(tracer);
  });
}

void watch(GstElement* element) {
  if (!is_video_decoder(element)) return;
  const auto wrap = [](GstElement*, GstPad* pad, gpointer) -> gboolean {
    const GstPadEventFunction own = GST_PAD_EVENTFUNC(pad);
    if (!own || own == take_event) return TRUE;
    g_object_set_qdata(G_OBJECT(pad), own_event_function(), reinterpret_cast<gpointer>(own));
    gst_pad_set_event_function(pad, take_event);
    return TRUE;
  };
  gst_element_foreach_sink_pad(element, wrap, nullptr);
}

double streaming_s() {
  return static_cast<double>(streaming_ns.load()) * 1e-9;
}

bool is_worker(pid_t thread, const std::string& name) {
  {
    std::lock_guard lock(pushing_mutex);
    if (pushing_threads().contains(thread)) return false;
  }
  return name == kWorkerName || name.starts_with("av:") || name.starts_with("dav1d");
}

}  // namespace decoder_clock
}  // namespace het::serving
