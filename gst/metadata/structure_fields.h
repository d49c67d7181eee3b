#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/tensors/tensor.h"

/// Fields of a GstStructure in the forms that metadata uses. Structures may come from other
/// elements: what has another type or does not fit together reads as absent.
namespace het::gst {

/// Texts come from files and models: what is no UTF-8 is replaced.
void set_text(GstStructure* structure, const char* field, std::string_view text);
/// GST_TYPE_ARRAY of G_TYPE_DOUBLE.
void set_doubles(GstStructure* structure, const char* field, const std::vector<double>& values);
/// GST_TYPE_ARRAY of G_TYPE_STRING.
void set_texts(GstStructure* structure, const char* field, const std::vector<std::string>& texts);
/// GST_TYPE_ARRAY of G_TYPE_UINT.
void set_uints(GstStructure* structure, const char* field, const std::vector<guint>& values);
/// DL Streamer's fields of a tensor: precision and layout (InferenceEngine's numbers), dims and
/// data_buffer, a GVariant of bytes. The tensor is dense host memory, which the structure keeps.
/// False where DL Streamer has no number for the type: then nothing is set.
bool set_tensor(GstStructure* structure, const Tensor& tensor);

template <class T>
std::optional<T> number(const GstStructure* structure, const char* field, GType type) {
  T value{};
  if (!gst_structure_get(structure, field, type, &value, nullptr)) return std::nullopt;
  return value;
}
std::optional<std::string> text(const GstStructure* structure, const char* field);
std::vector<double> read_doubles(const GstStructure* structure, const char* field);
std::vector<std::string> read_texts(const GstStructure* structure, const char* field);
std::vector<guint> read_uints(const GstStructure* structure, const char* field);
/// A view of the bytes; the handle keeps them.
std::optional<Tensor> read_tensor(const GstStructure* structure);

/// DL Streamer's name of a type: FP32, I64, U8 ...; empty where it has none.
std::string_view precision_name(ElementType type);

}  // namespace het::gst
