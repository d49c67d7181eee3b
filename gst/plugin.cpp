/// The plugin's entry. It opens no device, starts no thread and loads no model: that happens when
/// an element goes to PAUSED.

#include <gst/gst.h>

#include "gst/bindings/frame_access.h"
#include "gst/elements/gstheteroanalytics.h"
#include "gst/elements/gstheteroattachroi.h"
#include "gst/elements/gstheteroclassify.h"
#include "gst/elements/gstheterodetect.h"
#include "gst/elements/gstheterofpscounter.h"
#include "gst/elements/gstheterofpsthrottle.h"
#include "gst/elements/gstheteroinference.h"
#include "gst/elements/gstheterometaaggregate.h"
#include "gst/elements/gstheterometaconvert.h"
#include "gst/elements/gstheterometapublish.h"
#include "gst/elements/gstheterometapublishfile.h"
#include "gst/elements/gstheterometapublishkafka.h"
#include "gst/elements/gstheterometapublishmqtt.h"
#include "gst/elements/gstheteromotiondetect.h"
#include "gst/elements/gstheterotracer.h"
#include "gst/elements/gstheterotrack.h"
#include "gst/elements/gstheterowatermark.h"
#include "gst/measuring/log_bridge.h"

static gboolean plugin_init(GstPlugin* plugin) {
  het::gst::connect_log();
  het::gst::offer_frame_access(plugin);
  gboolean any = FALSE;
  any |= GST_ELEMENT_REGISTER(heterodetect, plugin);
  any |= GST_ELEMENT_REGISTER(heteroclassify, plugin);
  any |= GST_ELEMENT_REGISTER(heteroinference, plugin);
  any |= GST_ELEMENT_REGISTER(heteroanalytics, plugin);
  any |= GST_ELEMENT_REGISTER(heteroattachroi, plugin);
  any |= GST_ELEMENT_REGISTER(heterometaaggregate, plugin);
  any |= GST_ELEMENT_REGISTER(heterotrack, plugin);
  any |= GST_ELEMENT_REGISTER(heteromotiondetect, plugin);
  any |= GST_ELEMENT_REGISTER(heterowatermark, plugin);
  any |= GST_ELEMENT_REGISTER(heterometaconvert, plugin);
  any |= GST_ELEMENT_REGISTER(heterometapublish, plugin);
  any |= GST_ELEMENT_REGISTER(heterometapublishfile, plugin);
  any |= GST_ELEMENT_REGISTER(heterometapublishkafka, plugin);
  any |= GST_ELEMENT_REGISTER(heterometapublishmqtt, plugin);
  any |= GST_ELEMENT_REGISTER(heterofpscounter, plugin);
  any |= GST_ELEMENT_REGISTER(heterofpsthrottle, plugin);
  any |= gst_hetero_tracer_register(plugin);
  return any;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, hetero,
                  "Video analytics on all devices of a machine", plugin_init, HET_GST_VERSION,
                  "MIT/X11", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
