#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"

namespace het::hetero {

/// A device in a composite device's list, as the user wrote it ("GPU.0").
struct MemberDevice {
  std::string name;
  std::shared_ptr<Device> device;
  Properties defaults;  ///< Core::set_property() for this device
};

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// The devices of "GPU,CPU" (or "GPU;CPU", as where a comma ends a value), in order of priority.
/// Fails with InvalidArgument for an empty entry, one that is named twice or a composite device,
/// with NotFound for a device that is not there.
Result<std::vector<MemberDevice>> parse_device_list(Core& core, std::string_view owner,
                                                    std::string_view list);

/// What all of them take, since pictures go to any of them; the host's where there is none.
std::vector<MemoryKind> common_memory_kinds(const std::vector<const MemberDevice*>& members);

/// A property that the composite device leaves to its members: as set for the first one that has
/// it, or as that answers; else the table's default.
std::string property_of_members(const std::vector<const MemberDevice*>& members,
                                const PropertyDef& def);

/// Fails with NotSupported for a context of the application: members would each need one.
Status refuse_context(std::string_view owner, const DeviceContext* context);

/// True for a device that computes elsewhere than on the processor's cores, by its DEVICE_TYPE;
/// also for one that does not say.
bool is_accelerator(const MemberDevice& member);

/// Leaves a core to the thread that feeds an accelerator, where the device has SPARE_CORES and the
/// user has chosen nothing about its threads.
void spare_a_core(const MemberDevice& member, Properties& properties);

/// What a member is compiled with: properties for it alone ("GPU.NUM_STREAMS"; "GPU.0.NUM_STREAMS"
/// before "GPU.NUM_STREAMS"), then the owner's that it understands, then its defaults. The owner's
/// INFERENCE_PRECISION_HINT goes to those that compute in that type; the others choose themselves.
/// `properties` are validated for the owner; `own` are names of properties that stay with the
/// owner.
Properties member_properties(const MemberDevice& member, const Properties& properties,
                             std::span<const std::string_view> own);

}  // namespace het::hetero
