#include "hetero/members/member_context.h"

#include <algorithm>
#include <utility>

#include "inference/device_registry.h"

namespace het::hetero {
namespace {

std::string names_of_members(const std::vector<MemberDevice>& members) {
  std::string names;
  for (const MemberDevice& member : members) names += (names.empty() ? "" : ",") + member.name;
  return names;
}

bool may_be_of(const MemberDevice& member, const DeviceName& wanted) {
  const DeviceName name = parse_device_name(member.name);
  return name.kind == wanted.kind && (name.id.empty() || wanted.id.empty());
}

}  // namespace

Result<MemberContext> find_member_context(std::string_view owner,
                                          const std::vector<MemberDevice>& members,
                                          DeviceContext* context) {
  if (context == nullptr) return MemberContext();
  std::shared_ptr<DeviceContext> shared = context->weak_from_this().lock();
  if (shared == nullptr) {
    return error(StatusCode::InvalidArgument,
                 "{} keeps the context for later compiles: give one that Core::create_context() or "
                 "a shared_ptr owns",
                 owner);
  }
  const std::string_view name = context->device_name();
  if (const auto same = std::ranges::find(members, name, &MemberDevice::name);
      same != members.end()) {
    return MemberContext{std::move(shared), same->name};
  }
  const DeviceName wanted = parse_device_name(name);
  std::vector<std::string> found;
  for (const MemberDevice& member : members) {
    if (may_be_of(member, wanted)) found.push_back(member.name);
  }
  if (found.size() == 1) return MemberContext{std::move(shared), found[0]};
  if (found.empty()) {
    return error(StatusCode::InvalidArgument,
                 "the context is of {}, which is not in {}:{}: make it with "
                 "Core::create_context() for a device of the list",
                 name, owner, names_of_members(members));
  }
  return error(StatusCode::InvalidArgument,
               "the context is of {}, and {}:{} has several: make it with Core::create_context() "
               "for one of them, \"{}\" say",
               name, owner, names_of_members(members), found[0]);
}

Result<std::shared_ptr<DeviceContext>> create_member_context(
    std::string_view owner, const std::vector<MemberDevice>& members, const ContextParams& params) {
  for (const MemberDevice& member : members) {
    auto made = member.device->create_context(params);
    if (made) return made;
    if (made.error().code() == StatusCode::NotSupported) continue;
    return Failure(made.error().with_context(
        fmt::format("cannot make a context for {} of {}", member.name, owner)));
  }
  return error(StatusCode::NotSupported,
               "no device of {}:{} works in objects of the application: a GPU does", owner,
               names_of_members(members));
}

std::vector<MemoryKind> kinds_in_place(const MemberDevice& member, const MemberContext& context) {
  if (context.context != nullptr && context.of(member) == nullptr) return {MemoryKind::Host};
  return member.device->direct_memory_kinds();
}

}  // namespace het::hetero
