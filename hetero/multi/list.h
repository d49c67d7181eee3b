#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/members/device_list.h"
#include "inference/base/status.h"
#include "inference/core.h"

namespace het::hetero {

/// An entry of "GPU(2),CPU(4)": a device and how many requests it may run at the same time.
struct ListedDevice {
  std::string name;
  std::optional<size_t> limit;  ///< empty: as many as the device wants
};

/// The entries of a list. Fails with InvalidArgument for an empty one, one that is there twice and
/// a limit that is none.
Result<std::vector<ListedDevice>> parse_listed_devices(std::string_view owner,
                                                       std::string_view list);

/// A device of MULTI or AUTO with its limit.
struct LimitedMember {
  MemberDevice member;
  std::optional<size_t> limit;
};

/// Without their limits; as long as `members` lives.
std::vector<const MemberDevice*> devices_of(const std::vector<LimitedMember>& members);

/// The devices of such entries; fails as parse_device_list() does.
Result<std::vector<LimitedMember>> find_members(Core& core, std::string_view owner,
                                                const std::vector<ListedDevice>& entries);

}  // namespace het::hetero
