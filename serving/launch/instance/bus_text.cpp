#include "serving/launch/instance/bus_text.h"

#include <fmt/format.h>

#include <cstdio>

#include "serving/launch/instance/pipeline_elements.h"

namespace het::serving {
namespace {

std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter != '\n' && letter != '\r') {
      line.push_back(letter);
    } else if (!line.empty() && line.back() != ' ') {
      line.push_back(' ');
    }
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace

std::string message_text(GstMessage* message) {
  GError* content = nullptr;
  gchar* debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &content, &debug);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning(message, &content, &debug);
  } else {
    gst_message_parse_info(message, &content, &debug);
  }
  const char* source = GST_MESSAGE_SRC(message) ? GST_OBJECT_NAME(GST_MESSAGE_SRC(message)) : "?";
  std::string text = fmt::format("{}: {}", source, content ? content->message : "");
  if (debug && *debug) text += fmt::format(" ({})", debug);
  g_clear_error(&content);
  g_free(debug);
  return in_one_line(text);
}

void print_line(std::string_view kind, std::string_view label, std::string_view text) {
  std::string line = fmt::format("{}: ", kind);
  if (!label.empty()) line += fmt::format("{}: ", label);
  line += in_one_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

bool is_of_live_resource(GstMessage* message) {
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR) return false;
  GError* failure = nullptr;
  gst_message_parse_error(message, &failure, nullptr);
  const bool is_resource = failure != nullptr && failure->domain == GST_RESOURCE_ERROR;
  g_clear_error(&failure);
  GstObject* const source = GST_MESSAGE_SRC(message);
  if (!is_resource || source == nullptr || !GST_IS_ELEMENT(source)) return false;
  GstElement* const element = GST_ELEMENT_CAST(source);
  return has_class(element, {"Source"}) && !has_class(element, {"File"});
}

}  // namespace het::serving
