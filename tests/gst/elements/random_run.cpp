#include "random_run.h"

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace het::gst_test {
namespace {

constexpr GstClockTime kRandomFrameTime = 10 * GST_MSECOND;
constexpr int kRandomFrames = 30;
constexpr int kRandomHeight = 16;
constexpr auto kRandomWatchdog = std::chrono::seconds(30);

GstStaticPadTemplate random_pad =
    GST_STATIC_PAD_TEMPLATE("random-sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/// Criticals and warnings of GLib and GStreamer: each is somebody's mistake.
std::atomic<int> complaints = 0;

void count_complaint(const gchar* domain, GLogLevelFlags level, const gchar* text, gpointer user) {
  if (level & (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING)) ++complaints;
  g_log_default_handler(domain, level, text, user);
}

}  // namespace

RandomRun::RandomRun(const std::string& elements, unsigned seed) : random_(seed) {
  complaints = 0;
  log_before_ = g_log_set_default_handler(count_complaint, nullptr);
  is_aggregator_ = elements == "heterometaaggregate";
  // As GstVideoFilter does by QoS events.
  drops_late_frames_ = elements.find("heterowatermark qos=true") != std::string::npos;
  is_live_ = is_aggregator_ && seed % 2 == 1;
  flushes_ = seed % 5 == 4;
  is_slow_ = seed % 7 == 3;
  // Several threads cannot agree on when the element is away.
  restarts_ = !is_aggregator_ && seed % 3 == 2;
  pipeline_ = gst_pipeline_new(nullptr);
  element_ = is_aggregator_ ? gst_element_factory_make(elements.c_str(), nullptr)
                            : gst_parse_bin_from_description(elements.c_str(), TRUE, nullptr);
  gst_bin_add(GST_BIN(pipeline_), element_);
  sink_ = gst_pad_new_from_static_template(&random_pad, "random-sink");
  gst_pad_set_element_private(sink_, this);
  gst_pad_set_chain_function(sink_, chain);
  gst_pad_set_event_function(sink_, event);
  gst_pad_set_active(sink_, TRUE);
  GstPad* out = gst_element_get_static_pad(element_, "src");
  gst_pad_link(out, sink_);
  gst_object_unref(out);
  const int branches = is_aggregator_ ? 2 + static_cast<int>(seed % 3) : 1;
  for (int i = 0; i < branches; ++i) {
    GstPad* pad = gst_pad_new(nullptr, GST_PAD_SRC);
    gst_pad_set_element_private(pad, this);
    gst_pad_set_query_function(pad, query);
    gst_pad_set_active(pad, TRUE);
    GstPad* in = is_aggregator_ ? gst_element_request_pad_simple(element_, "sink_%u")
                                : gst_element_get_static_pad(element_, "sink");
    gst_pad_link(pad, in);
    gst_object_unref(in);
    pads_.push_back(pad);
  }
}

RandomRun::~RandomRun() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  for (GstPad* pad : pads_) {
    gst_pad_set_active(pad, FALSE);
    gst_object_unref(pad);
  }
  gst_object_unref(pipeline_);
  gst_pad_set_active(sink_, FALSE);
  gst_object_unref(sink_);
  g_log_set_default_handler(log_before_, nullptr);
}

bool RandomRun::run() {
  if (!plays(GST_STATE_PLAYING)) return true;
  // As pipelines do: the base class learns here whether it is live.
  ask_latency(element_);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < pads_.size(); ++i) {
    threads.emplace_back([this, i, seed = random_()] { push_branch(i, seed); });
  }
  if (!is_aggregator_) {
    threads.emplace_back([this, seed = random_()] { look_from_downstream(seed); });
  }
  std::unique_lock lock(mutex_);
  const bool has_ended =
      ended_.wait_for(lock, kRandomWatchdog, [&] { return is_eos_ && done_ == threads.size(); });
  lock.unlock();
  for (std::thread& thread : threads) {
    if (has_ended) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  return has_ended;
}

std::string RandomRun::problem() const {
  if (complaints != 0) return "GLib or GStreamer complained";
  if (state_failures_ != 0) return "a state change failed";
  if (odd_frames_ != 0)
    return "frames left with caps or a segment of others, or GAP events as frames";
  if (!std::ranges::is_sorted(left_)) return "frames or events changed their order";
  if (std::ranges::adjacent_find(left_) != left_.end()) return "something left twice";
  if (is_aggregator_ && flushes_) return "";
  if (refused_ != 0) return "frames were refused";
  if (drops_late_frames_) return "";
  // What was inside at a flush or a state change may be gone; what came after it may not.
  const std::vector<guint64> kept(std::ranges::lower_bound(left_, must_leave_from_), left_.end());
  if (kept == must_leave_) return "";
  return "frames or events got lost or came from nowhere: " + testing::PrintToString(kept) +
         " instead of " + testing::PrintToString(must_leave_);
}

GstFlowReturn RandomRun::chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
  {
    const std::lock_guard lock(self->mutex_);
    const bool fits =
        gst_buffer_get_size(buffer) == static_cast<gsize>(self->width_) * kRandomHeight &&
        (self->is_aggregator_ || GST_BUFFER_OFFSET_END(buffer) == self->base_);
    if (!fits) ++self->odd_frames_;
    self->left_.push_back(GST_BUFFER_OFFSET(buffer));
  }
  gst_buffer_unref(buffer);
  if (self->is_slow_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return GST_FLOW_OK;
}

gboolean RandomRun::event(GstPad* pad, GstObject*, GstEvent* event) {
  auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
  const std::lock_guard lock(self->mutex_);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    self->is_eos_ = true;
    self->ended_.notify_all();
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) {
    self->is_eos_ = false;
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    gst_structure_get_int(gst_caps_get_structure(caps, 0), "width", &self->width_);
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    self->base_ = segment->base;
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM) {
    guint64 number = 0;
    gst_structure_get_uint64(gst_event_get_structure(event), "number", &number);
    self->left_.push_back(number);
  }
  gst_event_unref(event);
  return TRUE;
}

gboolean RandomRun::query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = static_cast<RandomRun*>(gst_pad_get_element_private(pad));
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, self->is_live_, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

void RandomRun::ask_latency(GstElement* element) {
  GstQuery* latency = gst_query_new_latency();
  gst_element_query(element, latency);
  gst_query_unref(latency);
}

bool RandomRun::plays(GstState state) {
  if (gst_element_set_state(state == GST_STATE_PLAYING && !has_started_ ? pipeline_ : element_,
                            state) != GST_STATE_CHANGE_FAILURE) {
    has_started_ = true;
    return true;
  }
  const std::lock_guard lock(mutex_);
  ++state_failures_;
  return false;
}

void RandomRun::set_caps(GstPad* pad, int width) {
  GstCaps* caps = gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width",
                                      G_TYPE_INT, width, "height", G_TYPE_INT, kRandomHeight,
                                      "framerate", GST_TYPE_FRACTION, 100, 1, nullptr);
  gst_pad_push_event(pad, gst_event_new_caps(caps));
  ask_for_pool(pad, caps);
  gst_caps_unref(caps);
}

void RandomRun::ask_for_pool(GstPad* pad, GstCaps* caps) {
  GstQuery* query = gst_query_new_allocation(caps, TRUE);
  gst_pad_peer_query(pad, query);
  gst_query_unref(query);
}

void RandomRun::drain(GstPad* pad) {
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(pad, query);
  gst_query_unref(query);
}

void RandomRun::push_segment(GstPad* pad, GstClockTime base) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = base;
  gst_pad_push_event(pad, gst_event_new_segment(&segment));
}

void RandomRun::begin_stream(GstPad* pad, size_t index, int width, GstClockTime base) {
  gst_pad_push_event(pad, gst_event_new_stream_start(("branch" + std::to_string(index)).c_str()));
  set_caps(pad, width);
  push_segment(pad, base);
}

void RandomRun::forget_before(guint64 number) {
  const std::lock_guard lock(mutex_);
  must_leave_.clear();
  must_leave_from_ = number;
}

void RandomRun::expect(guint64 number) {
  const std::lock_guard lock(mutex_);
  must_leave_.push_back(number);
}

void RandomRun::push_branch(size_t index, unsigned seed) {
  std::mt19937 random(seed);
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  GstPad* pad = pads_[index];
  int width = 32;
  GstClockTime base = 0;
  begin_stream(pad, index, width, base);
  // A branch may stop long before the others, without its end being told before the first one's.
  const int last =
      index > 0 && chance(30) ? static_cast<int>(random() % kRandomFrames) : kRandomFrames;
  for (int k = 0; k < last; ++k) {
    const GstClockTime time = static_cast<GstClockTime>(k) * kRandomFrameTime;
    const auto number = static_cast<guint64>(2 * k + 2);  // odd ones are events'
    if (chance(is_aggregator_ ? 20 : 5))
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 6));
    if (is_live_) wait_until(time);
    if (chance(5)) set_caps(pad, width = 16 + 8 * static_cast<int>(random() % 5));
    if (flushes_ && chance(3)) {
      if (!is_aggregator_) end_flush(pad, number - 1, width, base, /*last=*/true);
      gst_pad_push_event(pad, gst_event_new_flush_start());
      gst_pad_push_event(pad, gst_event_new_flush_stop(FALSE));
      if (index == 0) forget_before(number - 1);
      push_segment(pad, base);
    }
    if (!is_aggregator_) {
      end_flush(pad, number - 1, width, base);
      do_something_else(pad, random, number, width, base);
    }
    if (chance(10)) {
      gst_pad_push_event(pad, gst_event_new_gap(time, kRandomFrameTime));
      continue;
    }
    if (index > 0 && chance(20)) continue;
    GstBuffer* frame =
        gst_buffer_new_allocate(nullptr, static_cast<gsize>(width) * kRandomHeight, nullptr);
    gst_buffer_memset(frame, 0, static_cast<guint8>(random()), G_MAXSIZE);
    GST_BUFFER_PTS(frame) = chance(8) ? GST_CLOCK_TIME_NONE : time;
    GST_BUFFER_DURATION(frame) = kRandomFrameTime;
    GST_BUFFER_OFFSET(frame) = number;
    GST_BUFFER_OFFSET_END(frame) = base;
    // Of the aggregator's other pads nothing leaves, and a flush of them may take its frames.
    if (index == 0 && !(is_aggregator_ && flushes_)) expect(number);
    if (gst_pad_push(pad, frame) != GST_FLOW_OK && index == 0) {
      const std::lock_guard lock(flush_mutex_);
      if (!is_flushing_) ++refused_;
    }
  }
  if (!is_aggregator_) end_flush(pad, 2 * kRandomFrames + 1, width, base, /*last=*/true);
  // Without its end a branch that is not live would hold the others up, as in every muxer.
  if (index == 0) first_has_ended_ = true;
  while (is_live_ && last < kRandomFrames && !first_has_ended_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  gst_pad_push_event(pad, gst_event_new_eos());
  end_thread();
}

void RandomRun::end_flush(GstPad* pad, guint64 number, int width, GstClockTime base, bool last) {
  const std::lock_guard lock(flush_mutex_);
  flush_may_begin_ = !last;
  if (!std::exchange(is_flushing_, false)) return;
  gst_pad_push_event(pad, gst_event_new_flush_stop(TRUE));
  forget_before(number);
  begin_stream(pad, 0, width, base);
}

void RandomRun::begin_flush(GstPad* pad) {
  const std::lock_guard lock(flush_mutex_);
  if (!flush_may_begin_ || std::exchange(is_flushing_, true)) return;
  gst_pad_push_event(pad, gst_event_new_flush_start());
}

void RandomRun::do_something_else(GstPad* pad, std::mt19937& random, guint64 number, int width,
                                  GstClockTime& base) {
  const auto chance = [&](int percent) { return static_cast<int>(random() % 100) < percent; };
  if (restarts_ && chance(4)) {
    plays(chance(50) ? GST_STATE_READY : GST_STATE_NULL);
    // Frames that come while the element is away are refused, and take nothing with them.
    if (chance(30)) gst_pad_push(pad, gst_buffer_new());
    forget_before(number - 1);
    plays(GST_STATE_PLAYING);
    begin_stream(pad, 0, width, base);
  }
  if (chance(3)) {
    gst_pad_push_event(pad, gst_event_new_eos());
    begin_stream(pad, 0, width, base);
  }
  if (chance(5)) push_segment(pad, base = static_cast<GstClockTime>(random() % 1000));
  if (chance(5)) drain(pad);
  if (chance(10)) {
    expect(number - 1);
    gst_pad_push_event(
        pad, gst_event_new_custom(
                 GST_EVENT_CUSTOM_DOWNSTREAM,
                 gst_structure_new("marker", "number", G_TYPE_UINT64, number - 1, nullptr)));
  }
}

void RandomRun::look_from_downstream(unsigned seed) {
  std::mt19937 random(seed);
  while (!first_has_ended_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 4));
    if (flushes_ && random() % 4 == 0) begin_flush(pads_[0]);
    switch (random() % 4) {
      case 0: {
        GstQuery* latency = gst_query_new_latency();
        gst_pad_peer_query(sink_, latency);
        gst_query_unref(latency);
        break;
      }
      case 1:
        gst_pad_push_event(sink_, gst_event_new_reconfigure());
        break;
      case 2:
        gst_pad_push_event(
            sink_, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5,
                                     static_cast<GstClockTimeDiff>(random() % GST_SECOND), 0));
        break;
      default:
        gst_pad_push_event(sink_, gst_event_new_latency(GST_MSECOND));
        break;
    }
  }
  end_thread();
}

void RandomRun::end_thread() {
  const std::lock_guard lock(mutex_);
  ++done_;
  ended_.notify_all();
}

void RandomRun::wait_until(GstClockTime running_time) const {
  GstClock* clock = gst_element_get_clock(element_);
  if (!clock) return;
  const GstClockTime now = gst_clock_get_time(clock) - gst_element_get_base_time(element_);
  gst_object_unref(clock);
  if (running_time > now) std::this_thread::sleep_for(std::chrono::nanoseconds(running_time - now));
}

}  // namespace het::gst_test
