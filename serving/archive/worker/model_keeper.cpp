#include "serving/archive/worker/model_keeper.h"

#include <utility>

namespace het::archive {

void ModelKeeper::take_from(GstElement* pipeline) {
  std::vector<serving::ElementRef> taken;
  for (serving::ElementRef& element : serving::elements_of(pipeline)) {
    if (serving::text_property(element.get(), "model-instance-id").empty()) continue;
    GstObject* const parent = gst_object_get_parent(GST_OBJECT(element.get()));
    if (!parent) continue;
    // In the state in which it is, with its model.
    if (gst_bin_remove(GST_BIN(parent), element.get())) taken.push_back(std::move(element));
    gst_object_unref(parent);
  }
  if (taken.empty()) return;
  std::swap(kept_, taken);
  for (const serving::ElementRef& before : taken) {
    gst_element_set_state(before.get(), GST_STATE_NULL);
  }
}

void ModelKeeper::release() {
  for (const serving::ElementRef& element : kept_) {
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
  kept_.clear();
}

}  // namespace het::archive
