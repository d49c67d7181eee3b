#include "object_classes.h"

namespace het::gst {
namespace {

void append_class(GValue* classes, const char* label, uint64_t count) {
  GValue one = G_VALUE_INIT;
  g_value_init(&one, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&one, gst_structure_new("class", "label", G_TYPE_STRING, label, "count",
                                             G_TYPE_UINT64, guint64{count}, nullptr));
  gst_value_array_append_and_take_value(classes, &one);
}

}  // namespace

void ObjectClasses::count(std::string_view label) {
  std::lock_guard lock(mutex_);
  const auto known = counts_.find(label);
  if (known != counts_.end()) {
    ++known->second;
  } else if (counts_.size() < kMostLabels) {
    counts_.emplace(label, 1);
  } else {
    ++others_;
  }
}

void ObjectClasses::add_to(GstStructure* stats, const char* field) const {
  GValue classes = G_VALUE_INIT;
  g_value_init(&classes, GST_TYPE_ARRAY);
  {
    std::lock_guard lock(mutex_);
    for (const auto& [label, count] : counts_) append_class(&classes, label.c_str(), count);
    if (others_ > 0) append_class(&classes, kOtherLabels, others_);
  }
  gst_structure_take_value(stats, field, &classes);
}

}  // namespace het::gst
