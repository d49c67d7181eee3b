#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "devices/vpu/link_security.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"

namespace het::vpu {

/// Where VPUs may be found: what VPU_ADDRESSES (or HETERO_VPU_ADDRESSES) names, else every socket
/// (*.sock) in the folder that HETERO_VPU_FOLDER names (/run/hetero-vpu), sorted. Addresses are
/// paths of sockets and tcp://HOST:PORT, separated by blanks. Asks nobody whether they answer.
/// Thread-safe.
std::vector<std::string> vpu_addresses();
/// The same in words, for messages.
std::string vpu_addresses_text();

/// The key of VPU_KEY_FILE (or HETERO_VPU_KEY_FILE); nothing where none is named. Fails as
/// LinkKey::from_file().
Result<std::optional<LinkKey>> vpu_key();

/// VPU_ADDRESSES and VPU_KEY_FILE, for the process; others are left alone. Fails with
/// InvalidArgument for what is no address.
Status set_discovery(const Properties& properties);
/// The value in use.
std::string discovery_property(std::string_view name);

}  // namespace het::vpu
