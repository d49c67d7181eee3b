/// `hetero`, the command line: one thin file per subcommand.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "devices/register_devices.h"
#include "inference/base/version.h"
#include "tools/commands.h"
#include "tools/other_programs.h"

namespace het {

int report(const Status& status) {
  std::fprintf(stderr, "hetero: %s\n", status.message().c_str());
  return status.code() == StatusCode::InvalidArgument ? kExitUsage : kExitFailed;
}

namespace {

/// benchmark_app's options have one dash and several letters ("-nireq 4"); the parser wants two.
std::vector<std::string> with_double_dashes(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {
    std::string argument = argv[i];
    const bool long_name = argument.size() > 2 && argument[0] == '-' &&
                           std::isalpha(static_cast<unsigned char>(argument[1])) != 0 &&
                           std::isalpha(static_cast<unsigned char>(argument[2])) != 0;
    arguments.push_back(long_name ? "-" + argument : argument);
  }
  return arguments;  // CLI11 takes them last first
}

/// Every subcommand takes --device-library, too. The core that knows the libraries is kept.
void add_device_library_option(CLI::App& app, std::vector<std::string>& libraries,
                               std::shared_ptr<Core>& kept, int& exit_status) {
  app.fallthrough();
  app.add_option("--device-library", libraries,
                 "Library with devices of one's own (inference/custom_device.h), or a folder of "
                 "such; may be repeated")
      ->allow_extra_args(false);
  // Before the subcommand runs.
  app.parse_complete_callback([&] {
    if (libraries.empty()) return;
    kept = core();
    for (const std::string& library : libraries) {
      const Status status = kept->add_device_library(library);
      if (status.ok()) continue;
      exit_status = report(status);
      throw CLI::RuntimeError(exit_status);
    }
  });
}

bool has_subcommand(const CLI::App& app, const char* name) {
  if (name == nullptr) return false;
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  return std::ranges::any_of(
      commands, [name](const CLI::App* command) { return command->get_name() == name; });
}

}  // namespace
}  // namespace het

int main(int argc, char** argv) {
  CLI::App app("Runs, measures and verifies models on the devices of this machine.", "hetero");
  app.set_version_flag("--version", "hetero " + std::string(het::version()));
  app.require_subcommand(1);
  int exit_status = het::kExitOk;
  std::vector<std::string> device_libraries;
  std::shared_ptr<het::Core> core;
  het::add_device_library_option(app, device_libraries, core, exit_status);
  het::add_devices_command(app, exit_status);
  het::add_query_command(app, exit_status);
  het::add_run_command(app, exit_status);
  het::add_bench_command(app, exit_status);
  het::add_convert_command(app, exit_status);
  het::add_inspect_command(app, exit_status);
  het::add_accuracy_command(app, exit_status);
  het::add_verify_command(app, exit_status);
  if (!het::has_subcommand(app, argv[1])) het::become_other_program(argv);
  const std::string others = het::other_programs();
  if (!others.empty()) app.footer("Programs of their own: hetero " + others + " [--help]");
  try {
    app.parse(het::with_double_dashes(argc, argv));
  } catch (const CLI::RuntimeError&) {
    return exit_status;
  } catch (const CLI::ParseError& failure) {
    return app.exit(failure) == 0 ? het::kExitOk : het::kExitUsage;
  }
  return exit_status;
}
