#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace het::serving {

struct ObjectUnref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using ElementRef = std::unique_ptr<GstElement, ObjectUnref>;

/// The element itself and, of a bin, those in it at any depth.
std::vector<ElementRef> elements_of(GstElement* top);
/// Elements and bins right in a pipeline that are sources.
std::vector<ElementRef> sources_of(GstElement* pipeline);

/// "avdec_h264"; empty for an element that no factory has made.
std::string factory_name(GstElement* element);
/// True where the class of its factory ("Codec/Decoder/Video") has all these words.
bool has_class(GstElement* element, std::initializer_list<std::string_view> words);

bool has_property(GstElement* element, const char* name);
/// The value of a property of type text; empty where there is none or it is not set.
std::string text_property(GstElement* element, const char* name);
/// A sink, or a bin of them, shows what it gets at once and drops nothing for being late.
void unpace(GstElement* element);
/// The nick of an enumeration's value; empty where the element has no such property.
std::string choice_property(GstElement* element, const char* name);

}  // namespace het::serving
