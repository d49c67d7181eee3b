#pragma once

#include <span>
#include <string>
#include <string_view>

#include "inference/base/visibility.h"
#include "inference/devices/properties.h"

namespace het {

/// A name, or words for values, of OpenVINO's guides from 2019 to 2022 that the table of properties
/// does not have.
struct OlderName {
  std::string_view old_name;  ///< "GNA_*": every name that starts so
  std::string_view name;      ///< the property here; empty: there is none
  std::string_view device;    ///< whose property it is; empty: of the device it is given to
  /// With a property here: older words for values, "OLD=NEW|OLD=NEW"; others stay as they are.
  /// Without one: the values that say what is so here anyway, "NO|0"; they are taken.
  std::string_view values;
  std::string_view doc;  ///< without a property here: what it was, and what to use instead
};

/// All of them, in alphabetical order. Each may also be written as the guides print it, with KEY_
/// in front.
HET_API std::span<const OlderName> older_names();

/// `name` without the KEY_ or METRIC_ with which the guides print names.
std::string_view without_key_prefix(std::string_view name);

/// The row of a name without prefix; null for a name that is none of them.
const OlderName* find_older_name(std::string_view name);

/// Gives a property, unless it is given already under any of its names.
HET_API void set_default(Properties& properties, std::string_view name, std::string value);
/// Gives a property instead of what any of its names has given.
HET_API void replace_property(Properties& properties, std::string_view name, std::string value);

}  // namespace het
