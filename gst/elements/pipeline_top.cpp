#include "pipeline_top.h"

namespace het::gst {

GstObject* pipeline_top(GstElement* element) {
  GstObject* top = GST_OBJECT(gst_object_ref(element));
  while (GstObject* parent = gst_object_get_parent(top)) {
    gst_object_unref(top);
    top = parent;
  }
  return top;
}

}  // namespace het::gst
