#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace het {

/// The value of a property, where there is one.
using PropertyValue = std::function<std::optional<std::string>(std::string_view property)>;

/// Prints what OpenVINO's guides offer and which property each of it is here; for a device string
/// only what concerns its devices, else everything.
void print_guides(const std::optional<std::string>& device, const PropertyValue& value);

}  // namespace het
