#include "gstheteroinferencebase.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "device_message.h"
#include "gst/analysis/allocation.h"
#include "gst/analysis/analysis_interval.h"
#include "gst/analysis/batch_analysis.h"
#include "gst/analysis/frame_analysis.h"
#include "gst/analysis/lateness.h"
#include "gst/frames/frame_map.h"
#include "gst/measuring/element_error.h"
#include "gst/metadata/analysis_mark.h"
#include "gst/metadata/batch_caps.h"
#include "gst/metadata/tensor_caps.h"
#include "pipeline_top.h"
#include "tensor_negotiation.h"

GST_DEBUG_CATEGORY_STATIC(heteroinference_debug);
#define GST_CAT_DEFAULT heteroinference_debug

using het::gst::FrameAnalysis;

/// Lives as long as the element; `analysis` from start to stop.
struct GstHeteroInferenceState {
  std::shared_ptr<FrameAnalysis> analysis;  ///< protected by the object lock
  // Streaming thread only.
  GstVideoInfo info = {};
  bool negotiated = false;
  bool takes_batches = false;  ///< `info` is not set
  het::gst::BatchAnalysis batches;
  bool tells_tensors = false;  ///< the last caps said that frames carry the model's tensors
  bool warned_of_fields = false;
  GstSegment segment = {};
  het::gst::AnalysisInterval interval;
  bool after_gap = false;  ///< the frame before was dropped
  float weight = 0.0f;     ///< the share that the analysis has been told
  guint64 frames_processed = 0;
  guint64 frames_late = 0;

  het::gst::Lateness lateness;
  std::atomic<GstClockTime> frame_duration = 0;  ///< ns; 0: unknown
  std::atomic<bool> live = false;                ///< what the last LATENCY query said

  std::atomic<bool> eos_received = false;
  std::atomic<bool> failed = false;  ///< an error of our own has been posted
  /// Upstream may pad rows because we said so, but downstream cannot read GstVideoMeta.
  std::atomic<bool> downstream_needs_plain_rows = false;
};

namespace {

constexpr guint kPropStats = 100;

#define TEMPLATE_CAPS HET_GST_FRAME_CAPS HET_GST_OR_BATCH_CAPS
GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(TEMPLATE_CAPS));
GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(TEMPLATE_CAPS));

std::shared_ptr<FrameAnalysis> analysis_of(GstHeteroInferenceBase* self) {
  GST_OBJECT_LOCK(self);
  std::shared_ptr<FrameAnalysis> analysis = self->state->analysis;
  GST_OBJECT_UNLOCK(self);
  return analysis;
}

/// The element cannot go on: one message, and upstream is told at its next buffer. The message
/// comes first: the source that is told posts one of its own, and the reason has to stand before
/// it.
void fail(GstHeteroInferenceBase* self, FrameAnalysis& analysis, const het::Status& status) {
  if (!self->state->failed.exchange(true)) het::gst::post_error(GST_ELEMENT(self), status);
  analysis.close(GST_FLOW_ERROR);
}

void post_qos(GstHeteroInferenceBase* self, GstBuffer* buffer, GstClockTime running_time,
              const het::gst::Lateness::Verdict& verdict) {
  const GstHeteroInferenceState& state = *self->state;
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  GstMessage* message =
      gst_message_new_qos(GST_OBJECT(self), state.live, running_time,
                          gst_segment_to_stream_time(&state.segment, GST_FORMAT_TIME, time), time,
                          GST_BUFFER_DURATION(buffer));
  gst_message_set_qos_values(message, verdict.jitter, verdict.proportion, 1000000);
  gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, state.frames_processed, state.frames_late);
  gst_element_post_message(GST_ELEMENT(self), message);
}

GstClockTime running_time_of(const GstHeteroInferenceState& state, GstBuffer* buffer) {
  if (state.segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&state.segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

/// True for a frame that is late, which is told. `would_wait`: for a request, and must not.
bool skip_late(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstBuffer* buffer, bool qos,
               bool would_wait) {
  GstHeteroInferenceState& state = *self->state;
  const GstClockTime running_time = running_time_of(state, buffer);
  het::gst::Lateness::Verdict verdict;
  if (qos) verdict = state.lateness.judge(running_time);
  if (!verdict.is_late && !would_wait) return false;
  ++state.frames_late;
  analysis.stats().frame_late();
  post_qos(self, buffer, running_time, verdict);
  return true;
}

/// What the properties say about the frames that come now.
struct FrameSettings {
  het::gst::FramePlan plan;
  guint interval = 1;
  bool qos = false;
  bool no_block = false;
  bool drop_late = false;
};

FrameSettings frame_settings(GstHeteroInferenceBase* self, FrameAnalysis& analysis) {
  FrameSettings wanted;
  het::gst::FramePlan& plan = wanted.plan;
  GST_OBJECT_LOCK(self);
  const het::gst::InferenceSettings& settings = *self->settings;
  const float weight = settings.stream_weight;
  wanted.interval = settings.inference_interval;
  wanted.qos = settings.qos;
  wanted.no_block = settings.no_block;
  wanted.drop_late = settings.late_frames == het::gst::kLateFramesDrop;
  plan.carry_results = settings.carry_results;
  if (settings.latency_budget > 0)
    plan.latency_budget = std::chrono::milliseconds(settings.latency_budget);
  plan.region = static_cast<het::gst::InferenceRegion>(settings.region);
  if (!settings.object_class.empty()) {
    plan.object_classes = het::gst::split_list(settings.object_class);
  }
  // 0 would mean "the decoder's own"; a user who says 0 wants everything.
  if (settings.threshold_given) plan.threshold = std::max(settings.threshold, G_MINFLOAT);
  plan.reclassify_interval = settings.reclassify_interval;
  plan.skip_raw_tensors = settings.skip_raw_tensors;
  GST_OBJECT_UNLOCK(self);

  plan.finds_objects =
      reinterpret_cast<GstHeteroInferenceBaseClass*>(G_OBJECT_GET_CLASS(self))->finds_objects;
  if (std::exchange(self->state->weight, weight) != weight) analysis.set_weight(weight);
  return wanted;
}

/// How the next frame is analysed; empty when it is to be dropped.
std::optional<het::gst::FramePlan> plan_frame(GstHeteroInferenceBase* self, FrameAnalysis& analysis,
                                              GstBuffer* buffer) {
  auto [plan, interval, qos, no_block, drop] = frame_settings(self, analysis);
  GstHeteroInferenceState& state = *self->state;
  if (GST_BUFFER_IS_DISCONT(buffer)) state.interval.restart();
  plan.is_still = het::gst::is_marked_still(buffer);
  const bool due = state.interval.is_due(interval, plan.is_still);
  // A live source does not wait.
  const bool would_wait = due && (no_block || (qos && state.live)) && !analysis.has_idle_request();
  const bool late = skip_late(self, analysis, buffer, qos, would_wait);
  plan.running_time = running_time_of(state, buffer);
  plan.analyse = due && !late;
  state.interval.pass(plan.analyse, interval);
  if (late && drop) {
    analysis.stats().frame_came();
    analysis.stats().frame_dropped();
    state.after_gap = true;
    return std::nullopt;
  }
  if (!late) ++state.frames_processed;
  plan.after_gap = std::exchange(state.after_gap, false);
  return plan;
}

GstClockTime frame_duration(const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_FPS_N(&info) <= 0 || GST_VIDEO_INFO_FPS_D(&info) <= 0) return 0;
  return gst_util_uint64_scale(GST_SECOND, static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&info)),
                               static_cast<guint64>(GST_VIDEO_INFO_FPS_N(&info)));
}

/// A live source goes on while its frames are in here: the queue has to hold as many as come in
/// meanwhile.
void fit_queue(FrameAnalysis& analysis, GstClockTime duration) {
  constexpr GstClockTime kMaxFrames = 64;
  if (duration == 0) return;
  const GstClockTime frames = std::min(analysis.latency().bound() / duration + 2, kMaxFrames);
  analysis.queue().raise_frame_limit(static_cast<size_t>(frames));
}

void latency_changed(GstHeteroInferenceBase* self, FrameAnalysis& analysis) {
  if (self->state->live) fit_queue(analysis, self->state->frame_duration);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

void start_anew(GstHeteroInferenceState& state) {
  state.lateness.reset();
  state.interval.restart();
  state.batches.start_anew();
  state.after_gap = false;
}

// --- Tensors for decoders of others -----------------------------------------------------------

/// An element that hands the model's outputs on, and says so in its caps.
bool negotiates_tensors(GstHeteroInferenceBase* self) {
  return het::gst::kHasTensorCaps && self->settings->copy_outputs;
}

/// What the frames that come now carry; null: nothing.
const het::TensorGroup* told_group(GstHeteroInferenceBase* self, const FrameAnalysis& analysis) {
  GST_OBJECT_LOCK(self);
  const bool whole_pictures = self->settings->region == het::gst::kInferenceRegionFullFrame;
  GST_OBJECT_UNLOCK(self);
  return whole_pictures && negotiates_tensors(self) ? analysis.tensor_group() : nullptr;
}

/// The caps event (taken over) that goes downstream for one from upstream.
GstEvent* told_caps(GstHeteroInferenceBase* self, const FrameAnalysis& analysis, GstEvent* event) {
  const het::TensorGroup* group = told_group(self, analysis);
  self->state->tells_tensors = group != nullptr;
  return group ? het::gst::with_tensor_group(event, *group) : event;
}

/// New caps where a property has changed what frames carry.
void tell_change_of_tensors(GstHeteroInferenceBase* self, FrameAnalysis& analysis) {
  if (!negotiates_tensors(self)) return;
  const bool told = self->state->tells_tensors;
  if (told == (told_group(self, analysis) != nullptr)) return;
  GstCaps* caps = gst_pad_get_current_caps(self->sinkpad);
  if (caps == nullptr) return;
  analysis.queue().push_event(told_caps(self, analysis, gst_event_new_caps(caps)));
  gst_caps_unref(caps);
}

// --- Source pad: its task --------------------------------------------------------------------

/// Where upstream has ended already, no buffer is left that could carry a bad flow to it.
void report_flow_at_eos(GstHeteroInferenceBase* self, GstFlowReturn flow) {
  if (self->state->failed) return;  // has been reported
  if (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS) GST_ELEMENT_FLOW_ERROR(self, flow);
}

/// Downstream takes nothing more.
void stop_after(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstFlowReturn flow) {
  GST_DEBUG_OBJECT(self, "downstream returned %s", gst_flow_get_name(flow));
  analysis.close(flow);
  if (!self->state->eos_received || flow == GST_FLOW_FLUSHING) return;
  report_flow_at_eos(self, flow);
  gst_pad_push_event(self->srcpad, gst_event_new_eos());
}

void push_front_frame(GstHeteroInferenceBase* self, FrameAnalysis& analysis,
                      het::gst::QueuedFrame& frame) {
  const het::Result<bool> ready = analysis.finish(frame);
  if (!ready) {
    fail(self, analysis, ready.error());
    return;
  }
  for (const het::DeviceEvent& event : analysis.device_events()) {
    het::gst::post_device_event(GST_ELEMENT(self), analysis.model_name(), event);
  }
  if (analysis.latency_grew()) latency_changed(self, analysis);
  if (!*ready || !analysis.queue().pop()) return;
  GstBuffer* buffer = std::exchange(frame.buffer, nullptr);
  if (frame.place.batch) {
    *frame.place.frame = buffer;
    return;
  }
  if (self->state->downstream_needs_plain_rows) {
    GstBuffer* const plain = het::gst::with_plain_rows(buffer, frame.info);
    if (plain != buffer) analysis.pictures().count_copy();
    buffer = plain;
  }
  const GstFlowReturn flow = [&] {
    const het::FrameSpanScope scope = analysis.span(het::FramePart::Push, frame);
    return gst_pad_push(self->srcpad, buffer);
  }();
  if (flow != GST_FLOW_OK) stop_after(self, analysis, flow);
}

/// Its frames are in their places.
void push_front_batch(GstHeteroInferenceBase* self, FrameAnalysis& analysis,
                      het::gst::FrameBatch& batch) {
  if (!analysis.queue().pop()) return;
  const GstFlowReturn flow = gst_pad_push(self->srcpad, batch.close());
  if (flow != GST_FLOW_OK) stop_after(self, analysis, flow);
}

/// `event` is taken over.
void push_front_event(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_SEGMENT || type == GST_EVENT_STREAM_START) analysis.forget_results();
  const het::TensorGroup* group = negotiates_tensors(self) ? analysis.tensor_group() : nullptr;
  if (type == GST_EVENT_CAPS && group != nullptr &&
      !het::gst::tensors_are_taken(self->srcpad, event)) {
    gst_event_unref(event);
    fail(self, analysis,
         het::error(het::StatusCode::NotSupported,
                    "what follows takes the frames, but not the tensors of model '{}': {}; a "
                    ".modelinfo file beside the model can give them other ids",
                    analysis.model_name(), het::gst::tensor_group_text(*group)));
    return;
  }
  gst_pad_push_event(self->srcpad, event);
}

void source_loop(gpointer user) {
  auto* self = static_cast<GstHeteroInferenceBase*>(user);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  const auto item = analysis ? analysis->queue().front() : std::nullopt;
  if (!item) {
    gst_pad_pause_task(self->srcpad);
  } else if (item->frame) {
    push_front_frame(self, *analysis, *item->frame);
  } else if (item->batch) {
    push_front_batch(self, *analysis, *item->batch);
  } else if (item->query) {
    analysis->queue().answer_query(gst_pad_peer_query(self->srcpad, item->query));
  } else if (analysis->queue().pop()) {
    push_front_event(self, *analysis, item->event);
  }
}

void start_source_task(GstHeteroInferenceBase* self, FrameAnalysis& analysis) {
  analysis.open();
  gst_pad_start_task(self->srcpad, source_loop, self, nullptr);
}

// --- Sink pad: streaming thread --------------------------------------------------------------

/// Frames of batches are not judged: each leaves with its batch.
het::Status take_batch(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstBuffer* buffer) {
  const FrameSettings wanted = frame_settings(self, analysis);
  return self->state->batches.take(buffer, analysis, wanted.plan, wanted.interval,
                                   told_group(self, analysis));
}

GstFlowReturn chain(GstPad*, GstObject* parent, GstBuffer* buffer) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  if (!analysis || !self->state->negotiated) {
    gst_buffer_unref(buffer);
    return analysis ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_FLUSHING;
  }
  tell_change_of_tensors(self, *analysis);
  if (self->state->takes_batches) {
    const het::Status status = take_batch(self, *analysis, buffer);
    if (!status.ok()) fail(self, *analysis, status);
    return analysis->queue().flow();
  }
  const std::optional<het::gst::FramePlan> plan = plan_frame(self, *analysis, buffer);
  if (!plan) {
    gst_buffer_unref(buffer);
    return analysis->queue().flow();
  }
  const het::Status status = analysis->take(buffer, self->state->info, *plan);
  if (!status.ok()) fail(self, *analysis, status);
  return analysis->queue().flow();
}

void warn_of_fields(GstHeteroInferenceBase* self) {
  if (std::exchange(self->state->warned_of_fields, true)) return;
  GST_ELEMENT_WARNING(self, STREAM, FORMAT, ("The video is interlaced."),
                      ("both fields of a frame are analysed as one picture, in which moving "
                       "objects have combs; put deinterlace before the element"));
}

/// Frames come at this distance (ns; 0: unknown) from now on.
void start_caps(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstClockTime distance) {
  self->state->negotiated = true;
  self->state->interval.restart();
  self->state->frame_duration = distance;
  // Every request in flight holds a frame.
  if (analysis.latency().promise(analysis.request_count() * distance))
    latency_changed(self, analysis);
}

/// The source sends caps that were refused again with every event.
bool refuse_caps(GstHeteroInferenceBase* self, const het::Status& status) {
  if (!self->state->failed.exchange(true)) het::gst::post_error(GST_ELEMENT(self), status);
  return false;
}

bool take_batch_caps(GstHeteroInferenceBase* self, FrameAnalysis& analysis, const GstCaps* caps) {
  het::gst::BatchAnalysis& batches = self->state->batches;
  const het::Status status = batches.take_caps(caps);
  if (!status.ok()) return refuse_caps(self, status);
  self->state->takes_batches = true;
  if (batches.is_interlaced()) warn_of_fields(self);
  start_caps(self, analysis, batches.frame_distance());
  return true;
}

bool take_caps(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstEvent* event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  if (het::gst::is_batch_caps(caps)) return take_batch_caps(self, analysis, caps);
  GstVideoInfo info;
  if (!het::gst::read_video_info(caps, &info)) {
    GST_ERROR_OBJECT(self, "not video caps: %" GST_PTR_FORMAT, caps);
    return false;
  }
  const het::Status readable = analysis.pictures().take_caps(caps, GST_ELEMENT(self));
  if (!readable.ok()) return refuse_caps(self, readable);
  if (GST_VIDEO_INFO_IS_INTERLACED(&info)) warn_of_fields(self);
  self->state->info = info;
  self->state->takes_batches = false;
  start_caps(self, analysis, frame_duration(info));
  return true;
}

GstFlowReturn queue_event(GstHeteroInferenceBase* self, FrameAnalysis& analysis, GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_CAPS && !take_caps(self, analysis, event)) {
    gst_event_unref(event);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (type == GST_EVENT_CAPS) event = told_caps(self, analysis, event);
  // Before the look at the flow, so that either we or stop_after() see what the other did.
  if (type == GST_EVENT_EOS) self->state->eos_received = true;
  if (type == GST_EVENT_STREAM_START) {
    self->state->eos_received = false;
    analysis.forget_objects();
  }
  if (type == GST_EVENT_SEGMENT) {
    gst_event_copy_segment(event, &self->state->segment);
    start_anew(*self->state);
  }
  const GstFlowReturn flow = analysis.queue().flow();
  if (type == GST_EVENT_EOS && flow != GST_FLOW_OK && flow != GST_FLOW_FLUSHING) {
    report_flow_at_eos(self, flow);
    return gst_pad_push_event(self->srcpad, event) ? GST_FLOW_OK : flow;
  }
  if (flow == GST_FLOW_EOS) {
    // A new stream or segment begins; what is still queued belongs to the old one.
    if (type == GST_EVENT_STREAM_START || type == GST_EVENT_SEGMENT) {
      gst_pad_pause_task(self->srcpad);
      analysis.clear(self->srcpad);
      start_source_task(self, analysis);
    }
  }
  const bool sticky = GST_EVENT_IS_STICKY(event) && type != GST_EVENT_EOS;
  if (analysis.queue().push_event(event)) return GST_FLOW_OK;
  const GstFlowReturn reason = analysis.queue().flow();
  // Closed for a moment only: it has been opened again since.
  if (reason == GST_FLOW_OK || reason == GST_FLOW_FLUSHING) return GST_FLOW_FLUSHING;
  // An error while sticky events travel shows at the next buffer; EOS has none after it.
  return sticky ? GST_FLOW_OK : reason;
}

/// With a flow, since an event that meets a flush is no error: whoever sent it sends it again.
GstFlowReturn sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  if (!analysis) {
    gst_event_unref(event);
    return GST_FLOW_FLUSHING;
  }
  const auto to_flow = [](gboolean done) { return done ? GST_FLOW_OK : GST_FLOW_ERROR; };
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_START: {
      // Downstream first: it may hold the source task in a push.
      const gboolean pushed = gst_pad_push_event(self->srcpad, event);
      analysis->close(GST_FLOW_FLUSHING);
      gst_pad_pause_task(self->srcpad);
      return to_flow(pushed);
    }
    case GST_EVENT_FLUSH_STOP: {
      // Its start may have come before this element was started: then frames are still on the way.
      analysis->close(GST_FLOW_FLUSHING);
      gst_pad_pause_task(self->srcpad);
      const gboolean pushed = gst_pad_push_event(self->srcpad, event);
      analysis->clear(self->srcpad);
      self->state->eos_received = false;
      gst_segment_init(&self->state->segment, GST_FORMAT_UNDEFINED);
      start_anew(*self->state);
      if (GST_PAD_IS_ACTIVE(self->srcpad)) start_source_task(self, *analysis);
      return to_flow(pushed);
    }
    default:
      if (GST_EVENT_IS_SERIALIZED(event)) return queue_event(self, *analysis, event);
      return to_flow(gst_pad_event_default(pad, parent, event));
  }
}

/// Upstream is offered streams of batches as far as they can be read. `query` is answered.
void leave_readable_streams(GstQuery* query) {
  static GstStaticCaps host_caps = GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS));
  GstCaps* caps = nullptr;
  gst_query_parse_caps_result(query, &caps);
  GstCaps* const host = gst_static_caps_get(&host_caps);
  GstCaps* readable = het::gst::with_streams_among(gst_caps_copy(caps), host);
  gst_query_set_caps_result(query, readable);
  gst_caps_unref(readable);
  gst_caps_unref(host);
}

/// Without a display upstream is not offered what only a display can read. `query` is answered.
void leave_readable_caps(GstHeteroInferenceBase* self, GstQuery* query) {
  static GstStaticCaps direct_caps = GST_STATIC_CAPS(HET_GST_DIRECT_CAPS HET_GST_OR_BATCH_CAPS);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) leave_readable_streams(query);
  if (het::gst::has_display(GST_ELEMENT(self))) return;
  GstCaps* const direct = gst_static_caps_get(&direct_caps);
  GstCaps* caps = nullptr;
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_parse_accept_caps(query, &caps);
    if (!gst_caps_can_intersect(caps, direct)) gst_query_set_accept_caps_result(query, FALSE);
  } else {
    gst_query_parse_caps_result(query, &caps);
    GstCaps* readable = gst_caps_intersect_full(caps, direct, GST_CAPS_INTERSECT_FIRST);
    gst_query_set_caps_result(query, readable);
    gst_caps_unref(readable);
  }
  gst_caps_unref(direct);
}

gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS || GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    const bool adds_tensors = negotiates_tensors(self);
    if (adds_tensors) het::gst::answer_sink_caps(self->srcpad, query);
    const gboolean answered = adds_tensors || gst_pad_query_default(pad, parent, query);
    if (answered) leave_readable_caps(self, query);
    return answered;
  }
  if (!GST_QUERY_IS_SERIALIZED(query)) return gst_pad_query_default(pad, parent, query);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  if (!analysis) return FALSE;
  const bool answered = analysis->queue().run_query(query);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return answered;
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  // The buffer of a batch has no memory.
  if (caps != nullptr && het::gst::is_batch_caps(caps)) return TRUE;
  self->state->downstream_needs_plain_rows = het::gst::complete_allocation(
      query, answered, static_cast<guint>(analysis->queue().frame_limit()));
  return TRUE;
}

gboolean sink_activate_mode(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  if (mode != GST_PAD_MODE_PUSH || !analysis) return mode == GST_PAD_MODE_PUSH;
  if (active) {
    analysis->open();
    return TRUE;
  }
  analysis->close(GST_FLOW_FLUSHING);
  GST_PAD_STREAM_LOCK(pad);  // until chain() is out
  GST_PAD_STREAM_UNLOCK(pad);
  return TRUE;
}

// --- Source pad: what downstream asks --------------------------------------------------------

gboolean src_activate_mode(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  if (active) {
    if (!analysis) return FALSE;
    start_source_task(self, *analysis);
    return TRUE;
  }
  if (analysis) analysis->close(GST_FLOW_FLUSHING);
  return gst_pad_stop_task(pad);
}

gboolean src_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  if (GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE) {
    const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
    if (analysis && analysis->queue().flow() == GST_FLOW_NOT_LINKED) {
      start_source_task(self, *analysis);
    }
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
    GstQOSType type = GST_QOS_TYPE_UNDERFLOW;
    gdouble proportion = 1.0;
    GstClockTimeDiff diff = 0;
    GstClockTime timestamp = GST_CLOCK_TIME_NONE;
    gst_event_parse_qos(event, &type, &proportion, &diff, &timestamp);
    self->state->lateness.observe(type, proportion, diff, timestamp);
  }
  return gst_pad_event_default(pad, parent, event);
}

gboolean src_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  auto* self = GST_HETERO_INFERENCE_BASE(parent);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS && negotiates_tensors(self)) {
    const std::shared_ptr<FrameAnalysis> running = analysis_of(self);
    het::gst::answer_source_caps(self->sinkpad, running ? told_group(self, *running) : nullptr,
                                 query);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return gst_pad_query_default(pad, parent, query);
  if (!gst_pad_peer_query(self->sinkpad, query)) return FALSE;
  const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
  const GstClockTime own = analysis ? analysis->latency().bound() : 0;
  gboolean live = FALSE;
  GstClockTime min = 0;
  GstClockTime max = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &min, &max);
  self->state->live = live;
  if (analysis && live) fit_queue(*analysis, self->state->frame_duration);
  gst_query_set_latency(query, live, min + own, GST_CLOCK_TIME_IS_VALID(max) ? max + own : max);
  return TRUE;
}

}  // namespace

G_DEFINE_ABSTRACT_TYPE(GstHeteroInferenceBase, gst_hetero_inference_base, GST_TYPE_ELEMENT)

static void gst_hetero_inference_base_set_property(GObject* object, guint id, const GValue* value,
                                                   GParamSpec* spec) {
  auto* self = GST_HETERO_INFERENCE_BASE(object);
  GST_OBJECT_LOCK(self);
  const bool known = het::gst::set_inference_property(*self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_hetero_inference_base_get_property(GObject* object, guint id, GValue* value,
                                                   GParamSpec* spec) {
  auto* self = GST_HETERO_INFERENCE_BASE(object);
  if (id == kPropStats) {
    const std::shared_ptr<FrameAnalysis> analysis = analysis_of(self);
    g_value_take_boxed(value, analysis ? analysis->statistics()
                                       : het::gst::InferenceStats().to_structure(0, 0, 0));
    return;
  }
  GST_OBJECT_LOCK(self);
  const bool known = het::gst::get_inference_property(*self->settings, id, value);
  GST_OBJECT_UNLOCK(self);
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void gst_hetero_inference_base_finalize(GObject* object) {
  auto* self = GST_HETERO_INFERENCE_BASE(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_inference_base_parent_class)->finalize(object);
}

/// Settings that load the model: the element's own, or, where it has a model-instance-id and no
/// model, those of an element of the same pipeline that has both. Elements start from the sinks on,
/// so that one may be later.
static het::gst::InferenceSettings model_settings(GstHeteroInferenceBase* self,
                                                  const het::gst::InferenceSettings& own) {
  if (own.model_instance_id.empty() || !own.model.empty()) return own;
  GstObject* const top = het::gst::pipeline_top(GST_ELEMENT(self));
  struct Search {
    const het::gst::InferenceSettings& own;
    het::gst::InferenceSettings found;
  } search{own, own};
  if (GST_IS_BIN(top)) {
    GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(top));
    const auto look = [](const GValue* item, gpointer data) {
      auto* element = g_value_get_object(item);
      auto* wanted = static_cast<Search*>(data);
      if (!G_TYPE_CHECK_INSTANCE_TYPE(element, gst_hetero_inference_base_get_type())) return;
      auto* other = static_cast<GstHeteroInferenceBase*>(element);
      GST_OBJECT_LOCK(other);
      const het::gst::InferenceSettings& settings = *other->settings;
      if (settings.model_instance_id == wanted->own.model_instance_id && !settings.model.empty())
        wanted->found = settings;
      GST_OBJECT_UNLOCK(other);
    };
    while (gst_iterator_foreach(elements, look, &search) == GST_ITERATOR_RESYNC) {
      gst_iterator_resync(elements);
    }
    gst_iterator_free(elements);
  }
  gst_object_unref(top);
  search.found.copy_outputs = own.copy_outputs;
  return search.found;
}

static bool start(GstHeteroInferenceBase* self) {
  GST_OBJECT_LOCK(self);
  const het::gst::InferenceSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  const het::gst::SharedDisplay display = het::gst::shared_display(GST_ELEMENT(self));
  gchar* const name = gst_object_get_name(GST_OBJECT(self));
  auto analysis = FrameAnalysis::start(name, settings, model_settings(self, settings), display);
  g_free(name);
  if (display.display) gst_object_unref(display.display);
  if (!analysis) {
    het::gst::post_error(GST_ELEMENT(self), analysis.error());
    return false;
  }
  for (const std::string& text : het::gst::ignored_settings(settings))
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS, ("%s", text.c_str()), (nullptr));
  self->state->negotiated = false;
  self->state->takes_batches = false;
  self->state->batches = {};
  self->state->warned_of_fields = false;
  gst_segment_init(&self->state->segment, GST_FORMAT_UNDEFINED);
  start_anew(*self->state);
  self->state->frames_processed = 0;
  self->state->frames_late = 0;
  self->state->weight = 0.0f;
  self->state->frame_duration = 0;
  self->state->live = false;
  self->state->eos_received = false;
  self->state->failed = false;
  self->state->downstream_needs_plain_rows = false;
  GST_OBJECT_LOCK(self);
  self->state->analysis = std::move(*analysis);
  GST_OBJECT_UNLOCK(self);
  return true;
}

static void stop(GstHeteroInferenceBase* self) {
  GST_OBJECT_LOCK(self);
  std::shared_ptr<FrameAnalysis> analysis = std::exchange(self->state->analysis, nullptr);
  GST_OBJECT_UNLOCK(self);
  // Frees frames, requests and model outside of the lock.
  analysis.reset();
}

static GstStateChangeReturn gst_hetero_inference_base_change_state(GstElement* element,
                                                                   GstStateChange transition) {
  auto* self = GST_HETERO_INFERENCE_BASE(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(self)) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_hetero_inference_base_parent_class)->change_state(element, transition);
  const bool failed_start =
      transition == GST_STATE_CHANGE_READY_TO_PAUSED && result == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY || failed_start) stop(self);
  return result;
}

static void gst_hetero_inference_base_class_init(GstHeteroInferenceBaseClass* klass) {
  GST_DEBUG_CATEGORY_INIT(heteroinference_debug, "heteroinference", 0,
                          "requests and order of the inference elements");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = gst_hetero_inference_base_finalize;
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = gst_hetero_inference_base_change_state;
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
}

void gst_hetero_inference_base_class_install(GstHeteroInferenceBaseClass* klass,
                                             het::gst::InferenceRegion default_region,
                                             bool with_threshold) {
  auto* object_class = G_OBJECT_CLASS(klass);
  // GObject does not inherit these two.
  object_class->set_property = gst_hetero_inference_base_set_property;
  object_class->get_property = gst_hetero_inference_base_get_property;
  klass->finds_objects = with_threshold;
  het::gst::install_inference_properties(object_class, default_region, with_threshold);
  g_object_class_install_property(
      object_class, kPropStats,
      g_param_spec_boxed(
          "stats", "Statistics",
          "Counters since the element started: frames-in, frames, frames-analysed, "
          "frames-in-flight, regions, regions-skipped, objects, requests, requests-busy, "
          "frames-late, frames-dropped, frames-carried; times in ns: inference-time-mean, "
          "inference-time-max, frame-time-mean; objects-by-class: an array of structures with "
          "label and count, the first 100 labels apart and _other; of pictures: "
          "pre-process-backend in use, "
          "picture-copies, copies-per-frame, surfaces-mapped, surfaces-copied, surfaces-imported, "
          "pictures-scaled; of the model: execution-devices and subgraphs, which "
          "HETERO's fail-over may change",
          GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_hetero_inference_base_init(GstHeteroInferenceBase* self) {
  self->settings = new het::gst::InferenceSettings();
  self->state = new GstHeteroInferenceState();
  gst_video_info_init(&self->state->info);

  self->sinkpad = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(self->sinkpad, chain);
  gst_pad_set_event_full_function(self->sinkpad, sink_event);
  gst_pad_set_query_function(self->sinkpad, sink_query);
  gst_pad_set_activatemode_function(self->sinkpad, sink_activate_mode);
  GST_PAD_SET_PROXY_CAPS(self->sinkpad);
  gst_element_add_pad(GST_ELEMENT(self), self->sinkpad);

  self->srcpad = gst_pad_new_from_static_template(&src_template, "src");
  gst_pad_set_event_function(self->srcpad, src_event);
  gst_pad_set_query_function(self->srcpad, src_query);
  gst_pad_set_activatemode_function(self->srcpad, src_activate_mode);
  GST_PAD_SET_PROXY_CAPS(self->srcpad);
  gst_element_add_pad(GST_ELEMENT(self), self->srcpad);
}
