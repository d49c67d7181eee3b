#include "tools/self_test/parts.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <nlohmann/json.hpp>

#include "devices/register_devices.h"
#include "tools/commands.h"
#include "tools/self_test/child_part.h"
#include "tools/self_test/correctness.h"
#include "tools/self_test/part_events.h"
#include "tools/self_test/pictures.h"
#include "tools/self_test/speed.h"
#include "tools/self_test/trial_json.h"

namespace het::self_test {
namespace {

size_t number_of(const std::string& word) {
  size_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return number;
}

void tell_listing(PartEvents& events) {
  events.begin("listing the OpenCL devices");
  events.result(listing_json(list_gpu_drivers()));
}

void tell_features(size_t listed, PartEvents& events) {
  events.begin("trying the extensions of an OpenCL device");
  const Result<std::vector<FeatureTrial>> features = try_gpu_features(listed);
  if (features) {
    events.result({{"features", features_json(*features)}});
  } else {
    events.result({{"problem", features.error().message()}});
  }
}

nlohmann::json described(Core& core, const std::string& device) {
  nlohmann::json json = {{"device", device}};
  for (const char* name : {"FULL_DEVICE_NAME", "OPTIMIZATION_CAPABILITIES", "GPU_FEATURES",
                           "GPU_SURFACE_IMPORT", "DEVICE_TYPE"}) {
    const auto value = core.get_property(device, name);
    if (value) json["properties"][name] = *value;
  }
  return json;
}

/// The devices that there are to try and the kinds of which there is none, or one device.
void tell_devices(const std::string& wanted, PartEvents& events) {
  events.begin("opening the devices");
  const std::shared_ptr<Core> core = het::core();
  if (!wanted.empty()) {
    const auto name = core->get_property(wanted, "FULL_DEVICE_NAME");
    if (name) {
      events.result(described(*core, wanted));
    } else {
      events.result({{"missing", wanted}, {"reason", name.error().message()}});
    }
    return;
  }
  const std::vector<std::string> available = core->available_devices();
  for (const std::string& device : available) {
    if (device == "REF") continue;  // what the others are compared with
    events.begin("opening " + device);
    events.result(described(*core, device));
  }
  for (const std::string& kind : core->devices().kinds()) {
    const bool is_there = std::ranges::any_of(available, [&](const std::string& device) {
      return parse_device_name(device).kind == kind;
    });
    if (is_there) continue;
    events.begin("opening " + kind);
    const auto name = core->get_property(kind, "FULL_DEVICE_NAME");
    if (!name) events.result({{"missing", kind}, {"reason", name.error().message()}});
  }
}

}  // namespace

int run_part(const std::vector<std::string>& words) {
  // Ends with its parent, and leaves no picture of its memory behind when it crashes.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit nothing{0, 0};
  ::setrlimit(RLIMIT_CORE, &nothing);
  PartEvents events(kEventsFile);
  const std::string what = words.empty() ? "" : words[0];
  if (what == "opencl") {
    tell_listing(events);
  } else if (what == "features" && words.size() == 2) {
    tell_features(number_of(words[1]), events);
  } else if (what == "devices") {
    tell_devices(words.size() > 1 ? words[1] : "", events);
  } else if (what == "correctness" && words.size() == 3) {
    try_correctness(words[1], number_of(words[2]), events);
  } else if (what == "speed" && words.size() == 2) {
    measure_speed(words[1], events);
  } else if (what == "pictures" && words.size() >= 2) {
    try_pictures(words[1], {words.begin() + 2, words.end()}, events);
  } else {
    return kExitUsage;
  }
  events.end();
  return kExitOk;
}

}  // namespace het::self_test
