#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hetero/placement.h"
#include "inference/choice_store.h"
#include "inference/model.h"
#include "inference/properties.h"

namespace het::hetero {

/// What tells one machine's times from another's: the devices' names, their processors and drivers.
std::string machine_text(const SupportTable& table);
/// What a device is used with, for keys: its name and properties.
std::string device_text(const PlacementDevice& device);

/// Times of nodes and transfers in CACHE_DIR, so that another model, policy or process need not
/// measure what is known. A node is known by what it computes, what it lies between (which decides
/// what is fused) and the device with its properties. Entries of other machines or drivers are in
/// files of their own. Thread-bound.
class ProfileStore {
 public:
  struct NodeTime {
    double seconds = 0;
    bool is_fused = false;  ///< computed by the kernel of another node
  };
  /// seconds = start + bytes * per_byte.
  struct Line {
    double start = 0;
    double per_byte = 0;
  };

  ProfileStore(const Properties& properties, const SupportTable& table);

  std::optional<NodeTime> find(const Node& node, size_t device) const;
  void add(const Node& node, size_t device, const NodeTime& time);
  std::optional<Line> find_transfer(size_t from, size_t to) const;
  void add_transfer(size_t from, size_t to, const Line& line);
  /// Writes what was added.
  void save();

 private:
  std::string key_of(const Node& node, size_t device) const;
  std::string transfer_key(size_t from, size_t to) const;

  std::vector<std::string> devices_;  ///< device_text() of each
  std::optional<ChoiceStore> store_;  ///< none where CACHE_DIR is empty
};

}  // namespace het::hetero
