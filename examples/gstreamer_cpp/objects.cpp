// Objects of each frame, read in C++. Argument: a gst-launch description with, after the detector,
// an element called "sink" (fakesink name=sink). Reads GstVideoRegionOfInterestMeta: on GStreamer
// 1.26 and newer set metadata-form=roi.
#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdio>

namespace {

GstPadProbeReturn print_objects(GstPad*, GstPadProbeInfo* probe, gpointer) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
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
