#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "devices/vpu/daemon/profile.h"
#include "devices/vpu/daemon/units.h"
#include "devices/vpu/link_messages.h"
#include "inference/base/status.h"

namespace het::vpu {

/// Which file a model came from: the same one may be on several units.
struct ModelFile {
  uint64_t size = 0;
  uint32_t crc = 0;
  bool operator==(const ModelFile&) const = default;
};

/// A model that has its place.
struct PlacedModel {
  uint64_t number = 0;
  ModelFile file;
  Placement wanted;
  uint64_t bytes = 0;
  std::vector<uint32_t> units;  ///< that have it
};

/// Where models are and what memory they take there, as hosts ask for it with tags and streams.
/// Thread-safe.
class UnitPlacement {
 public:
  explicit UnitPlacement(const Profile& profile);

  /// Fails with OutOfMemory where it does not fit, NotFound for a graph tag that the configuration
  /// does not have, Busy when no unit is left for a new device tag, InvalidArgument for wishes that
  /// contradict each other.
  Result<PlacedModel> place(const Placement& wanted, const ModelFile& file, uint64_t bytes);
  void remove(const PlacedModel& model);
  /// The units that may execute it now.
  UnitChoices choices(const PlacedModel& model) const;

  struct Unit {
    std::string tag;
    uint64_t memory_used = 0;
    uint32_t models = 0;
  };
  std::vector<Unit> units() const;

 private:
  struct State {
    Unit unit;
    uint32_t tagged = 0;   ///< models that were loaded by its tag
    uint32_t streams = 0;  ///< streams that are bound to it
  };
  struct Stream {
    uint32_t unit = 0;
    uint32_t models = 0;
  };
  Result<std::vector<uint32_t>> wanted_units(const Placement& wanted, uint64_t bytes) const;
  Result<uint32_t> tagged_unit(const std::string& tag) const;
  /// Those with the least models, memory and streams, first.
  std::vector<uint32_t> least_used() const;
  bool has_room(uint32_t unit, uint64_t bytes) const;
  UnitChoices make_choices(const PlacedModel& model) const;
  void update_choices(const ModelFile& file);

  const uint64_t memory_bytes_;  ///< of a unit
  const std::map<std::string, uint32_t> graph_tags_;
  mutable std::mutex mutex_;  ///< protects what follows; taken alone
  std::vector<State> units_;
  std::map<std::string, Stream> streams_;
  struct Entry {
    PlacedModel model;
    UnitChoices choices;
  };
  std::map<uint64_t, Entry> models_;
  uint64_t numbers_ = 1;
};

}  // namespace het::vpu
