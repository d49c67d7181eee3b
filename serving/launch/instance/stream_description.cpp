#include "serving/launch/instance/stream_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "inference/devices/properties.h"
#include "serving/launch/instance/decoder_threads.h"
#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/instance/written_files.h"

namespace het::serving {
namespace {

void add_new(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

guint number_property(GstElement* element, const char* name) {
  GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
  if (!property || !G_IS_PARAM_SPEC_UINT(property)) return 0;
  guint value = 0;
  g_object_get(element, name, &value, nullptr);
  return value;
}

/// "HETERO" of "HETERO:GPU,CPU".
std::string device_kind(const std::string& device) {
  return device.substr(0, device.find(':'));
}

/// The names that the library uses, where it understands what is said; what it does not understand
/// is the element's error when it starts.
Properties said_properties(GstElement* element, const std::string& device) {
  const std::string text = text_property(element, "ie-config");
  Properties said = parse_properties(text).value_or(Properties());
  const std::string kind = device_kind(device);
  const guint streams =
      number_property(element, kind == "GPU" ? "gpu-throughput-streams" : "cpu-throughput-streams");
  if (streams > 0 && (kind == "CPU" || kind == "GPU")) {
    said.emplace("NUM_STREAMS", std::to_string(streams));
  }
  return validate_properties(said, device).value_or(said);
}

std::optional<StreamDescription::Inference> described_inference(GstElement* element) {
  for (const char* name : {"device", "model", "ie-config"}) {
    if (!has_property(element, name)) return std::nullopt;
  }
  StreamDescription::Inference inference;
  inference.element = GST_OBJECT_NAME(element);
  inference.device = text_property(element, "device");
  inference.model = text_property(element, "model");
  for (const auto& [name, value] : said_properties(element, inference.device)) {
    const bool is_of_member = name.find('.') != std::string::npos;
    inference.properties.emplace_back(
        is_of_member ? name : fmt::format("{}.{}", device_kind(inference.device), name), value);
  }
  return inference;
}

}  // namespace

StreamDescription describe_stream(const std::string& stream, GstElement* pipeline) {
  StreamDescription description;
  description.stream = stream;
  for (const ElementRef& element : elements_of(pipeline)) {
    if (auto inference = described_inference(element.get())) {
      description.inferences.push_back(std::move(*inference));
    }
    // Elements of GStreamer's va say their render node in device-path.
    for (const char* name : {"device", "device-path"}) {
      const std::string path = text_property(element.get(), name);
      if (path.starts_with("/dev/")) add_new(description.device_files, path);
    }
    for (const std::string& file : written_files(element.get())) {
      add_new(description.written_files, file);
    }
    if (const auto threads = decoder_threads(element.get())) {
      description.decoders.push_back({GST_OBJECT_NAME(element.get()), *threads});
    }
  }
  // Bins list what was added last first.
  std::reverse(description.inferences.begin(), description.inferences.end());
  std::reverse(description.decoders.begin(), description.decoders.end());
  return description;
}

std::string own_settings_text(const StreamDescription::Inference& inference) {
  if (inference.properties.empty()) return "";
  const std::string own = device_kind(inference.device) + ".";
  std::string text = inference.element + " says itself";
  for (const auto& [name, value] : inference.properties) {
    const std::string shown = name.starts_with(own) ? name.substr(own.size()) : name;
    text += fmt::format(" {}={}", shown, value);
  }
  return text;
}

}  // namespace het::serving
