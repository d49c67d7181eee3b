#include "serving/launch/plan/stream_needs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "inference/devices/properties.h"
#include "serving/launch/plan/device_nodes.h"

namespace het::serving {
namespace {

constexpr std::string_view kThreads = "INFERENCE_NUM_THREADS";
constexpr std::array<std::string_view, 6> kSchemes = {"rtsp://", "rtsps://", "rtspt://",
                                                      "http://", "https://", "udp://"};

void add_nodes(StreamNeeds& needs, const DeviceNodes& nodes, std::string_view what) {
  for (const size_t node : nodes) {
    if (std::ranges::find(needs.near_nodes, node) != needs.near_nodes.end()) continue;
    needs.near_nodes.push_back(node);
    if (needs.near_what.find(what) != std::string::npos) continue;
    needs.near_what += (needs.near_what.empty() ? "" : ", ") + std::string(what);
  }
}

/// Addresses of cameras in what the user has written.
void add_addresses(StreamNeeds& needs, std::string_view text) {
  for (const std::string_view scheme : kSchemes) {
    const size_t begin = text.find(scheme);
    if (begin == std::string_view::npos) continue;
    std::string_view address = text.substr(begin);
    address = address.substr(0, address.find_first_of(" \"'\n"));
    add_nodes(needs, address_nodes(address), address);
  }
}

/// Of INFERENCE_NUM_THREADS under any of its names, "CPU.CPU_THREADS_NUM" too; else 0.
size_t inference_threads_in(std::string_view property, std::string_view value) {
  const auto def = find_property(property.substr(property.rfind('.') + 1), "CPU");
  if (!def || (*def)->name != kThreads) return 0;
  size_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace

std::vector<StreamNeeds> stream_needs(const LaunchSettings& settings,
                                      const std::vector<StreamDescription>& descriptions) {
  std::vector<StreamNeeds> all;
  for (size_t i = 0; i < settings.streams.size(); ++i) {
    const StreamSettings& stream = settings.streams[i];
    const StreamDescription& description = descriptions[i];
    StreamNeeds needs;
    needs.name = stream.name;
    needs.cost = stream.cost;
    needs.node = stream.node;
    for (const std::string& file : description.device_files) {
      add_nodes(needs, device_file_nodes(file), file);
    }
    for (const std::string& text : stream.pipeline) add_addresses(needs, text);
    for (const auto& [name, value] : stream.variables) add_addresses(needs, value);
    for (const StreamDescription::Inference& inference : description.inferences) {
      add_nodes(needs, gpu_nodes(inference.device), inference.device);
      for (const auto& [name, value] : inference.properties) {
        needs.inference_threads =
            std::max(needs.inference_threads, inference_threads_in(name, value));
      }
    }
    for (const auto& [device, properties] : settings.properties) {
      for (const auto& [name, value] : properties) {
        needs.inference_threads =
            std::max(needs.inference_threads, inference_threads_in(name, value));
      }
    }
    needs.decoder_threads = stream.decoder_threads.value_or(0);
    for (const StreamDescription::Decoder& decoder : description.decoders) {
      needs.decoder_threads = std::max(needs.decoder_threads, decoder.threads);
    }
    all.push_back(std::move(needs));
  }
  return all;
}

}  // namespace het::serving
