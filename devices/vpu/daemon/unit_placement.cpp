#include "devices/vpu/daemon/unit_placement.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace het::vpu {
namespace {

/// Executed wherever the same model was loaded like this.
bool is_shared(const Placement& wanted) {
  return !wanted.device_tag.empty() && !wanted.is_bound;
}

}  // namespace

UnitPlacement::UnitPlacement(const Profile& profile)
    : memory_bytes_(profile.memory_bytes), graph_tags_(profile.graph_tags), units_(profile.units) {}

bool UnitPlacement::has_room(uint32_t unit, uint64_t bytes) const {
  const uint64_t used = units_[unit].unit.memory_used;
  return used <= memory_bytes_ && bytes <= memory_bytes_ - used;
}

std::vector<uint32_t> UnitPlacement::least_used() const {
  std::vector<uint32_t> order(units_.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [this](uint32_t i) {
    const State& state = units_[i];
    return std::tuple(state.streams + state.tagged, state.unit.models, state.unit.memory_used);
  });
  return order;
}

Result<uint32_t> UnitPlacement::tagged_unit(const std::string& tag) const {
  for (uint32_t i = 0; i < units_.size(); ++i) {
    if (units_[i].unit.tag == tag) return i;
  }
  for (const uint32_t i : least_used()) {
    if (units_[i].unit.tag.empty()) return i;
  }
  return error(StatusCode::Busy, "no unit is left for the device tag '{}': all {} have others", tag,
               units_.size());
}

Result<std::vector<uint32_t>> UnitPlacement::wanted_units(const Placement& wanted,
                                                          uint64_t bytes) const {
  const int wishes =
      static_cast<int>(!wanted.graph_tag.empty()) + static_cast<int>(!wanted.stream_id.empty()) +
      static_cast<int>(!wanted.device_tag.empty()) + static_cast<int>(wanted.on_all_units);
  if (wishes > 1) {
    return error(StatusCode::InvalidArgument,
                 "a model goes by a graph tag, a stream, a device tag or to all units, not by two "
                 "of them");
  }
  std::vector<uint32_t> order = least_used();
  if (!wanted.device_tag.empty()) {
    HET_ASSIGN(const uint32_t unit, tagged_unit(wanted.device_tag));
    return std::vector{unit};
  }
  if (!wanted.stream_id.empty()) {
    const auto known = streams_.find(wanted.stream_id);
    return std::vector{known != streams_.end() ? known->second.unit : order.front()};
  }
  if (!wanted.graph_tag.empty()) {
    const auto tag = graph_tags_.find(wanted.graph_tag);
    if (tag == graph_tags_.end()) {
      std::string names;
      for (const auto& [name, count] : graph_tags_) names += (names.empty() ? "" : ", ") + name;
      return error(StatusCode::NotFound, "the device's configuration has no graph tag '{}'; it {}",
                   wanted.graph_tag, names.empty() ? "has none" : "has " + names);
    }
    order.resize(std::min<size_t>(tag->second, order.size()));
    return order;
  }
  if (!wanted.on_all_units) {
    // As many as it fits on.
    std::vector<uint32_t> fitting = order;
    std::erase_if(fitting, [&](uint32_t unit) { return !has_room(unit, bytes); });
    return fitting.empty() ? std::vector{order.front()} : fitting;
  }
  return order;
}

Result<PlacedModel> UnitPlacement::place(const Placement& wanted, const ModelFile& file,
                                         uint64_t bytes) {
  std::lock_guard lock(mutex_);
  HET_ASSIGN(std::vector<uint32_t> units, wanted_units(wanted, bytes));
  for (const uint32_t unit : units) {
    if (has_room(unit, bytes)) continue;
    return error(StatusCode::OutOfMemory,
                 "the model's {} bytes do not fit on unit {}: {} of {} are in use", bytes, unit,
                 units_[unit].unit.memory_used, memory_bytes_);
  }
  for (const uint32_t unit : units) {
    State& state = units_[unit];
    state.unit.memory_used += bytes;
    ++state.unit.models;
    if (!wanted.device_tag.empty()) {
      state.unit.tag = wanted.device_tag;
      ++state.tagged;
    }
  }
  if (!wanted.stream_id.empty()) {
    const auto [stream, is_new] = streams_.try_emplace(wanted.stream_id, Stream{units[0], 0});
    ++stream->second.models;
    if (is_new) ++units_[units[0]].streams;
  }
  std::ranges::sort(units);
  PlacedModel model{numbers_++, file, wanted, bytes, std::move(units)};
  models_[model.number] = {model, nullptr};
  update_choices(file);
  return model;
}

void UnitPlacement::remove(const PlacedModel& model) {
  std::lock_guard lock(mutex_);
  if (models_.erase(model.number) == 0) return;
  for (const uint32_t unit : model.units) {
    State& state = units_[unit];
    state.unit.memory_used -= model.bytes;
    --state.unit.models;
    if (!model.wanted.device_tag.empty() && --state.tagged == 0) state.unit.tag.clear();
  }
  const auto stream = streams_.find(model.wanted.stream_id);
  if (stream != streams_.end() && --stream->second.models == 0) {
    --units_[stream->second.unit].streams;
    streams_.erase(stream);
  }
  update_choices(model.file);
}

UnitChoices UnitPlacement::make_choices(const PlacedModel& model) const {
  auto choices = std::make_shared<std::vector<UnitChoice>>();
  if (!is_shared(model.wanted)) {
    for (const uint32_t unit : model.units) choices->push_back({unit, 0});
    return choices;
  }
  for (const auto& [number, other] : models_) {
    if (other.model.file != model.file || !is_shared(other.model.wanted)) continue;
    for (const uint32_t unit : other.model.units) {
      const auto known = std::ranges::find(*choices, unit, &UnitChoice::unit);
      if (known == choices->end()) {
        choices->push_back({unit, other.model.wanted.priority});
      } else {
        known->priority = std::max(known->priority, other.model.wanted.priority);
      }
    }
  }
  return choices;
}

void UnitPlacement::update_choices(const ModelFile& file) {
  for (auto& [number, entry] : models_) {
    if (entry.model.file == file) entry.choices = make_choices(entry.model);
  }
}

UnitChoices UnitPlacement::choices(const PlacedModel& model) const {
  std::lock_guard lock(mutex_);
  return models_.at(model.number).choices;
}

std::vector<UnitPlacement::Unit> UnitPlacement::units() const {
  std::lock_guard lock(mutex_);
  std::vector<Unit> units;
  for (const State& state : units_) units.push_back(state.unit);
  return units;
}

}  // namespace het::vpu
