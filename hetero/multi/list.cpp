#include "hetero/multi/list.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace het::hetero {
namespace {

constexpr size_t kMaxLimit = 1024;

Result<ListedDevice> parse_entry(std::string_view owner, std::string_view entry) {
  const size_t bracket = entry.find('(');
  ListedDevice device{std::string(trimmed(entry.substr(0, bracket))), std::nullopt};
  if (bracket == std::string_view::npos) return device;
  std::string_view number = entry.substr(bracket + 1);
  const bool is_closed = number.ends_with(')');
  if (is_closed) number.remove_suffix(1);
  size_t limit = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), limit);
  if (!is_closed || code != std::errc() || end != number.data() + number.size() || limit < 1 ||
      limit > kMaxLimit) {
    return error(StatusCode::InvalidArgument,
                 "'{}' in the list of {} is not of the form DEVICE(REQUESTS) with 1 to {} "
                 "requests, such as GPU(2)",
                 entry, owner, kMaxLimit);
  }
  device.limit = limit;
  return device;
}

}  // namespace

Result<std::vector<ListedDevice>> parse_listed_devices(std::string_view owner,
                                                       std::string_view list) {
  std::vector<ListedDevice> entries;
  const std::string_view whole = list;
  for (bool more = true; more;) {
    const size_t end = list.find_first_of(",;");
    HET_ASSIGN(ListedDevice entry, parse_entry(owner, trimmed(list.substr(0, end))));
    more = end != std::string_view::npos;
    if (more) list.remove_prefix(end + 1);
    if (entry.name.empty()) {
      return error(StatusCode::InvalidArgument,
                   "'{}' has an empty name in the list of {}: write GPU,CPU or GPU(2),CPU(4)",
                   whole, owner);
    }
    if (std::ranges::find(entries, entry.name, &ListedDevice::name) != entries.end()) {
      return error(StatusCode::InvalidArgument, "'{}' names {} twice", whole, entry.name);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<const MemberDevice*> devices_of(const std::vector<LimitedMember>& members) {
  std::vector<const MemberDevice*> devices;
  for (const LimitedMember& limited : members) devices.push_back(&limited.member);
  return devices;
}

Result<std::vector<LimitedMember>> find_members(Core& core, std::string_view owner,
                                                const std::vector<ListedDevice>& entries) {
  std::vector<LimitedMember> members;
  for (const ListedDevice& entry : entries) {
    HET_ASSIGN(std::vector<MemberDevice> found, parse_device_list(core, owner, entry.name));
    members.push_back({std::move(found[0]), entry.limit});
  }
  return members;
}

}  // namespace het::hetero
