#include "analytics_tensors.h"

#include <optional>

#include "analytics_library.h"
#include "analytics_region.h"

namespace het::gst {
namespace {

std::optional<GstTensorDataType> data_type(ElementType type) {
  switch (type) {
    case ElementType::Int8:
      return GST_TENSOR_DATA_TYPE_INT8;
    case ElementType::Int16:
      return GST_TENSOR_DATA_TYPE_INT16;
    case ElementType::Int32:
      return GST_TENSOR_DATA_TYPE_INT32;
    case ElementType::Int64:
      return GST_TENSOR_DATA_TYPE_INT64;
    case ElementType::UInt8:
      return GST_TENSOR_DATA_TYPE_UINT8;
    case ElementType::UInt16:
      return GST_TENSOR_DATA_TYPE_UINT16;
    case ElementType::UInt32:
      return GST_TENSOR_DATA_TYPE_UINT32;
    case ElementType::UInt64:
      return GST_TENSOR_DATA_TYPE_UINT64;
    case ElementType::Float16:
      return GST_TENSOR_DATA_TYPE_FLOAT16;
    case ElementType::BFloat16:
      return GST_TENSOR_DATA_TYPE_BFLOAT16;
    case ElementType::Float32:
      return GST_TENSOR_DATA_TYPE_FLOAT32;
    case ElementType::Float64:
      return GST_TENSOR_DATA_TYPE_FLOAT64;
    default:
      return std::nullopt;
  }
}

/// The values' own memory, kept by the buffer.
GstBuffer* wrap(const Tensor& values) {
  auto* kept = new Tensor(values);
  return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, kept->bytes(), kept->size_bytes(), 0,
                                     kept->size_bytes(), kept,
                                     [](gpointer tensor) { delete static_cast<Tensor*>(tensor); });
}

}  // namespace

void attach_tensor_meta(GstBuffer* buffer, const std::vector<TensorResult>& tensors,
                        const std::function<std::string(const std::string& output)>& id_of) {
  if (!has_analytics()) return;
  // gst_tensor_meta_set() takes an array of GLib's allocator over.
  GPtrArray* made = g_ptr_array_new();
  for (const TensorResult& tensor : tensors) {
    const std::optional<GstTensorDataType> type = data_type(tensor.values.type());
    if (!type || tensor.values.bytes() == nullptr || !tensor.values.is_dense()) continue;
    std::vector<gsize> dims(tensor.values.shape().begin(), tensor.values.shape().end());
    GstTensor* one = analytics().gst_tensor_new_simple(
        g_quark_from_string(id_of(tensor.layer).c_str()), *type, wrap(tensor.values),
        GST_TENSOR_DIM_ORDER_ROW_MAJOR, dims.size(), dims.data());
    if (one != nullptr) g_ptr_array_add(made, one);
  }
  if (made->len == 0) {
    g_ptr_array_free(made, TRUE);
    return;
  }
  const guint count = made->len;
  analytics().gst_tensor_meta_set(analytics().gst_buffer_add_tensor_meta(buffer), count,
                                  reinterpret_cast<GstTensor**>(g_ptr_array_free(made, FALSE)));
}

}  // namespace het::gst
