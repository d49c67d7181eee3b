#include "plugin_table.h"

#include <gst/gst.h>

#include <atomic>
#include <string>

namespace het::python {
namespace {

std::atomic<const gst::FrameAccess*> loaded{nullptr};

/// GStreamer never unloads a plugin, so that the table stays.
const gst::FrameAccess* find_table() {
  GstPlugin* plugin = gst_plugin_load_by_name("hetero");
  if (plugin == nullptr) {
    PyErr_SetString(PyExc_ImportError,
                    "hetero.gst needs the GStreamer plugin hetero, which GStreamer does not find; "
                    "install the package gstreamer1.0-hetero, or set GST_PLUGIN_PATH to the folder "
                    "of libgsthetero.so (gst/ of a build)");
    return nullptr;
  }
  const auto* table =
      static_cast<const gst::FrameAccess*>(g_object_get_data(G_OBJECT(plugin), gst::kFrameAccess));
  const std::string version = table != nullptr ? table->version : gst_plugin_get_version(plugin);
  const char* file = gst_plugin_get_filename(plugin);
  const std::string place = file != nullptr ? file : "the application";
  gst_object_unref(plugin);
  if (table != nullptr && version == HET_GST_VERSION) return table;
  PyErr_Format(PyExc_ImportError,
               "hetero.gst is of version %s and the GStreamer plugin hetero (%s) of version %s; "
               "install both in one version",
               HET_GST_VERSION, place.c_str(), version.c_str());
  return nullptr;
}

}  // namespace

bool load_frame_access() {
  if (loaded.load(std::memory_order_acquire) != nullptr) return true;
  if (!gst_is_initialized()) {
    PyErr_SetString(PyExc_RuntimeError, "call Gst.init(None) before frames are made");
    return false;
  }
  const gst::FrameAccess* table = find_table();
  if (table != nullptr) loaded.store(table, std::memory_order_release);
  return table != nullptr;
}

const gst::FrameAccess& frame_access() {
  return *loaded.load(std::memory_order_acquire);
}

}  // namespace het::python
