/// The entry of the plugin heterometrics: a tracer, apart from the elements, so that nobody else
/// needs a library of HTTP.

#include <gst/gst.h>

#include "serving/metrics/metrics_tracer.h"

static gboolean plugin_init(GstPlugin* plugin) {
  return gst_hetero_metrics_tracer_register(plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, heterometrics,
                  "Serves what pipelines do as metrics in OpenMetrics' text", plugin_init,
                  HET_GST_VERSION, "MIT/X11", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
