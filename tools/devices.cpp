#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "tools/commands.h"
#include "tools/guides.h"
#include "tools/self_test/parts.h"
#include "tools/self_test/self_test.h"

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
  struct DevicesOptions {
    bool guides = false;
    bool self_test = false;
    self_test::SelfTestOptions test;
    std::vector<std::string> part;
  };
  auto options = std::make_shared<DevicesOptions>();
  command->add_flag("--guides", options->guides,
                    "Which property each point of OpenVINO's guides is (query: for one device)");
  CLI::Option* const tested = command->add_flag(
      "--self-test", options->self_test,
      "Whether this machine runs inference rightly and fast: tries each device in at most two "
      "minutes. Exit status 0 when all devices that are there are right, else 1");
  command->add_option("-d,--device", options->test.device, "--self-test: this device alone")
      ->needs(tested);
  command->add_option("--json", options->test.json, "--self-test: everything, as a JSON object")
      ->type_name("FILE")
      ->needs(tested);
  command
      ->add_option("--video-node", options->test.video_node,
                   "--self-test: the render node whose video driver is tried (those of /dev/dri)")
      ->needs(tested);
  // What the self-test starts for itself.
  command->add_option("--self-test-part", options->part)->group("");
  command->callback([options, &app, &exit_status] {
    if (!options->part.empty()) {
      exit_status = self_test::run_part(options->part);
    } else if (options->self_test) {
      options->test.device_libraries = app.get_option("--device-library")->results();
      exit_status = self_test::run_self_test(options->test);
    } else if (options->guides) {
      print_guides(std::nullopt, [](std::string_view) { return std::nullopt; });
      exit_status = kExitOk;
    } else {
      exit_status = print_devices();
    }
  });
}

}  // namespace het
