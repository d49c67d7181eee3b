#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "devices/vpu/link_messages.h"
#include "devices/vpu/link_socket.h"

namespace het::vpu {

/// Both ends of what comes before everything else on a link: hello, the proofs of a key where one
/// is wanted, welcome. Nothing that the other side sends is trusted.

/// The host's. `name` is for messages; over TCP a device that wants no key is refused. Fails with
/// DeviceLost where what listens is no device of this protocol, with what it refuses, and with
/// InvalidArgument where it wants a key and there is none.
Result<Welcome> greet_device(LinkSocket& socket, const std::string& name,
                             const std::optional<LinkKey>& key, bool is_tcp,
                             std::chrono::milliseconds patience);

/// The device's; with a key the host has to have the same one.
Status greet_host(LinkSocket& socket, const Welcome& welcome, const std::optional<LinkKey>& key,
                  std::chrono::milliseconds patience);

}  // namespace het::vpu
