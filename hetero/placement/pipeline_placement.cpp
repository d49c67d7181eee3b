#include "hetero/placement/pipeline_placement.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <unordered_set>
#include <vector>

#include "inference/base/log.h"

namespace het::hetero {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();
/// Activations and what else a device keeps, as a share of the weights.
constexpr double kClearMargin = 1.2;

/// A device on its way through the model.
struct Room {
  std::string name;
  uint64_t memory = kUnlimited;
  uint64_t weights = 0;  ///< of the nodes that it takes
  std::unordered_set<const Value*> constants;
  std::string full;  ///< why it takes no more nodes; empty: it does
};

uint64_t memory_of(const Device& device) {
  for (const char* name : {"GPU_DEVICE_TOTAL_MEM_SIZE", "DEVICE_TOTAL_MEM_SIZE"}) {
    const auto text = device.get_property(name);
    uint64_t bytes = 0;
    if (!text) continue;
    const auto [end, code] = std::from_chars(text->data(), text->data() + text->size(), bytes);
    if (code == std::errc() && bytes > 0) return bytes;
  }
  return kUnlimited;
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
}

std::string weights_text(const Room& room) {
  if (room.memory == kUnlimited) return fmt::format("weights: {} MB", megabytes(room.weights));
  return fmt::format("weights: {} of {} MB", megabytes(room.weights), megabytes(room.memory));
}

bool fits(const Room& room, uint64_t weights) {
  return room.memory == kUnlimited ||
         static_cast<double>(weights) * kClearMargin <= static_cast<double>(room.memory);
}

/// Constants that a node reads and that the device does not have.
std::vector<const Value*> new_constants(const Node& node, const Room& room) {
  std::vector<const Value*> constants;
  for (const Value* input : node.inputs()) {
    if (input == nullptr || !input->is_constant() || room.constants.contains(input)) continue;
    if (std::ranges::find(constants, input) == constants.end()) constants.push_back(input);
  }
  return constants;
}

/// In the bodies of a control-flow node.
uint64_t bytes_in_bodies(const Node& node) {
  uint64_t bytes = 0;
  for (const auto& [name, attribute] : node.attributes()) {
    const auto* const body = std::get_if<std::shared_ptr<Model>>(&attribute);
    if (body == nullptr || *body == nullptr) continue;
    for (const auto& value : (*body)->values()) {
      if (value->is_constant()) bytes += value->constant().size_bytes();
    }
    for (const auto& inner : (*body)->nodes()) bytes += bytes_in_bodies(*inner);
  }
  return bytes;
}

uint64_t bytes_of(const std::vector<const Value*>& constants) {
  uint64_t bytes = 0;
  for (const Value* constant : constants) bytes += constant->constant().size_bytes();
  return bytes;
}

/// The device that takes the node, or npos; devices without room for it are full from here on.
size_t take(const Node& node, size_t n, const SupportTable& table, std::vector<Room>& rooms) {
  size_t last = rooms.size();
  for (size_t d = 0; d < rooms.size(); ++d) {
    if (table.supports(n, d)) last = d;
  }
  for (size_t d = 0; d <= last && last < rooms.size(); ++d) {
    Room& room = rooms[d];
    if (!table.supports(n, d) || (d < last && !room.full.empty())) continue;
    const std::vector<const Value*> constants = new_constants(node, room);
    const uint64_t more = bytes_of(constants) + bytes_in_bodies(node);
    if (d < last && !fits(room, room.weights + more)) {
      room.full = fmt::format("{}, no room for {} MB more and a fifth", weights_text(room),
                              megabytes(more));
      continue;
    }
    room.weights += more;
    room.constants.insert(constants.begin(), constants.end());
    return d;
  }
  return std::string::npos;
}

}  // namespace

Result<bool> is_pipeline_parallel(const Properties& properties) {
  const std::string policy = property_text(properties, "MODEL_DISTRIBUTION_POLICY");
  if (policy.empty()) return false;
  if (policy == "TENSOR_PARALLEL") {
    return error(StatusCode::NotSupported,
                 "MODEL_DISTRIBUTION_POLICY={} would divide single operators among devices, which "
                 "HETERO does not do; PIPELINE_PARALLEL divides the model between its operators",
                 policy);
  }
  const std::string other = property_text(properties, "HETERO_POLICY");
  if (other != "priority") {
    return error(StatusCode::InvalidArgument,
                 "MODEL_DISTRIBUTION_POLICY={} places nodes by the devices' memory, "
                 "HETERO_POLICY={} by their speed: give one of them",
                 policy, other);
  }
  return true;
}

void limit_to_memory(const Model& model, SupportTable& table) {
  std::vector<Room> rooms;
  for (const PlacementDevice& device : table.devices()) {
    Room& room = rooms.emplace_back();
    room.name = device.member->name;
    room.memory = memory_of(*device.member->device);
  }
  // What the user wishes has its room first.
  std::vector<size_t> taken(model.nodes().size());
  for (const bool is_wished : {true, false}) {
    for (size_t n = 0; n < taken.size(); ++n) {
      if (table.wish(n).device.empty() == is_wished) continue;
      taken[n] = take(*model.nodes()[n], n, table, rooms);
      for (size_t d = 0; d < rooms.size() && taken[n] != std::string::npos && d < taken[n]; ++d) {
        if (table.supports(n, d)) table.refuse(n, d, rooms[d].full);
      }
    }
  }
  for (size_t n = 0; n < taken.size(); ++n) {
    if (taken[n] != std::string::npos) table.add_remark(n, taken[n], weights_text(rooms[taken[n]]));
  }
  std::string text;
  for (const Room& room : rooms) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "by memory: " : ", ", room.name, weights_text(room));
    if (fits(room, room.weights)) continue;
    log(LogLevel::Warning,
        "model '{}' needs {} MB of weights on {}, which has {} MB; a fifth more should be free",
        model.name(), megabytes(room.weights), room.name, megabytes(room.memory));
  }
  table.set_note(std::move(text));
}

}  // namespace het::hetero
