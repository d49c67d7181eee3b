#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "devices/register_devices.h"
#include "tools/commands.h"

namespace het {
namespace {

int print_devices() {
  const std::shared_ptr<Core> core = het::core();
  for (const std::string& device : core->available_devices()) {
    std::printf("%s\n", device.c_str());
    for (const PropertyDef& property : property_table()) {
      const auto value = core->get_property(device, property.name);
      if (!value) continue;
      std::printf("  %-34s %s\n", std::string(property.name).c_str(), value->c_str());
    }
  }
  return kExitOk;
}

}  // namespace

void add_devices_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("devices", "List the devices and their properties");
  command->callback([&exit_status] { exit_status = print_devices(); });
}

}  // namespace het
