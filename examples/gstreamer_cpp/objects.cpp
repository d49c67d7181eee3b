// Objects of each frame, read in C++. Argument: a gst-launch description with, after the detector,
// an element called "sink" (fakesink name=sink). Reads GstVideoRegionOfInterestMeta and, on
// GStreamer 1.26 and newer, GstAnalyticsRelationMeta: metadata-form says which of them there is.
#ifdef HET_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdio>

namespace {

void print_regions(GstBuffer* buffer) {
  gpointer cursor = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &cursor, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const GstStructure* detection =
        gst_video_region_of_interest_meta_get_param(region, "detection");
    double confidence = 0;
    if (detection == nullptr || !gst_structure_get_double(detection, "confidence", &confidence))
      continue;
    std::printf("%s %.2f at %u,%u size %ux%u\n", g_quark_to_string(region->roi_type), confidence,
                region->x, region->y, region->w, region->h);
  }
}

#ifdef HET_GST_ANALYTICS
void print_relations(GstBuffer* buffer) {
  GstAnalyticsRelationMeta* meta = gst_buffer_get_analytics_relation_meta(buffer);
  if (meta == nullptr) return;
  gpointer cursor = nullptr;
  GstAnalyticsODMtd object;
  while (gst_analytics_relation_meta_iterate(meta, &cursor, gst_analytics_od_mtd_get_mtd_type(),
                                             &object)) {
    int x, y, width, height;
    float confidence;
    gst_analytics_od_mtd_get_location(&object, &x, &y, &width, &height, &confidence);
    std::printf("%s %.2f at %d,%d size %dx%d\n",
                g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&object)),
                static_cast<double>(confidence), x, y, width, height);
  }
}
#endif

GstPadProbeReturn print_objects(GstPad*, GstPadProbeInfo* probe, gpointer) {
  print_regions(GST_PAD_PROBE_INFO_BUFFER(probe));
#ifdef HET_GST_ANALYTICS
  print_relations(GST_PAD_PROBE_INFO_BUFFER(probe));
#endif
  return GST_PAD_PROBE_OK;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  GError* error = nullptr;
  GstElement* pipeline = gst_parse_launch(argc == 2 ? argv[1] : "", &error);
  GstElement* sink =
      GST_IS_BIN(pipeline) ? gst_bin_get_by_name(GST_BIN(pipeline), "sink") : nullptr;
  if (error != nullptr || sink == nullptr) {
    std::fprintf(stderr, "%s\n", error ? error->message : "no element is called 'sink'");
    return 2;
  }
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, print_objects, nullptr, nullptr);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstBus* bus = gst_element_get_bus(pipeline);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const bool failed = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  if (failed) {
    gst_message_parse_error(message, &error, nullptr);
    std::fprintf(stderr, "%s\n", error->message);
    g_error_free(error);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_object_unref(pipeline);
  return failed ? 1 : 0;
}
