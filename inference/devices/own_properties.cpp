#include "inference/devices/own_properties.h"

#include <algorithm>
#include <deque>
#include <mutex>

namespace het {
namespace {

/// A row with the texts that it points at.
struct OwnRow {
  OwnProperty property;
  std::string device;
  PropertyDef def;
};

struct OwnRows {
  std::mutex mutex;  ///< protects rows; taken alone
  std::deque<OwnRow> rows;
};

/// Never destroyed: rows are pointed at until the end.
OwnRows& own_rows() {
  static auto* const all = new OwnRows;
  return *all;
}

}  // namespace

void add_own_properties(const std::string& device, const std::vector<OwnProperty>& properties) {
  OwnRows& all = own_rows();
  const std::lock_guard lock(all.mutex);
  for (const OwnProperty& property : properties) {
    OwnRow& row = all.rows.emplace_back(OwnRow{property, device, {}});
    const auto table = property_table();
    const auto known = std::ranges::find(table, row.property.name, &PropertyDef::name);
    if (known != table.end()) {
      row.def = *known;
    } else {
      row.def.name = row.property.name;
      row.def.default_value = row.property.default_value;
      row.def.read_only = row.property.read_only;
      row.def.doc = row.property.doc;
    }
    row.def.devices = row.device;
  }
}

std::vector<const PropertyDef*> own_property_rows() {
  OwnRows& all = own_rows();
  const std::lock_guard lock(all.mutex);
  std::vector<const PropertyDef*> rows;
  for (const OwnRow& row : all.rows) rows.push_back(&row.def);
  return rows;
}

}  // namespace het
