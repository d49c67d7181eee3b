#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Property values travel as text, as users write them; the table below gives their type.
using Properties = std::map<std::string, std::string>;

enum class PropertyType : uint8_t { Text, Integer, Float, Boolean, Choice };

/// One row of the one table of properties.
struct PropertyDef {
  std::string_view name;
  PropertyType type = PropertyType::Text;
  std::string_view default_value;
  std::string_view choices;  ///< Choice: the values, separated by '|'
  int64_t minimum = 0;       ///< Integer
  int64_t maximum = 0;       ///< Integer
  bool read_only = false;
  std::string_view devices;  ///< who understands it: "CPU,REF", "*" for everyone
  /// Changes the model before a device sees it (model_preparation.h); needs no device and does not
  /// read back from the compiled model.
  bool is_preparation = false;
  std::string_view doc;  ///< one line
};

/// Every property of this build, in alphabetical order. Devices of users' libraries have more
/// (own_properties.h), which all functions below know.
HET_API std::span<const PropertyDef> property_table();

/// A property of one device in a composite one.
struct MemberProperty {
  std::string device;
  std::string name;
};
/// "GPU.0.NUM_STREAMS" is NUM_STREAMS of GPU.0; nothing for a name without a point.
HET_API std::optional<MemberProperty> split_member_property(std::string_view name);

/// Looks a name up, with KEY_ in front or without, or an older one (older_names.h). Here and below
/// `device` is a name as users write it; composite ones ("BATCH:GPU(8)") understand what the
/// devices in them understand, too. Fails with the list of valid names of this device (a near miss
/// is suggested), or saying what became of an older one.
HET_API Result<const PropertyDef*> find_property(std::string_view name, std::string_view device);

/// Checks every name and value for a device, replaces older names and values by the table's and
/// booleans by YES/NO. Of a composite device, properties of single members ("GPU.NUM_STREAMS") are
/// checked for them, and DEVICE_PROPERTIES and older names of one device's properties
/// (CPU_THROUGHPUT_STREAMS) become such ones. Fails on the first unknown, read-only or malformed
/// one, listing what is valid; on an older name that nothing here stands for; and when two names of
/// one property are given with two values.
HET_API Result<Properties> validate_properties(const Properties& properties,
                                               std::string_view device);

/// True for the name of a row with is_preparation.
HET_API bool is_preparation_property(std::string_view name);

/// Values of validated properties, or the table's default. An Integer that is AUTO reads as -1.
HET_API std::string property_text(const Properties& properties, std::string_view name);
HET_API int64_t property_integer(const Properties& properties, std::string_view name);
HET_API bool property_boolean(const Properties& properties, std::string_view name);

/// Names of all properties of a device, separated by blanks: the value of SUPPORTED_PROPERTIES.
HET_API std::string supported_properties(std::string_view device);

/// Parses "KEY=VALUE,KEY=VALUE" as ie-config and -load_config strings have it. A comma inside
/// brackets or braces belongs to the value; lists that are not in brackets have ';' between their
/// entries.
HET_API Result<Properties> parse_properties(std::string_view text);

}  // namespace het
