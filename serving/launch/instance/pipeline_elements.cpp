#include "serving/launch/instance/pipeline_elements.h"

#include <algorithm>

namespace het::serving {
namespace {

GParamSpec* readable_property(GstElement* element, const char* name, GType type) {
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  if (!property || !(property->flags & G_PARAM_READABLE)) return nullptr;
  return g_type_is_a(property->value_type, type) ? property : nullptr;
}

std::vector<ElementRef> take_all(GstIterator* elements) {
  std::vector<ElementRef> found;
  GValue item = G_VALUE_INIT;
  for (bool goes_on = true; goes_on;) {
    switch (gst_iterator_next(elements, &item)) {
      case GST_ITERATOR_OK:
        found.emplace_back(GST_ELEMENT(g_value_dup_object(&item)));
        g_value_reset(&item);
        break;
      case GST_ITERATOR_RESYNC:
        found.clear();
        gst_iterator_resync(elements);
        break;
      default:
        goes_on = false;
    }
  }
  g_value_unset(&item);
  gst_iterator_free(elements);
  return found;
}

}  // namespace

std::vector<ElementRef> elements_of(GstElement* top) {
  std::vector<ElementRef> found;
  if (GST_IS_BIN(top)) found = take_all(gst_bin_iterate_recurse(GST_BIN(top)));
  found.emplace(found.begin(), GST_ELEMENT(gst_object_ref(top)));
  return found;
}

std::vector<ElementRef> sources_of(GstElement* pipeline) {
  return take_all(gst_bin_iterate_sources(GST_BIN(pipeline)));
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

void unpace(GstElement* element) {
  if (!GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK)) return;
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), "sync");
  if (property && G_IS_PARAM_SPEC_BOOLEAN(property)) g_object_set(element, "sync", FALSE, nullptr);
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
