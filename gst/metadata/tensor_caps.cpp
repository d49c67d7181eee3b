#include "tensor_caps.h"

#include <fmt/format.h>

#include "batch_caps.h"
#include "inference/decoders/exchange/tensor_ids.h"

namespace het::gst {
namespace {

#if GST_CHECK_VERSION(1, 28, 0)

/// 1.28's decoder of SSD models takes the number of objects only where it is open.
bool has_open_count(const TensorGroup& group, const GroupTensor& tensor, size_t axis) {
  return axis == 1 && group.id == kSsdGroupId && tensor.is_known;
}

void set_dims(GstStructure* structure, const TensorGroup& group, const GroupTensor& tensor) {
  GValue dims = G_VALUE_INIT;
  gst_value_array_init(&dims, static_cast<guint>(tensor.shape.size()));
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const int64_t size = tensor.shape[axis];
    const bool known = size > 0 && size <= G_MAXINT && !has_open_count(group, tensor, axis);
    GValue dim = G_VALUE_INIT;
    g_value_init(&dim, G_TYPE_INT);
    g_value_set_int(&dim, known ? static_cast<gint>(size) : 0);
    gst_value_array_append_and_take_value(&dims, &dim);
  }
  gst_structure_take_value(structure, "dims", &dims);
}

GstCaps* caps_of(const TensorGroup& group, const GroupTensor& tensor) {
  GstStructure* structure = gst_structure_new(
      "tensor/strided", "tensor-id", G_TYPE_STRING, tensor.id.c_str(), "dims-order", G_TYPE_STRING,
      tensor.column_major ? "col-major" : "row-major", "type", G_TYPE_STRING,
      std::string(to_string(tensor.type)).c_str(), nullptr);
  set_dims(structure, group, tensor);
  return gst_caps_new_full(structure, nullptr);
}

void set_group(GstStructure* groups, const TensorGroup& group) {
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_UNIQUE_LIST);
  for (const GroupTensor& tensor : group.tensors) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_CAPS);
    g_value_take_boxed(&value, caps_of(group, tensor));
    gst_value_unique_list_append_and_take_value(&list, &value);
  }
  gst_structure_take_value(groups, group.id.c_str(), &list);
}

#else

void set_group(GstStructure*, const TensorGroup&) {}

#endif

}  // namespace

GstCaps* with_tensor_group(const GstCaps* caps, const TensorGroup& group) {
  GstCaps* result = gst_caps_copy(caps);
  change_frame_structures(result, [&group](GstStructure* structure) {
    const GValue* had = gst_structure_get_value(structure, kTensorsField);
    GstStructure* groups = had != nullptr && GST_VALUE_HOLDS_STRUCTURE(had)
                               ? gst_structure_copy(gst_value_get_structure(had))
                               : gst_structure_new_empty("tensorgroups");
    set_group(groups, group);
    gst_structure_set(structure, kTensorsField, GST_TYPE_STRUCTURE, groups, nullptr);
    gst_structure_free(groups);
  });
  return result;
}

GstCaps* without_tensors(GstCaps* caps) {
  GstCaps* result = gst_caps_make_writable(caps);
  change_frame_structures(result, [](GstStructure* structure) {
    gst_structure_remove_field(structure, kTensorsField);
  });
  return result;
}

GstEvent* with_tensor_group(GstEvent* caps_event, const TensorGroup& group) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(caps_event, &caps);
  GstCaps* told = with_tensor_group(caps, group);
  GstEvent* event = gst_event_new_caps(told);
  gst_event_set_seqnum(event, gst_event_get_seqnum(caps_event));
  gst_caps_unref(told);
  gst_event_unref(caps_event);
  return event;
}

std::string tensor_group_text(const TensorGroup& group) {
  std::string tensors;
  for (const GroupTensor& tensor : group.tensors) {
    tensors +=
        fmt::format("{}{} {}{} {}", tensors.empty() ? "" : ", ", tensor.id, to_string(tensor.type),
                    to_string(tensor.shape), tensor.column_major ? "col-major" : "row-major");
  }
  return fmt::format("group '{}' ({})", group.id, tensors);
}

}  // namespace het::gst
