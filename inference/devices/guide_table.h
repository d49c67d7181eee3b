#pragma once

#include <span>
#include <string_view>

#include "inference/base/visibility.h"

namespace het {

/// Something that one of OpenVINO's guides offers, and what it is here.
struct GuideRow {
  std::string_view guide;     ///< its title, or that of several
  std::string_view devices;   ///< whom it is about, as PropertyDef::devices
  std::string_view name;      ///< a property's key, or what else users write
  std::string_view purpose;   ///< in a few words of ours
  std::string_view property;  ///< the row of property_table() that does it; empty: none
  std::string_view here;      ///< how it is done without a property or beside it, or why not
};

/// What the guides offer, guide by guide: Heterogeneous execution, AUTO, MULTI, BATCH, hints, CPU,
/// GPU, caching, querying, profiling, and the keys of the guides of 2019 to 2021.
HET_API std::span<const GuideRow> guide_table();

/// True for a name that is written like a property's key.
HET_API bool is_property_key(std::string_view name);
/// True where a row of the property table's key, alias or member property is taken as it is written
/// in the guide, by one of the row's devices.
HET_API bool is_accepted_as_written(const GuideRow& row);
/// True for rows that a user of this device string asks about: "HETERO:GPU,CPU" is HETERO, GPU and
/// CPU.
HET_API bool concerns(const GuideRow& row, std::string_view device);

}  // namespace het
