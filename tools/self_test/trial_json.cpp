#include "tools/self_test/trial_json.h"

namespace het::self_test {
namespace {

const char* outcome_text(FeatureTrial::Outcome outcome) {
  switch (outcome) {
    case FeatureTrial::Outcome::NotThere:
      return "not there";
    case FeatureTrial::Outcome::NotTried:
      return "not tried";
    case FeatureTrial::Outcome::Works:
      return "works";
    case FeatureTrial::Outcome::Fails:
      break;
  }
  return "fails";
}

}  // namespace

nlohmann::json features_json(const std::vector<FeatureTrial>& features) {
  nlohmann::json json = nlohmann::json::array();
  for (const FeatureTrial& feature : features) {
    json.push_back({{"name", feature.name},
                    {"outcome", outcome_text(feature.outcome)},
                    {"detail", feature.detail}});
  }
  return json;
}

nlohmann::json listing_json(const DeviceListing& listing) {
  nlohmann::json json = {{"devices", nlohmann::json::array()},
                         {"drivers", nlohmann::json::array()},
                         {"problem", listing.problem}};
  for (const ListedDevice& device : listing.devices) {
    json["devices"].push_back({{"platform", device.platform},
                               {"platform_version", device.platform_version},
                               {"name", device.name},
                               {"vendor", device.vendor},
                               {"driver", device.driver},
                               {"version", device.version},
                               {"type", device.type},
                               {"is", device.is},
                               {"available", device.available},
                               {"unified_memory", device.unified_memory},
                               {"memory_bytes", device.memory_bytes},
                               {"largest_allocation_bytes", device.largest_allocation_bytes},
                               {"local_memory_bytes", device.local_memory_bytes},
                               {"compute_units", device.compute_units},
                               {"largest_group", device.largest_group},
                               {"float_width", device.float_width}});
  }
  for (const DriverFile& driver : listing.drivers) {
    json["drivers"].push_back(
        {{"file", driver.file}, {"library", driver.library}, {"problem", driver.problem}});
  }
  return json;
}

nlohmann::json display_json(const DisplayTrial& display) {
  return {{"node", display.node},
          {"driver", display.driver},
          {"version", display.version},
          {"problem", display.problem},
          {"features", features_json(display.features)}};
}

}  // namespace het::self_test
