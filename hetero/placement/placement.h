#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hetero/members/device_list.h"
#include "hetero/placement/affinity.h"
#include "hetero/split/subgraph_splitter.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// The decision for every node of a prepared model.
struct Placement {
  static constexpr size_t kNowhere = static_cast<size_t>(-1);
  std::vector<size_t> devices;       ///< per node; kNowhere: no device takes it
  std::vector<std::string> reasons;  ///< per node: why there, or why nowhere
  Split split;                       ///< empty when a node is nowhere
};

/// What a device is compiled or queried with, beside the device itself.
struct PlacementDevice {
  const MemberDevice* member = nullptr;
  Properties properties;
};

/// Which devices can run which node, asked with the models that they would get: first the whole
/// one, then the subgraphs of a placement, since what a device takes may depend on the neighbours
/// that it fuses a node with.
class SupportTable {
 public:
  /// A wish for "GPU" may mean GPU.0. Fails with NotSupported for one that its device refuses.
  static Result<SupportTable> create(const Model& model, std::vector<PlacementDevice> devices,
                                     const std::vector<AffinityWish>& wishes);

  const std::vector<PlacementDevice>& devices() const { return devices_; }
  bool supports(size_t node, size_t device) const { return refusals_[node][device].empty(); }
  /// Why not; empty when it does.
  const std::string& refusal(size_t node, size_t device) const { return refusals_[node][device]; }
  /// A remark of a device about a node that it takes.
  const std::string& remark(size_t node, size_t device) const { return remarks_[node][device]; }
  const AffinityWish& wish(size_t node) const { return wishes_[node]; }

  /// The device does not get the node, or something is to be said about it there.
  void refuse(size_t node, size_t device, std::string reason) {
    refusals_[node][device] = std::move(reason);
  }
  void add_remark(size_t node, size_t device, const std::string& remark) {
    std::string& text = remarks_[node][device];
    text += (text.empty() ? "" : "; ") + remark;
  }

  /// How many nodes an error names that no device takes; 20 unless said.
  void set_most_named(size_t count) { most_named_ = count; }
  size_t most_named() const { return most_named_; }
  /// A line about all of it, for HETERO_PLAN.
  void set_note(std::string note) { note_ = std::move(note); }
  const std::string& note() const { return note_; }

  /// Asks every subgraph's device again, with the subgraph, and keeps what is refused. True when
  /// everything is taken.
  Result<bool> confirm(const Split& split);

 private:
  std::vector<PlacementDevice> devices_;
  std::vector<AffinityWish> wishes_;
  std::vector<std::vector<std::string>> refusals_;
  std::vector<std::vector<std::string>> remarks_;
  std::string note_;
  size_t most_named_ = 20;
};

/// The policy `priority`, as OpenVINO: every node goes to the first device of the list that takes
/// it. Nodes nowhere are no error.
Result<Placement> place_by_priority(const Model& model, SupportTable& table);

/// Fails with NotSupported, naming the nodes that are nowhere (as many as the table says) and what
/// each device says.
Status check_complete(const Model& model, const Placement& placement, const SupportTable& table);

}  // namespace het::hetero
