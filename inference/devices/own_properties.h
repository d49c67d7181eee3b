#pragma once

#include <string>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/devices/properties.h"

namespace het {

/// A property of a device in a user's library (custom_device.h).
struct OwnProperty {
  std::string name;
  std::string default_value;
  std::string doc;
  bool read_only = false;
};

/// Makes properties of a kind of device known beside those of the table, for the process. One that
/// has a row in the table keeps the row's type, range and text; the device understands it from now
/// on. Thread-safe.
HET_API void add_own_properties(const std::string& device,
                                const std::vector<OwnProperty>& properties);

/// The rows of all that were added, which stay until the process ends. Thread-safe.
std::vector<const PropertyDef*> own_property_rows();

}  // namespace het
