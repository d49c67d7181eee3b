#include "serving/density/trial/trial_pipelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serving/launch/instance/parsed_pipeline.h"

namespace het::density {
namespace {

using serving::ElementRef;
using serving::elements_of;
using serving::has_property;
using serving::text_property;

bool is_inference(GstElement* element) {
  return std::ranges::all_of(std::to_array<const char*>({"device", "model", "ie-config"}),
                             [&](const char* name) { return has_property(element, name); });
}

bool has_flag(GstElement* element, GstElementFlags flag) {
  return GST_OBJECT_FLAG_IS_SET(element, flag);
}

std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

Status check_ends(GstElement* pipeline, const std::string& sink) {
  std::vector<std::string> sinks;
  bool has_source = false;
  bool is_sink_there = sink.empty();
  for (const ElementRef& element : elements_of(pipeline)) {
    if (element.get() == pipeline) continue;
    if (has_flag(element.get(), GST_ELEMENT_FLAG_SOURCE)) has_source = true;
    if (!has_flag(element.get(), GST_ELEMENT_FLAG_SINK)) continue;
    sinks.emplace_back(GST_OBJECT_NAME(element.get()));
    if (sinks.back() == sink) is_sink_there = true;
  }
  if (sinks.empty()) {
    return error(StatusCode::InvalidArgument,
                 "the pipeline has no sink, at which frames would arrive; end it with fakesink");
  }
  if (!has_source) {
    return error(StatusCode::InvalidArgument,
                 "the pipeline has no source; begin it with filesrc location=VIDEO ! decodebin, or "
                 "with videotestsrc");
  }
  if (!is_sink_there) {
    return error(StatusCode::InvalidArgument,
                 "--sink {}: the pipeline has no sink of this name; it has {}", sink,
                 names_text(sinks));
  }
  return {};
}

/// Names of the elements that were changed.
std::vector<std::string> set_device(GstElement* pipeline, const std::string& device) {
  std::vector<std::string> names;
  for (const ElementRef& element : elements_of(pipeline)) {
    if (!is_inference(element.get())) continue;
    names.emplace_back(GST_OBJECT_NAME(element.get()));
    g_object_set(element.get(), "device", device.c_str(), nullptr);
  }
  return names;
}

void note_models_apart(GstElement* pipeline, std::vector<std::string>& notes) {
  for (const ElementRef& element : elements_of(pipeline)) {
    if (!is_inference(element.get())) continue;
    if (!has_property(element.get(), "model-instance-id") ||
        !text_property(element.get(), "model-instance-id").empty()) {
      continue;
    }
    notes.push_back(fmt::format(
        "{}: every stream compiles its model for itself; with model-instance-id=NAME they share it",
        GST_OBJECT_NAME(element.get())));
  }
}

}  // namespace

Result<std::vector<ElementRef>> make_trial_pipelines(const TrialOrder& order,
                                                     std::vector<std::string>& notes) {
  std::vector<ElementRef> pipelines;
  for (size_t i = 0; i < order.streams; ++i) {
    serving::StreamJob stream;
    stream.name = fmt::format("{}", i);
    stream.arguments = order.pipeline;
    HET_ASSIGN(ElementRef pipeline, serving::parse_pipeline(stream));
    if (i == 0) {
      HET_TRY(check_ends(pipeline.get(), order.sink));
      if (order.streams > 1) note_models_apart(pipeline.get(), notes);
    }
    if (!order.device.empty() && set_device(pipeline.get(), order.device).empty()) {
      return error(StatusCode::InvalidArgument,
                   "--device {}: the pipeline has no element that runs a model on a device",
                   order.device);
    }
    pipelines.push_back(std::move(pipeline));
  }
  return pipelines;
}

}  // namespace het::density
