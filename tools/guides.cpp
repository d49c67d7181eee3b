#include "tools/guides.h"

#include <cstdio>

#include "inference/devices/guide_table.h"

namespace het {
namespace {

/// "NUM_STREAMS=2 (what is to be said of it)", or how it is done without a property.
std::string answer(const GuideRow& row, const PropertyValue& value) {
  if (row.property.empty()) return std::string(row.here);
  std::string text(row.property);
  if (const auto current = value(row.property)) text += "=" + *current;
  if (!row.here.empty()) text += " (" + std::string(row.here) + ")";
  return text;
}

}  // namespace

void print_guides(const std::optional<std::string>& device, const PropertyValue& value) {
  std::string_view guide;
  for (const GuideRow& row : guide_table()) {
    if (device && !concerns(row, *device)) continue;
    if (row.guide != guide) std::printf("%s\n", std::string(row.guide).c_str());
    guide = row.guide;
    std::printf("  %-38s %s\n  %-38s -> %s\n", std::string(row.name).c_str(),
                std::string(row.purpose).c_str(), "", answer(row, value).c_str());
  }
}

}  // namespace het
