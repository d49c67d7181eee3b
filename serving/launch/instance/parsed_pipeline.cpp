#include "serving/launch/instance/parsed_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/edit_distance.h"

namespace het::serving {
namespace {

std::string near_names(std::vector<std::string_view> names, std::string_view wanted) {
  std::string text;
  for (const std::string_view name : nearest_names(std::move(names), wanted)) {
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  }
  return text;
}

std::string near_elements(const std::string& missing) {
  GList* factories = gst_registry_get_feature_list(gst_registry_get(), GST_TYPE_ELEMENT_FACTORY);
  std::vector<std::string_view> names;
  for (GList* item = factories; item; item = item->next) {
    names.emplace_back(GST_OBJECT_NAME(item->data));
  }
  std::string text = near_names(std::move(names), missing);
  gst_plugin_feature_list_free(factories);
  return text;
}

/// What stands between the first two quotation marks of a text, which is cut behind them.
std::string take_quoted(std::string& text) {
  const size_t begin = std::min(text.find('"'), text.size());
  const size_t end = std::min(text.find('"', begin + 1), text.size());
  if (end <= begin) return "";
  std::string quoted = text.substr(begin + 1, end - begin - 1);
  text.erase(0, end + 1);
  return quoted;
}

/// GStreamer says: no property "A" in element "B", which is the name of the factory.
std::string near_properties(std::string message) {
  const std::string wanted = take_quoted(message);
  const std::string factory = take_quoted(message);
  GstElement* made = factory.empty() ? nullptr : gst_element_factory_make(factory.c_str(), nullptr);
  if (!made) return "";
  const ElementRef element(GST_ELEMENT(gst_object_ref_sink(made)));
  guint count = 0;
  GParamSpec** properties = g_object_class_list_properties(G_OBJECT_GET_CLASS(made), &count);
  std::vector<std::string_view> names;
  for (guint i = 0; i < count; ++i) names.emplace_back(properties[i]->name);
  std::string text = "; names near it: " + near_names(std::move(names), wanted);
  g_free(properties);
  return text;
}

std::string missing_elements(GstParseContext* context) {
  gchar** missing = gst_parse_context_get_missing_elements(context);
  std::string text;
  for (gchar** name = missing; name && *name; ++name) {
    text += fmt::format("; is the plugin of '{}' installed? Names near it: {}", *name,
                        near_elements(*name));
  }
  g_strfreev(missing);
  return text;
}

/// As gst-launch-1.0: arguments of a command line are words already; a text has its own quotes.
GstElement* parse_arguments(const StreamJob& stream, GstParseContext* context, GError** failure) {
  if (stream.arguments.size() == 1) {
    return gst_parse_launch_full(stream.arguments.front().c_str(), context, GST_PARSE_FLAG_NONE,
                                 failure);
  }
  std::vector<const gchar*> words;
  for (const std::string& argument : stream.arguments) words.push_back(argument.c_str());
  words.push_back(nullptr);
  return gst_parse_launchv_full(words.data(), context, GST_PARSE_FLAG_NONE, failure);
}

ElementRef in_pipeline(ElementRef top) {
  if (GST_IS_PIPELINE(top.get())) return top;
  ElementRef pipeline(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  gst_bin_add(GST_BIN(pipeline.get()), top.get());
  return pipeline;
}

/// The stream's name, so that metrics and messages know a pipeline that is made again. One that a
/// user has given stays.
void name_pipeline(GstElement* pipeline, const std::string& name) {
  gchar* const own = gst_object_get_name(GST_OBJECT(pipeline));
  if (!name.empty() && g_str_has_prefix(own, "pipeline")) {
    gst_object_set_name(GST_OBJECT(pipeline), name.c_str());
  }
  g_free(own);
}

}  // namespace

Result<ElementRef> parse_pipeline(const StreamJob& stream) {
  if (stream.arguments.empty()) {
    return error(StatusCode::InvalidArgument,
                 "stream '{}' has no pipeline; give it one in gst-launch-1.0's syntax",
                 stream.name);
  }
  GstParseContext* context = gst_parse_context_new();
  GError* failure = nullptr;
  GstElement* made = parse_arguments(stream, context, &failure);
  ElementRef top(made ? GST_ELEMENT(gst_object_ref_sink(made)) : nullptr);
  std::string advice;
  if (g_error_matches(failure, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)) {
    advice = missing_elements(context);
  } else if (g_error_matches(failure, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY)) {
    advice = near_properties(failure->message);
  }
  gst_parse_context_free(context);
  if (failure || !top) {
    const std::string reason = failure ? failure->message : "GStreamer does not say why";
    g_clear_error(&failure);
    return error(StatusCode::InvalidArgument, "cannot make the pipeline of stream '{}': {}{}",
                 stream.name, reason, advice);
  }
  ElementRef pipeline = in_pipeline(std::move(top));
  name_pipeline(pipeline.get(), stream.name);
  return pipeline;
}

}  // namespace het::serving
