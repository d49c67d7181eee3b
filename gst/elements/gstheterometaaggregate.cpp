/**
 * SECTION:element-heterometaaggregate
 * @title: heterometaaggregate
 * @short_description: joins the results of several branches on one frame
 *
 * Frames of the first sink pad leave through the source pad; frames of the other pads with the same
 * running time give their regions to them, fitted to the size of the picture. Branches may leave
 * out frames. Pixels are not looked at. Put a queue before each pad.
 *
 * A frame without a timestamp leaves as it is, with one warning, and one of another pad is dropped.
 * GAP events of the first pad stay events once a frame has left.
 *
 * With live sources a frame waits for the other pads no longer than the latency of the pipeline and
 * `latency`, then leaves without what is late, and what comes too late is dropped at once. While
 * the first pad gives no frames, those of the others are dropped when they are due. A branch that
 * takes its time and does not say so in the LATENCY query needs a `latency` of that time.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! tee name=t \
 *   t. ! queue ! heterometaaggregate name=a ! heterometaconvert ! heterometapublish ! fakesink \
 *   t. ! queue ! heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! a.
 * ]|
 */
#include "gstheterometaaggregate.h"

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

#include <atomic>
#include <utility>

#include "gst/metadata/metadata_copy.h"
#include "metadata_transform.h"

struct GstHeteroMetaAggregate {
  GstAggregator parent;
  // State.
  std::atomic<GstClockTime> last_time;  ///< running time of the last frame that left; NONE at first
  bool has_output;                      ///< a frame has left, with what must come before it
  bool has_warned;                      ///< of frames without a timestamp
};

struct GstHeteroMetaAggregateClass {
  GstAggregatorClass parent_class;
};

/// A sink pad with the caps of the frame in front; the pad's current caps may be those of a later
/// one.
struct GstHeteroMetaAggregatePad {
  GstAggregatorPad parent;
  GstCaps* caps;  ///< null before the first
  GstVideoInfo info;
};

struct GstHeteroMetaAggregatePadClass {
  GstAggregatorPadClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaAggregate, gst_hetero_meta_aggregate, GST_TYPE_AGGREGATOR)
G_DEFINE_TYPE(GstHeteroMetaAggregatePad, gst_hetero_meta_aggregate_pad, GST_TYPE_AGGREGATOR_PAD)
GST_ELEMENT_REGISTER_DEFINE(heterometaaggregate, "heterometaaggregate", GST_RANK_NONE,
                            gst_hetero_meta_aggregate_get_type())

#define GST_HETERO_META_AGGREGATE(object) (reinterpret_cast<GstHeteroMetaAggregate*>(object))
#define GST_HETERO_META_AGGREGATE_PAD(object) (reinterpret_cast<GstHeteroMetaAggregatePad*>(object))

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

static void gst_hetero_meta_aggregate_pad_finalize(GObject* object) {
  gst_clear_caps(&GST_HETERO_META_AGGREGATE_PAD(object)->caps);
  G_OBJECT_CLASS(gst_hetero_meta_aggregate_pad_parent_class)->finalize(object);
}

static void gst_hetero_meta_aggregate_pad_class_init(GstHeteroMetaAggregatePadClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = gst_hetero_meta_aggregate_pad_finalize;
}

static void gst_hetero_meta_aggregate_pad_init(GstHeteroMetaAggregatePad*) {}

/// The pads of the moment, the first one first; the caller unrefs with unref_pads().
static GList* sink_pads(GstAggregator* aggregator) {
  GST_OBJECT_LOCK(aggregator);
  GList* pads = g_list_copy(GST_ELEMENT(aggregator)->sinkpads);
  for (GList* link = pads; link; link = link->next) gst_object_ref(link->data);
  GST_OBJECT_UNLOCK(aggregator);
  return pads;
}

static void unref_pads(GList* pads) {
  g_list_free_full(pads, gst_object_unref);
}

/// A flush takes it away (its format is UNDEFINED then) while the frame before it is looked at.
static GstSegment segment_of(GstAggregatorPad* pad) {
  GST_OBJECT_LOCK(pad);
  const GstSegment segment = pad->segment;
  GST_OBJECT_UNLOCK(pad);
  return segment;
}

/// NONE without a timestamp, and outside of the segment.
static GstClockTime running_time(GstAggregatorPad* pad, GstBuffer* buffer) {
  const GstSegment segment = segment_of(pad);
  if (segment.format != GST_FORMAT_TIME) return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

/// What GstAggregator makes of a GAP event.
static bool is_gap(GstBuffer* buffer) {
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size(buffer) == 0;
}

static GstClockTime end_of(GstBuffer* gap, GstClockTime start) {
  return GST_BUFFER_DURATION_IS_VALID(gap) ? start + GST_BUFFER_DURATION(gap) : start;
}

/// What another pad knows about a frame.
enum class Partner { None, Later, Found };

/// Drops what is older than `time` or has no timestamp.
static Partner find_partner(GstAggregatorPad* pad, GstClockTime time) {
  while (GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad)) {
    const GstClockTime own = running_time(pad, buffer);
    const bool gap = is_gap(buffer);
    const bool covers = gap && GST_CLOCK_TIME_IS_VALID(own) && end_of(buffer, own) > time;
    gst_buffer_unref(buffer);
    if (GST_CLOCK_TIME_IS_VALID(own) && (own >= time || covers))
      return own == time && !gap ? Partner::Found : Partner::None;
    gst_aggregator_pad_drop_buffer(pad);
  }
  return gst_aggregator_pad_is_eos(pad) ? Partner::None : Partner::Later;
}

/// Nothing ever meets frames of another pad without a timestamp, and they would stop their branch.
static void drop_untimed(GstAggregatorPad* pad) {
  while (GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad)) {
    const bool is_timed = GST_CLOCK_TIME_IS_VALID(running_time(pad, buffer));
    gst_buffer_unref(buffer);
    if (is_timed) return;
    gst_aggregator_pad_drop_buffer(pad);
  }
}

/// The frame with the regions of its partners; takes `frame` over.
static GstBuffer* join(GList* others, GstBuffer* frame, const GstVideoInfo& info,
                       GstClockTime time) {
  frame = gst_buffer_make_writable(frame);
  for (GList* link = others; link; link = link->next) {
    auto* pad = GST_AGGREGATOR_PAD(link->data);
    const auto* own = GST_HETERO_META_AGGREGATE_PAD(pad);
    if (find_partner(pad, time) != Partner::Found || !own->caps) continue;
    GstBuffer* partner = gst_aggregator_pad_pop_buffer(pad);
    if (!partner) continue;
    het::gst::copy_regions(partner, own->info, frame, info);
    gst_buffer_unref(partner);
  }
  return frame;
}

/// Of pads that wait for the first one: those whose frame is the earliest let go of it.
static void drop_earliest(GList* others) {
  GstClockTime earliest = GST_CLOCK_TIME_NONE;
  for (GList* link = others; link; link = link->next) {
    auto* pad = GST_AGGREGATOR_PAD(link->data);
    if (GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad)) {
      earliest = MIN(earliest, running_time(pad, buffer));
      gst_buffer_unref(buffer);
    }
  }
  for (GList* link = others; link; link = link->next) {
    auto* pad = GST_AGGREGATOR_PAD(link->data);
    GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad);
    if (buffer && running_time(pad, buffer) == earliest) gst_aggregator_pad_drop_buffer(pad);
    gst_clear_buffer(&buffer);
  }
}

/// The frame in front of the first pad leaves.
static GstFlowReturn push_frame(GstAggregator* aggregator, GList* pads, GstClockTime time) {
  auto* self = GST_HETERO_META_AGGREGATE(aggregator);
  auto* first = GST_AGGREGATOR_PAD(pads->data);
  GstBuffer* frame = gst_aggregator_pad_pop_buffer(first);
  if (!frame) return GST_FLOW_OK;  // a flush was faster
  const GstSegment segment = segment_of(first);
  if (segment.format == GST_FORMAT_TIME) gst_aggregator_update_segment(aggregator, &segment);
  if (GST_CLOCK_TIME_IS_VALID(time)) {
    frame = join(pads->next, frame, GST_HETERO_META_AGGREGATE_PAD(first)->info, time);
    self->last_time = time;
  } else {
    g_list_foreach(
        pads->next, [](gpointer pad, gpointer) { drop_untimed(GST_AGGREGATOR_PAD(pad)); }, nullptr);
    if (!std::exchange(self->has_warned, true)) {
      GST_ELEMENT_WARNING(
          self, STREAM, FORMAT, ("Frames without timestamps meet no other frames."),
          ("such frames of the first pad leave as they are, those of other pads are "
           "dropped; let the source or videorate give them timestamps"));
    }
  }
  self->has_output = true;
  return gst_aggregator_finish_buffer(aggregator, frame);
}

/// A GAP event again. Before the first frame the base class has not sent what has to come first,
/// and nobody waits for anything.
static void push_gap(GstAggregator* aggregator, GstAggregatorPad* first) {
  GstBuffer* gap = gst_aggregator_pad_pop_buffer(first);
  if (gap && GST_HETERO_META_AGGREGATE(aggregator)->has_output) {
    gst_pad_push_event(GST_AGGREGATOR_SRC_PAD(aggregator),
                       gst_event_new_gap(GST_BUFFER_PTS(gap), GST_BUFFER_DURATION(gap)));
  }
  gst_clear_buffer(&gap);
}

static GstFlowReturn gst_hetero_meta_aggregate_aggregate(GstAggregator* aggregator,
                                                         gboolean timeout) {
  GList* pads = sink_pads(aggregator);
  if (!pads) return GST_FLOW_EOS;
  auto* first = GST_AGGREGATOR_PAD(pads->data);
  GstBuffer* frame = gst_aggregator_pad_peek_buffer(first);
  GstFlowReturn flow = GST_FLOW_OK;
  if (!frame) {
    const bool is_end = gst_aggregator_pad_is_eos(first);
    if (timeout && !is_end) drop_earliest(pads->next);
    flow = is_end ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  } else if (is_gap(frame)) {
    push_gap(aggregator, first);
  } else if (!GST_HETERO_META_AGGREGATE_PAD(first)->caps) {
    flow = GST_FLOW_NOT_NEGOTIATED;
  } else {
    const GstClockTime time = running_time(first, frame);
    for (GList* link = pads->next; link && flow == GST_FLOW_OK && !timeout; link = link->next) {
      auto* pad = GST_AGGREGATOR_PAD(link->data);
      if (GST_CLOCK_TIME_IS_VALID(time) && find_partner(pad, time) == Partner::Later)
        flow = GST_AGGREGATOR_FLOW_NEED_DATA;
    }
    // The pad's own reference has to go before the buffer can be changed without a copy.
    gst_clear_buffer(&frame);
    if (flow == GST_FLOW_OK) flow = push_frame(aggregator, pads, time);
  }
  gst_clear_buffer(&frame);
  unref_pads(pads);
  return flow;
}

/// When what is in front is due: the base class adds the latency and calls aggregate() with
/// `timeout` then. A frame without a timestamp, and the end, wait for nothing.
static GstClockTime gst_hetero_meta_aggregate_get_next_time(GstAggregator* aggregator) {
  GList* pads = sink_pads(aggregator);
  GstClockTime time = GST_CLOCK_TIME_NONE;
  for (GList* link = pads; link; link = link->next) {
    auto* pad = GST_AGGREGATOR_PAD(link->data);
    GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad);
    const bool is_first = link == pads;
    if (buffer) {
      const GstClockTime own = running_time(pad, buffer);
      time = MIN(time, GST_CLOCK_TIME_IS_VALID(own) ? own : 0);
    } else if (is_first && gst_aggregator_pad_is_eos(pad)) {
      time = 0;
    }
    const bool leads = is_first && GST_CLOCK_TIME_IS_VALID(time);
    gst_clear_buffer(&buffer);
    if (leads) break;
  }
  unref_pads(pads);
  return time;
}

/// The source pad has the first sink pad's caps.
static GstFlowReturn gst_hetero_meta_aggregate_update_src_caps(GstAggregator* aggregator, GstCaps*,
                                                               GstCaps** caps) {
  GList* pads = sink_pads(aggregator);
  *caps = nullptr;
  if (pads && GST_HETERO_META_AGGREGATE_PAD(pads->data)->caps)
    *caps = gst_caps_ref(GST_HETERO_META_AGGREGATE_PAD(pads->data)->caps);
  unref_pads(pads);
  return *caps ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
}

static void forget_times(GstAggregator* aggregator) {
  GST_HETERO_META_AGGREGATE(aggregator)->last_time = GST_CLOCK_TIME_NONE;
}

/// In the order of the frames.
static gboolean gst_hetero_meta_aggregate_sink_event(GstAggregator* aggregator,
                                                     GstAggregatorPad* pad, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    auto* own = GST_HETERO_META_AGGREGATE_PAD(pad);
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    gst_caps_replace(&own->caps, gst_video_info_from_caps(&own->info, caps) ? caps : nullptr);
    gst_pad_mark_reconfigure(GST_AGGREGATOR_SRC_PAD(aggregator));
  } else if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    forget_times(aggregator);  // running times may begin again
  }
  return GST_AGGREGATOR_CLASS(gst_hetero_meta_aggregate_parent_class)
      ->sink_event(aggregator, pad, event);
}

/// ALLOCATION does not wait for the frames before it: one of another pad may stay until its partner
/// comes, and what comes may wait for the answer.
static gboolean gst_hetero_meta_aggregate_sink_query_pre_queue(GstAggregator* aggregator,
                                                               GstAggregatorPad* pad,
                                                               GstQuery* query) {
  auto* klass = GST_AGGREGATOR_CLASS(gst_hetero_meta_aggregate_parent_class);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    return GST_AGGREGATOR_GET_CLASS(aggregator)->sink_query(aggregator, pad, query);
  return klass->sink_query_pre_queue(aggregator, pad, query);
}

/// A frame of another pad whose time has passed is dropped before it can fill its pad.
static GstPadProbeReturn drop_late(GstPad* pad, GstPadProbeInfo* info, gpointer object) {
  auto* self = GST_HETERO_META_AGGREGATE(object);
  const GstClockTime last = self->last_time;
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (!GST_CLOCK_TIME_IS_VALID(last) || !GST_BUFFER_PTS_IS_VALID(buffer)) return GST_PAD_PROBE_OK;
  GST_OBJECT_LOCK(self);
  const GList* pads = GST_ELEMENT(self)->sinkpads;
  const bool is_first = pads && pads->data == pad;
  GST_OBJECT_UNLOCK(self);
  GstEvent* event = is_first ? nullptr : gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
  if (!event) return GST_PAD_PROBE_OK;
  const GstSegment* segment = nullptr;
  gst_event_parse_segment(event, &segment);
  const GstClockTime time =
      gst_segment_to_running_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  gst_event_unref(event);
  return GST_CLOCK_TIME_IS_VALID(time) && time < last ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

static GstAggregatorPad* gst_hetero_meta_aggregate_create_new_pad(GstAggregator* aggregator,
                                                                  GstPadTemplate* templ,
                                                                  const gchar* name,
                                                                  const GstCaps* caps) {
  GstAggregatorPad* pad = GST_AGGREGATOR_CLASS(gst_hetero_meta_aggregate_parent_class)
                              ->create_new_pad(aggregator, templ, name, caps);
  if (pad)
    gst_pad_add_probe(GST_PAD(pad), GST_PAD_PROBE_TYPE_BUFFER, drop_late, aggregator, nullptr);
  return pad;
}

static GstFlowReturn gst_hetero_meta_aggregate_flush(GstAggregator* aggregator) {
  forget_times(aggregator);
  return GST_FLOW_OK;
}

static gboolean gst_hetero_meta_aggregate_start(GstAggregator* aggregator) {
  auto* self = GST_HETERO_META_AGGREGATE(aggregator);
  forget_times(aggregator);
  self->has_output = false;
  self->has_warned = false;
  return TRUE;
}

static void gst_hetero_meta_aggregate_class_init(GstHeteroMetaAggregateClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "Results of several branches", "Muxer/Metadata/Video",
      "Joins the regions of several branches on one frame", "gst-hetero maintainers");
  gst_element_class_add_static_pad_template_with_gtype(element_class, &sink_template,
                                                       gst_hetero_meta_aggregate_pad_get_type());
  gst_element_class_add_static_pad_template_with_gtype(element_class, &src_template,
                                                       GST_TYPE_AGGREGATOR_PAD);
  auto* aggregator_class = GST_AGGREGATOR_CLASS(klass);
  aggregator_class->aggregate = gst_hetero_meta_aggregate_aggregate;
  aggregator_class->update_src_caps = gst_hetero_meta_aggregate_update_src_caps;
  aggregator_class->sink_event = gst_hetero_meta_aggregate_sink_event;
  aggregator_class->get_next_time = gst_hetero_meta_aggregate_get_next_time;
  aggregator_class->sink_query_pre_queue = gst_hetero_meta_aggregate_sink_query_pre_queue;
  aggregator_class->create_new_pad = gst_hetero_meta_aggregate_create_new_pad;
  aggregator_class->flush = gst_hetero_meta_aggregate_flush;
  aggregator_class->start = gst_hetero_meta_aggregate_start;
}

static void gst_hetero_meta_aggregate_init(GstHeteroMetaAggregate* self) {
  self->last_time = GST_CLOCK_TIME_NONE;
}
