#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hetero/placement/placement.h"
#include "inference/devices/choice_store.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What tells one machine's times from another's: the devices' names, their processors and drivers,
/// and how many processors this process may use.
std::string machine_text(const SupportTable& table);
/// What a device is used with, for keys: its name and properties.
std::string device_text(const PlacementDevice& device);

/// What it costs to go on elsewhere: seconds = start + bytes * per_byte.
struct TransferTime {
  double start = 0;
  double per_byte = 0;
  double seconds(double bytes) const { return start + bytes * per_byte; }
};

/// How a float32 tensor crosses.
enum class Crossing { AsItIs, AsFloat16 };

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
  ProfileStore(const Properties& properties, const SupportTable& table);

  std::optional<NodeTime> find(const Node& node, size_t device) const;
  void add(const Node& node, size_t device, const NodeTime& time);
  /// By the devices' names; also what was added without a CACHE_DIR.
  std::optional<TransferTime> find_transfer(const std::string& from, const std::string& to,
                                            Crossing crossing) const;
  void add_transfer(const std::string& from, const std::string& to, Crossing crossing,
                    const TransferTime& time);
  /// Writes what was added.
  void save();

 private:
  std::string key_of(const Node& node, size_t device) const;
  std::string transfer_key(const std::string& from, const std::string& to, Crossing crossing) const;

  std::vector<std::string> devices_;  ///< device_text() of each
  std::map<std::string, std::string> devices_by_name_;
  std::map<std::string, TransferTime> added_transfers_;  ///< by transfer_key()
  std::optional<ChoiceStore> store_;                     ///< none where CACHE_DIR is empty
};

}  // namespace het::hetero
