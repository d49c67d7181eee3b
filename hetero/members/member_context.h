#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/members/device_list.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// A context of the application and the one device of a list that works in it.
struct MemberContext {
  std::shared_ptr<DeviceContext> context;  ///< null: none was given
  std::string member;

  /// Null for the other devices.
  std::shared_ptr<DeviceContext> of(const MemberDevice& device) const {
    return device.name == member ? context : nullptr;
  }
};

/// Whose context it is: the device of that name, else the only one of that kind, unless both names
/// have an id. `context` may be null. Fails with InvalidArgument where none is, or several are.
Result<MemberContext> find_member_context(std::string_view owner,
                                          const std::vector<MemberDevice>& members,
                                          DeviceContext* context);

/// A context of the first device of the list that works in objects of the application.
/// Fails with NotSupported where none does.
Result<std::shared_ptr<DeviceContext>> create_member_context(
    std::string_view owner, const std::vector<MemberDevice>& members, const ContextParams& params);

/// The kinds of memory in which a device uses tensors where they are: beside a context those of
/// the host only, unless the context is its own.
std::vector<MemoryKind> kinds_in_place(const MemberDevice& member, const MemberContext& context);

}  // namespace het::hetero
