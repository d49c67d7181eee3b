#include "inference/devices/guide_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "inference/devices/properties.h"

namespace het {
namespace {

bool is_in_table(std::string_view property) {
  return std::ranges::any_of(property_table(),
                             [&](const PropertyDef& def) { return def.name == property; });
}

/// The row's device, or one that knows what all know.
std::string_view device_of(const GuideRow& row) {
  return row.devices == "*" ? "CPU" : row.devices;
}

TEST(GuideTable, EveryRowSaysWhatItIsHere) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const GuideRow& row : guide_table()) {
    EXPECT_FALSE(row.purpose.empty()) << row.name;
    EXPECT_FALSE(row.property.empty() && row.here.empty()) << row.name;
    EXPECT_TRUE(row.property.empty() || is_in_table(row.property))
        << row.name << ": " << row.property;
    EXPECT_TRUE(seen.insert({row.guide, row.name}).second) << row.guide << ": " << row.name;
  }
}

TEST(GuideTable, AKeyThatIsAcceptedIsThePropertyThatTheRowNames) {
  for (const GuideRow& row : guide_table()) {
    if (!is_property_key(row.name)) continue;
    const auto found = find_property(row.name, device_of(row));
    EXPECT_EQ(found.has_value(), is_accepted_as_written(row)) << row.name;
    if (!found) continue;
    EXPECT_EQ((*found)->name, row.property)
        << row.name << " of " << device_of(row) << " is there; its row says otherwise";
  }
}

TEST(GuideTable, ADeviceUnderstandsThePropertyOfItsGuide) {
  for (const GuideRow& row : guide_table()) {
    if (row.property.empty() || row.property == "HETERO_DUMP_GRAPH_DOT") continue;
    const std::string device(device_of(row));
    EXPECT_TRUE(find_property(row.property, device) ||
                find_property(row.property, device + ":GPU,CPU"))
        << row.guide << ": " << row.property;
  }
}

TEST(GuideTable, RowsConcernTheDevicesOfTheString) {
  std::set<std::string_view> guides;
  for (const GuideRow& row : guide_table()) {
    if (concerns(row, "HETERO:GPU.1,CPU(2)") && row.devices != "*") guides.insert(row.devices);
  }
  EXPECT_EQ(guides, (std::set<std::string_view>{"HETERO", "GPU", "CPU"}));
}

}  // namespace
}  // namespace het
