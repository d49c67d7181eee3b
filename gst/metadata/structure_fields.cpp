#include "structure_fields.h"

#include <algorithm>
#include <array>

namespace het::gst {
namespace {

struct Precision {
  ElementType type;
  int number;  ///< InferenceEngine::Precision, which DL Streamer's metadata uses
  std::string_view name;
};
constexpr std::array<Precision, 13> kPrecisions{{{ElementType::Float32, 10, "FP32"},
                                                 {ElementType::Float16, 11, "FP16"},
                                                 {ElementType::BFloat16, 12, "BF16"},
                                                 {ElementType::Float64, 13, "FP64"},
                                                 {ElementType::Int16, 30, "I16"},
                                                 {ElementType::UInt8, 40, "U8"},
                                                 {ElementType::Bool, 41, "BOOL"},
                                                 {ElementType::Int8, 50, "I8"},
                                                 {ElementType::UInt16, 60, "U16"},
                                                 {ElementType::Int32, 70, "I32"},
                                                 {ElementType::Int64, 72, "I64"},
                                                 {ElementType::UInt64, 73, "U64"},
                                                 {ElementType::UInt32, 74, "U32"}}};

const Precision* precision_of(ElementType type) {
  const auto found = std::find_if(kPrecisions.begin(), kPrecisions.end(),
                                  [&](const Precision& p) { return p.type == type; });
  return found == kPrecisions.end() ? nullptr : &*found;
}

gchar* valid_utf8(std::string_view text) {
  return g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
}

/// An array field whose values `fill(value, i)` sets.
template <class Fill>
void set_array(GstStructure* structure, const char* field, GType type, size_t count, Fill fill) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (size_t i = 0; i < count; ++i) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, type);
    fill(&item, i);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, field, &array);
}

/// Calls `take(value)` for each value of an array field.
template <class Take>
void read_array(const GstStructure* structure, const char* field, Take take) {
  const GValue* array = gst_structure_get_value(structure, field);
  if (!array || !GST_VALUE_HOLDS_ARRAY(array)) return;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i)
    take(gst_value_array_get_value(array, i));
}

}  // namespace

void set_text(GstStructure* structure, const char* field, std::string_view text) {
  gchar* valid = valid_utf8(text);
  gst_structure_set(structure, field, G_TYPE_STRING, valid, nullptr);
  g_free(valid);
}

void set_doubles(GstStructure* structure, const char* field, const std::vector<double>& values) {
  set_array(structure, field, G_TYPE_DOUBLE, values.size(),
            [&](GValue* item, size_t i) { g_value_set_double(item, values[i]); });
}

void set_texts(GstStructure* structure, const char* field, const std::vector<std::string>& texts) {
  set_array(structure, field, G_TYPE_STRING, texts.size(),
            [&](GValue* item, size_t i) { g_value_take_string(item, valid_utf8(texts[i])); });
}

void set_uints(GstStructure* structure, const char* field, const std::vector<guint>& values) {
  set_array(structure, field, G_TYPE_UINT, values.size(),
            [&](GValue* item, size_t i) { g_value_set_uint(item, values[i]); });
}

bool set_tensor(GstStructure* structure, const Tensor& tensor) {
  const Precision* precision = precision_of(tensor.type());
  if (!precision || tensor.bytes() == nullptr) return false;
  const auto* keep = new Tensor(tensor);
  GBytes* bytes = g_bytes_new_with_free_func(
      tensor.bytes(), tensor.size_bytes(), [](gpointer kept) { delete static_cast<Tensor*>(kept); },
      const_cast<Tensor*>(keep));
  GVariant* data = g_variant_new_from_bytes(G_VARIANT_TYPE_BYTESTRING, bytes, TRUE);
  g_bytes_unref(bytes);
  std::vector<guint> dims;
  for (int64_t dim : tensor.shape()) dims.push_back(static_cast<guint>(dim));
  // InferenceEngine's layouts: NC 193, any 0.
  gst_structure_set(structure, "precision", G_TYPE_INT, precision->number, "layout", G_TYPE_INT,
                    dims.size() == 2 ? 193 : 0, "data_buffer", G_TYPE_VARIANT, data, nullptr);
  set_uints(structure, "dims", dims);
  return true;
}

std::optional<std::string> text(const GstStructure* structure, const char* field) {
  const char* value = gst_structure_get_string(structure, field);
  if (!value) return std::nullopt;
  return std::string(value);
}

std::vector<double> read_doubles(const GstStructure* structure, const char* field) {
  std::vector<double> values;
  read_array(structure, field, [&](const GValue* item) {
    values.push_back(G_VALUE_HOLDS_DOUBLE(item) ? g_value_get_double(item) : 0.0);
  });
  return values;
}

std::vector<std::string> read_texts(const GstStructure* structure, const char* field) {
  std::vector<std::string> texts;
  read_array(structure, field, [&](const GValue* item) {
    const char* value = G_VALUE_HOLDS_STRING(item) ? g_value_get_string(item) : nullptr;
    texts.emplace_back(value ? value : "");
  });
  return texts;
}

std::vector<guint> read_uints(const GstStructure* structure, const char* field) {
  std::vector<guint> values;
  read_array(structure, field, [&](const GValue* item) {
    values.push_back(G_VALUE_HOLDS_UINT(item) ? g_value_get_uint(item) : 0u);
  });
  return values;
}

std::optional<Tensor> read_tensor(const GstStructure* structure) {
  const std::optional<int> wanted = number<int>(structure, "precision", G_TYPE_INT);
  const auto precision =
      std::find_if(kPrecisions.begin(), kPrecisions.end(),
                   [&](const Precision& p) { return wanted && p.number == *wanted; });
  const GValue* value = gst_structure_get_value(structure, "data_buffer");
  GVariant* variant = value && G_VALUE_HOLDS_VARIANT(value) ? g_value_get_variant(value) : nullptr;
  if (precision == kPrecisions.end() || !variant ||
      !g_variant_is_of_type(variant, G_VARIANT_TYPE_BYTESTRING))
    return std::nullopt;
  TensorDesc desc{precision->type, {}, Layout::Plain};
  for (guint dim : read_uints(structure, "dims")) desc.shape.push_back(dim);
  const Result<size_t> size_bytes = dense_size_bytes(desc);
  if (!size_bytes || *size_bytes != g_variant_get_size(variant) || *size_bytes == 0)
    return std::nullopt;
  g_variant_ref(variant);
  auto tensor = Tensor::wrap(desc, const_cast<void*>(g_variant_get_data(variant)), *size_bytes,
                             [variant] { g_variant_unref(variant); });
  if (!tensor) {
    g_variant_unref(variant);
    return std::nullopt;
  }
  return *tensor;
}

std::string_view precision_name(ElementType type) {
  const Precision* precision = precision_of(type);
  return precision ? precision->name : std::string_view();
}

}  // namespace het::gst
