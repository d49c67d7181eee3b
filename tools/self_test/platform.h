#pragma once

#include <nlohmann/json.hpp>

namespace het::self_test {

/// The system, its processors and memory, the graphics adapters that the kernel knows: facts of
/// which none names the host or a user.
nlohmann::json describe_platform();

}  // namespace het::self_test
