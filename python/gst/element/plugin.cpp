/// The entry of the plugin heteropython, apart from the plugin hetero so that only this one needs
/// Python. It starts no Python: that happens when an element goes to PAUSED.

#include <gst/gst.h>

#include "python/gst/element/gstheteropython.h"

static gboolean plugin_init(GstPlugin* plugin) {
  return GST_ELEMENT_REGISTER(heteropython, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, heteropython,
                  "Runs a user's Python on each frame", plugin_init, HET_GST_VERSION, "MIT/X11",
                  GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
