#include "analytics_tensors.h"

#include <optional>
#include <string>
#include <string_view>

#include "analytics_library.h"
#include "analytics_region.h"
#include "inference/decoders/exchange/tensor_ids.h"

namespace het::gst {
namespace {

/// What decoders of this version know a tensor by: before 1.28 there was one of SSD models.
std::string_view id_of_version(std::string_view id) {
  return GST_CHECK_VERSION(1, 28, 0) ? id : older_tensor_id(id);
}

/// The values' own memory, kept by the buffer.
GstBuffer* wrapped(const Tensor& values) {
  auto* kept = new Tensor(values);
  return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, kept->bytes(), kept->size_bytes(), 0,
                                     kept->size_bytes(), kept,
                                     [](gpointer tensor) { delete static_cast<Tensor*>(tensor); });
}

std::optional<GstTensorDataType> tensor_data_type(ElementType type) {
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
#if GST_CHECK_VERSION(1, 28, 0)
    case ElementType::Bool:
      return GST_TENSOR_DATA_TYPE_BOOL;
    case ElementType::Float8E4M3FN:
      return GST_TENSOR_DATA_TYPE_FLOAT8E4M3FN;
    case ElementType::Float8E4M3FNUZ:
      return GST_TENSOR_DATA_TYPE_FLOAT8E4M3FNUZ;
    case ElementType::Float8E5M2:
      return GST_TENSOR_DATA_TYPE_FLOAT8E5M2;
    case ElementType::Float8E5M2FNUZ:
      return GST_TENSOR_DATA_TYPE_FLOAT8E5M2FNUZ;
#endif
    default:
      return std::nullopt;
  }
}

/// What GstTensor and its like need of a tensor; the buffer is the caller's.
struct TensorParts {
  GQuark id = 0;
  GstTensorDataType type = GST_TENSOR_DATA_TYPE_FLOAT32;
  GstTensorDimOrder order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  GstBuffer* data = nullptr;
  std::vector<gsize> dims;
};

/// None where this version of GStreamer has no name for the type, and of tensors without dense
/// values in host memory.
std::optional<TensorParts> tensor_parts(const ExchangedTensor& tensor) {
  const Tensor& values = tensor.values;
  const std::optional<GstTensorDataType> type = tensor_data_type(values.type());
  if (!type || values.bytes() == nullptr || !values.is_dense()) return std::nullopt;
  TensorParts parts;
  parts.id = g_quark_from_string(std::string(id_of_version(tensor.id)).c_str());
  parts.type = *type;
  parts.order =
      tensor.column_major ? GST_TENSOR_DIM_ORDER_COL_MAJOR : GST_TENSOR_DIM_ORDER_ROW_MAJOR;
  parts.data = wrapped(values);
  parts.dims.assign(values.shape().begin(), values.shape().end());
  return parts;
}

}  // namespace

void attach_tensor_meta(GstBuffer* buffer, const std::vector<ExchangedTensor>& tensors) {
  if (!has_analytics()) return;
  // gst_tensor_meta_set() takes an array of GLib's allocator over.
  GPtrArray* made = g_ptr_array_new();
  for (const ExchangedTensor& tensor : tensors) {
    std::optional<TensorParts> parts = tensor_parts(tensor);
    if (!parts) continue;
    GstTensor* one = analytics().gst_tensor_new_simple(
        parts->id, parts->type, parts->data, parts->order, parts->dims.size(), parts->dims.data());
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

#if GST_CHECK_VERSION(1, 28, 0)

void add_tensor_mtds(GstAnalyticsRelationMeta* relations, guint object,
                     const std::vector<ExchangedTensor>& tensors) {
  for (const ExchangedTensor& tensor : tensors) {
    std::optional<TensorParts> parts = tensor_parts(tensor);
    GstAnalyticsTensorMtd mtd;
    if (!parts || !analytics().gst_analytics_relation_meta_add_tensor_mtd_simple(
                      relations, parts->id, parts->type, parts->data, parts->order,
                      parts->dims.size(), parts->dims.data(), &mtd))
      continue;
    analytics().gst_analytics_relation_meta_set_relation(
        relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, mtd.id);
  }
}

#else

void add_tensor_mtds(GstAnalyticsRelationMeta*, guint, const std::vector<ExchangedTensor>&) {}

#endif

}  // namespace het::gst
