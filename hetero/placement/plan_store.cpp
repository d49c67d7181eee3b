#include "hetero/placement/plan_store.h"

#include <charconv>
#include <utility>

#include "hetero/placement/profile_store.h"
#include "inference/base/checksum.h"
#include "inference/devices/cache_folder.h"
#include "inference/passes/print_model.h"

namespace het::hetero {
namespace {

constexpr size_t kMostWays = 16;
constexpr size_t kMostStoredRequests = 1024;

/// "4 requests; 0.75 stages 0x12 1x3; 0.25 merged 1x15": of a way twelve nodes on device 0, three
/// on device 1.
std::string to_text(const StoredPlan& plan) {
  std::string text = fmt::format("{} requests", plan.requests);
  for (const StoredWay& way : plan.ways) {
    text += fmt::format("; {:.6f} {}", way.share, way.in_stages ? "stages" : "merged");
    for (size_t n = 0; n < way.devices.size();) {
      size_t end = n + 1;
      while (end < way.devices.size() && way.devices[end] == way.devices[n]) ++end;
      text += fmt::format(" {}x{}", way.devices[n], end - n);
      n = end;
    }
  }
  return text;
}

/// Reads what to_text() writes; after the first mismatch everything fails.
class StoredPlanReader {
 public:
  explicit StoredPlanReader(std::string_view text) : rest_(text) {}
  bool ended() const { return rest_.empty(); }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  template <class T>
  bool number(T& value) {
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (result.ec != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(result.ptr - rest_.data()));
    return true;
  }

 private:
  std::string_view rest_;
};

bool read_way(StoredPlanReader& reader, size_t nodes, size_t devices, StoredWay& way) {
  if (!reader.number(way.share) || !(way.share > 0 && way.share <= 1)) return false;
  way.in_stages = reader.take(" stages");
  if (!way.in_stages && !reader.take(" merged")) return false;
  while (reader.take(" ")) {
    size_t device = 0;
    size_t count = 0;
    if (!reader.number(device) || !reader.take("x") || !reader.number(count)) return false;
    if (device >= devices || count > nodes - way.devices.size()) return false;
    way.devices.insert(way.devices.end(), count, device);
  }
  return way.devices.size() == nodes;
}

std::optional<StoredPlan> parse(std::string_view text, size_t nodes, size_t devices) {
  StoredPlan plan;
  StoredPlanReader reader(text);
  if (!reader.number(plan.requests) || plan.requests > kMostStoredRequests ||
      !reader.take(" requests")) {
    return std::nullopt;
  }
  while (reader.take("; ")) {
    if (plan.ways.size() == kMostWays ||
        !read_way(reader, nodes, devices, plan.ways.emplace_back())) {
      return std::nullopt;
    }
  }
  if (plan.ways.empty() || !reader.ended()) return std::nullopt;
  return plan;
}

}  // namespace

StoredPlan to_stored(const PlanCandidate& candidate) {
  StoredPlan plan{candidate.requests, {}};
  for (const CandidateWay& way : candidate.ways) {
    plan.ways.push_back({way.placement.devices, way.in_stages, way.share});
  }
  return plan;
}

PlanStore::PlanStore(const Properties& properties, const SupportTable& table)
    : devices_(table.devices().size()) {
  for (const PlacementDevice& device : table.devices()) device_key_ += device_text(device) + ";";
  note_cache_bound(properties);
  const std::string folder = cache_dir(properties);
  if (!folder.empty()) store_.emplace(folder, "HETERO", machine_text(table));
}

std::string PlanStore::key_of(std::string_view policy, const Model& prepared) const {
  return fmt::format("plan {} model {:016x} on {:016x}", policy, checksum(print_model(prepared)),
                     checksum(device_key_));
}

std::optional<StoredPlan> PlanStore::find(std::string_view policy, const Model& prepared) {
  if (!store_) return std::nullopt;
  store_->refresh();
  const auto choice = store_->find(key_of(policy, prepared));
  return choice ? parse(choice->name, prepared.nodes().size(), devices_) : std::nullopt;
}

void PlanStore::keep(std::string_view policy, const Model& prepared, const StoredPlan& plan,
                     std::map<std::string, double> times_us) {
  if (!store_) return;
  store_->add(key_of(policy, prepared), {to_text(plan), std::move(times_us)});
  store_->save();
}

}  // namespace het::hetero
