#include "serving/launch/instance/pipeline_elements.h"

#include <algorithm>

namespace het::serving {
namespace {

GParamSpec* readable_property(GstElement* element, const char* name, GType type) {
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  if (!property || !(property->flags & G_PARAM_READABLE)) return nullptr;
  return g_type_is_a(property->value_type, type) ? property : nullptr;
}

}  // namespace

std::vector<ElementRef> elements_of(GstElement* top) {
  std::vector<ElementRef> found;
  found.emplace_back(GST_ELEMENT(gst_object_ref(top)));
  if (!GST_IS_BIN(top)) return found;
  GstIterator* all = gst_bin_iterate_recurse(GST_BIN(top));
  GValue item = G_VALUE_INIT;
  for (bool goes_on = true; goes_on;) {
    const GstIteratorResult result = gst_iterator_next(all, &item);
    if (result == GST_ITERATOR_OK) {
      found.emplace_back(GST_ELEMENT(g_value_dup_object(&item)));
      g_value_reset(&item);
    } else if (result == GST_ITERATOR_RESYNC) {
      found.resize(1);
      gst_iterator_resync(all);
    } else {
      goes_on = false;
    }
  }
  g_value_unset(&item);
  gst_iterator_free(all);
  return found;
}

std::string factory_name(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

bool has_class(GstElement* element, std::initializer_list<std::string_view> words) {
  const char* text =
      gst_element_class_get_metadata(GST_ELEMENT_GET_CLASS(element), GST_ELEMENT_METADATA_KLASS);
  const std::string_view klass = text ? text : "";
  return std::all_of(words.begin(), words.end(), [&](std::string_view word) {
    return klass.find(word) != std::string_view::npos;
  });
}

bool has_property(GstElement* element, const char* name) {
  return g_object_class_find_property(G_OBJECT_GET_CLASS(element), name) != nullptr;
}

std::string text_property(GstElement* element, const char* name) {
  if (!readable_property(element, name, G_TYPE_STRING)) return "";
  gchar* value = nullptr;
  g_object_get(element, name, &value, nullptr);
  std::string text = value ? value : "";
  g_free(value);
  return text;
}

std::string choice_property(GstElement* element, const char* name) {
  GParamSpec* property = readable_property(element, name, G_TYPE_ENUM);
  if (!property) return "";
  gint value = 0;
  g_object_get(element, name, &value, nullptr);
  const GEnumValue* choice = g_enum_get_value(G_PARAM_SPEC_ENUM(property)->enum_class, value);
  return choice ? choice->value_nick : "";
}

}  // namespace het::serving
