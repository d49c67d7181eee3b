/**
 * SECTION:element-heterometaaggregate
 * @title: heterometaaggregate
 * @short_description: joins the results of several branches on one frame
 *
 * Frames of the first sink pad leave through the source pad; frames of the other pads with the same
 * running time give their regions to them, fitted to the size of the picture. Branches may leave
 * out frames. Pixels are not looked at. Put a queue before each pad.
 *
 * With live sources a frame waits for the other pads no longer than the latency of the pipeline and
 * `latency`, then leaves without what is late. A branch that takes its time and does not say so in
 * the LATENCY query needs a `latency` of that time.
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

#include <utility>

#include "gst/metadata/metadata_copy.h"
#include "metadata_transform.h"

struct GstHeteroMetaAggregate {
  GstAggregator parent;
};

struct GstHeteroMetaAggregateClass {
  GstAggregatorClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaAggregate, gst_hetero_meta_aggregate, GST_TYPE_AGGREGATOR)
GST_ELEMENT_REGISTER_DEFINE(heterometaaggregate, "heterometaaggregate", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_AGGREGATE)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

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

static GstClockTime running_time(GstAggregatorPad* pad, GstBuffer* buffer) {
  return gst_segment_to_running_time(&pad->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
}

static bool video_info_of(GstAggregatorPad* pad, GstVideoInfo* info) {
  GstCaps* caps = gst_pad_get_current_caps(GST_PAD(pad));
  const bool read = caps && gst_video_info_from_caps(info, caps);
  gst_clear_caps(&caps);
  return read;
}

/// What another pad knows about a frame.
enum class Partner { kNone, kLater, kFound };

/// Drops what is older than `time`.
static Partner find_partner(GstAggregatorPad* pad, GstClockTime time) {
  while (GstBuffer* buffer = gst_aggregator_pad_peek_buffer(pad)) {
    const GstClockTime own = running_time(pad, buffer);
    gst_buffer_unref(buffer);
    if (GST_CLOCK_TIME_IS_VALID(own) && GST_CLOCK_TIME_IS_VALID(time) && own >= time)
      return own == time ? Partner::kFound : Partner::kNone;
    gst_aggregator_pad_drop_buffer(pad);
  }
  return gst_aggregator_pad_is_eos(pad) ? Partner::kNone : Partner::kLater;
}

/// The frame with the regions of its partners; takes `frame` over.
static GstBuffer* join(GList* others, GstBuffer* frame, const GstVideoInfo& info,
                       GstClockTime time) {
  frame = gst_buffer_make_writable(frame);
  for (GList* link = others; link; link = link->next) {
    auto* pad = GST_AGGREGATOR_PAD(link->data);
    GstVideoInfo other_info;
    if (find_partner(pad, time) != Partner::kFound || !video_info_of(pad, &other_info)) continue;
    GstBuffer* partner = gst_aggregator_pad_pop_buffer(pad);
    if (!partner) continue;
    het::gst::copy_regions(partner, other_info, frame, info);
    gst_buffer_unref(partner);
  }
  return frame;
}

static GstFlowReturn gst_hetero_meta_aggregate_aggregate(GstAggregator* aggregator,
                                                         gboolean timeout) {
  GList* pads = sink_pads(aggregator);
  if (!pads) return GST_FLOW_EOS;
  auto* first = GST_AGGREGATOR_PAD(pads->data);
  GstBuffer* frame = gst_aggregator_pad_peek_buffer(first);
  GstVideoInfo info;
  GstFlowReturn flow = GST_FLOW_OK;
  if (!frame) {
    flow = gst_aggregator_pad_is_eos(first) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  } else if (!video_info_of(first, &info)) {
    flow = GST_FLOW_NOT_NEGOTIATED;
  }
  const GstClockTime time = frame ? running_time(first, frame) : GST_CLOCK_TIME_NONE;
  for (GList* link = pads->next; link && flow == GST_FLOW_OK && !timeout; link = link->next) {
    if (find_partner(GST_AGGREGATOR_PAD(link->data), time) == Partner::kLater)
      flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  }
  if (flow == GST_FLOW_OK) {
    // The pad's own reference has to go before the buffer can be changed without a copy.
    gst_clear_buffer(&frame);
    frame = gst_aggregator_pad_pop_buffer(first);
    if (frame) {
      const GstSegment segment = first->segment;
      gst_aggregator_update_segment(aggregator, &segment);
      flow = gst_aggregator_finish_buffer(
          aggregator, join(pads->next, std::exchange(frame, nullptr), info, time));
    }
  }
  gst_clear_buffer(&frame);
  unref_pads(pads);
  return flow;
}

/// When the frame that leads is due: the base class adds the latency and calls aggregate() with
/// `timeout` then. Without a frame there is nothing to wait for but the first pad, after its end
/// nothing at all.
static GstClockTime gst_hetero_meta_aggregate_get_next_time(GstAggregator* aggregator) {
  GList* pads = sink_pads(aggregator);
  GstClockTime time = GST_CLOCK_TIME_NONE;
  if (pads) {
    auto* first = GST_AGGREGATOR_PAD(pads->data);
    if (GstBuffer* frame = gst_aggregator_pad_peek_buffer(first)) {
      time = running_time(first, frame);
      gst_buffer_unref(frame);
    } else if (gst_aggregator_pad_is_eos(first)) {
      time = 0;
    }
  }
  unref_pads(pads);
  return time;
}

/// The source pad has the first sink pad's caps.
static GstFlowReturn gst_hetero_meta_aggregate_update_src_caps(GstAggregator* aggregator, GstCaps*,
                                                               GstCaps** caps) {
  GList* pads = sink_pads(aggregator);
  *caps = pads ? gst_pad_get_current_caps(GST_PAD(pads->data)) : nullptr;
  unref_pads(pads);
  return *caps ? GST_FLOW_OK : GST_AGGREGATOR_FLOW_NEED_DATA;
}

static gboolean gst_hetero_meta_aggregate_sink_event(GstAggregator* aggregator,
                                                     GstAggregatorPad* pad, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS)
    gst_pad_mark_reconfigure(GST_AGGREGATOR_SRC_PAD(aggregator));
  return GST_AGGREGATOR_CLASS(gst_hetero_meta_aggregate_parent_class)
      ->sink_event(aggregator, pad, event);
}

static void gst_hetero_meta_aggregate_class_init(GstHeteroMetaAggregateClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "Results of several branches", "Muxer/Metadata/Video",
      "Joins the regions of several branches on one frame", "gst-hetero maintainers");
  gst_element_class_add_static_pad_template_with_gtype(element_class, &sink_template,
                                                       GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_add_static_pad_template_with_gtype(element_class, &src_template,
                                                       GST_TYPE_AGGREGATOR_PAD);
  auto* aggregator_class = GST_AGGREGATOR_CLASS(klass);
  aggregator_class->aggregate = gst_hetero_meta_aggregate_aggregate;
  aggregator_class->update_src_caps = gst_hetero_meta_aggregate_update_src_caps;
  aggregator_class->sink_event = gst_hetero_meta_aggregate_sink_event;
  aggregator_class->get_next_time = gst_hetero_meta_aggregate_get_next_time;
}

static void gst_hetero_meta_aggregate_init(GstHeteroMetaAggregate*) {}
