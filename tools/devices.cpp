#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "devices/register_devices.h"
#include "tools/commands.h"
#include "tools/guides.h"

namespace het {
namespace {

/// Kinds of which this machine has no device, with the reason.
void print_missing(Core& core) {
  const std::vector<std::string> available = core.available_devices();
  for (const std::string& kind : core.devices().kinds()) {
    const bool is_there = std::ranges::any_of(available, [&](const std::string& device) {
      return parse_device_name(device).kind == kind;
    });
    if (is_there) continue;
    const auto name = core.get_property(kind, "FULL_DEVICE_NAME");
    if (name) continue;
    std::printf("%s (not available)\n  %s\n", kind.c_str(), name.error().message().c_str());
  }
}

int print_devices() {
  const std::shared_ptr<Core> core = het::core();
  for (const std::string& device : core->available_devices()) {
    std::printf("%s\n", device.c_str());
    std::istringstream names(supported_properties(parse_device_name(device).kind));
    for (std::string name; names >> name;) {
      const auto value = core->get_property(device, name);
      if (!value) continue;
      std::printf("  %-34s %s\n", name.c_str(), value->c_str());
    }
  }
  print_missing(*core);
  return kExitOk;
}

}  // namespace

void add_devices_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("devices", "List the devices and their properties");
  auto guides = std::make_shared<bool>(false);
  command->add_flag("--guides", *guides,
                    "Which property each point of OpenVINO's guides is (query: for one device)");
  command->callback([guides, &exit_status] {
    if (!*guides) {
      exit_status = print_devices();
      return;
    }
    print_guides(std::nullopt, [](std::string_view) { return std::nullopt; });
    exit_status = kExitOk;
  });
}

}  // namespace het
