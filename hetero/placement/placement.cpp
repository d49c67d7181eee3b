#include "hetero/placement/placement.h"

#include <algorithm>
#include <utility>

namespace het::hetero {
namespace {

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({})", node.name(), node.qualified_type());
}

/// One that is in the list; "GPU" for "GPU.0" too.
size_t find_device(const std::vector<PlacementDevice>& devices, const std::string& name) {
  for (size_t d = 0; d < devices.size(); ++d) {
    if (devices[d].member->name == name) return d;
  }
  size_t d = 0;
  while (parse_device_name(devices[d].member->name).kind != name) ++d;
  return d;
}

std::string names_of(const std::vector<PlacementDevice>& devices) {
  std::string names;
  for (const PlacementDevice& device : devices) {
    names += names.empty() ? "" : ", ";
    names += device.member->name;
  }
  return names;
}

}  // namespace

Result<SupportTable> SupportTable::create(const Model& model, std::vector<PlacementDevice> devices,
                                          const std::vector<AffinityWish>& wishes) {
  SupportTable table;
  table.devices_ = std::move(devices);
  table.wishes_ = wishes;
  const auto& nodes = model.nodes();
  const size_t count = table.devices_.size();
  table.refusals_.assign(nodes.size(), std::vector<std::string>(count));
  table.remarks_.assign(nodes.size(), std::vector<std::string>(count));
  for (size_t d = 0; d < count; ++d) {
    const PlacementDevice& device = table.devices_[d];
    auto rows = device.member->device->query_model(model, device.properties);
    if (!rows) return Failure(rows.error().with_context("cannot ask " + device.member->name));
    for (size_t n = 0; n < nodes.size(); ++n) {
      const NodeSupport& row = (*rows)[n];
      (row.supported() ? table.remarks_ : table.refusals_)[n][d] = row.reason;
      if (!row.supported() && row.reason.empty()) table.refusals_[n][d] = "no reason given";
    }
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    const AffinityWish& wish = table.wishes_[n];
    if (wish.device.empty()) continue;
    const size_t wanted = find_device(table.devices_, wish.device);
    if (!table.supports(n, wanted)) {
      return error(StatusCode::NotSupported, "{} shall run on {} ({}), which cannot: {}",
                   describe(*nodes[n]), wish.device, wish.cause, table.refusal(n, wanted));
    }
    for (size_t d = 0; d < count; ++d) {
      if (d != wanted && table.supports(n, d)) table.refusals_[n][d] = wish.cause;
    }
  }
  return table;
}

Result<bool> SupportTable::confirm(const Split& split) {
  bool taken = true;
  for (const Subgraph& subgraph : split.subgraphs) {
    const size_t d = find_device(devices_, subgraph.device);
    const PlacementDevice& device = devices_[d];
    auto rows = device.member->device->query_model(*subgraph.model, device.properties);
    if (!rows) return Failure(rows.error().with_context("cannot ask " + subgraph.device));
    for (size_t i = 0; i < subgraph.nodes.size(); ++i) {
      if ((*rows)[i].supported()) continue;
      const size_t n = subgraph.nodes[i];
      refusals_[n][d] = (*rows)[i].reason.empty() ? "no reason given" : (*rows)[i].reason;
      refusals_[n][d] += " (asked with " + subgraph.name + ")";
      taken = false;
    }
  }
  return taken;
}

Result<Placement> place_by_priority(const Model& model, SupportTable& table) {
  const size_t nodes = model.nodes().size();
  const size_t devices = table.devices().size();
  // Each round takes at least one device away from a node.
  for (size_t round = 0; round <= nodes * devices; ++round) {
    Placement placement;
    placement.devices.assign(nodes, Placement::kNowhere);
    placement.reasons.resize(nodes);
    std::vector<std::string> names(nodes);
    bool complete = true;
    for (size_t n = 0; n < nodes; ++n) {
      std::string refusals;
      for (size_t d = 0; d < devices && placement.devices[n] == Placement::kNowhere; ++d) {
        if (table.supports(n, d)) {
          placement.devices[n] = d;
          names[n] = table.devices()[d].member->name;
          continue;
        }
        refusals += refusals.empty() ? "" : "; ";
        refusals += fmt::format("not {}: {}", table.devices()[d].member->name, table.refusal(n, d));
      }
      complete = complete && placement.devices[n] != Placement::kNowhere;
      std::string& reason = placement.reasons[n];
      reason = table.wish(n).device.empty() ? std::move(refusals) : table.wish(n).cause;
      if (placement.devices[n] == Placement::kNowhere) continue;
      const std::string& remark = table.remark(n, placement.devices[n]);
      if (!remark.empty()) reason += (reason.empty() ? "" : "; ") + remark;
    }
    if (!complete) return placement;
    HET_ASSIGN(placement.split, split_model(model, names));
    HET_ASSIGN(const bool taken, table.confirm(placement.split));
    if (taken) return placement;
  }
  return error(StatusCode::Internal, "the devices' answers for model '{}' do not settle",
               model.name());
}

Status check_complete(const Model& model, const Placement& placement, const SupportTable& table) {
  const size_t most_named = table.most_named();
  std::string list;
  size_t missing = 0;
  for (size_t n = 0; n < placement.devices.size(); ++n) {
    if (placement.devices[n] != Placement::kNowhere || ++missing > most_named) continue;
    list += fmt::format("\n  {}: {}", describe(*model.nodes()[n]), placement.reasons[n]);
  }
  if (missing == 0) return {};
  if (missing > most_named) list += fmt::format("\n  and {} more", missing - most_named);
  return error(StatusCode::NotSupported, "{} of {} nodes run on none of {}:{}", missing,
               placement.devices.size(), names_of(table.devices()), list);
}

}  // namespace het::hetero
