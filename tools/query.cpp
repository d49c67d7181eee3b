#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "devices/register_devices.h"
#include "inference/devices/older_names.h"
#include "tools/commands.h"
#include "tools/guides.h"
#include "tools/model_source.h"

namespace het {
namespace {

struct QueryOptions {
  std::string model;
  std::string device = "CPU";
  std::string properties;
  bool explain = false;
  bool guides = false;
  PreparationOptions preparation;
};

/// Compiles and prints how the model was placed.
Result<bool> print_plan(const QueryOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const auto model, load_model(*core, options.model, options.preparation));
  HET_ASSIGN(Properties properties, parse_properties(options.properties));
  replace_property(properties, "HETERO_EXPLAIN", "YES");
  HET_ASSIGN(const auto compiled, core->compile_model(*model, options.device, properties));
  HET_ASSIGN(const std::string plan, compiled->get_property("HETERO_PLAN"));
  std::printf("%s\n", plan.c_str());
  return true;
}

Result<bool> print_support(const QueryOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const Properties properties, parse_properties(options.properties));
  HET_ASSIGN(const auto model, load_unbound_model(*core, options.model, options.preparation));
  HET_ASSIGN(const auto nodes, core->query_model(*model, options.device, properties));
  size_t supported = 0;
  for (const NodeSupport& node : nodes) {
    supported += node.supported() ? 1 : 0;
    std::printf("%-8s %-24s %s%s%s\n", node.supported() ? node.device.c_str() : "-",
                node.op_type.c_str(), node.node_name.c_str(), node.reason.empty() ? "" : ": ",
                node.reason.c_str());
  }
  std::printf("%zu of %zu nodes run on %s\n", supported, nodes.size(), options.device.c_str());
  const std::string unbound = unbound_input(*model);
  if (!unbound.empty()) std::printf("As far as sizes are known: %s\n", unbound.c_str());
  return supported == nodes.size();
}

/// With the values that a compile would use: what was given, else the device's.
Result<bool> print_guides_of_device(const QueryOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const Properties given, parse_properties(options.properties));
  HET_ASSIGN(const Properties properties, validate_properties(given, options.device));
  print_guides(options.device, [&](std::string_view property) -> std::optional<std::string> {
    const auto it = properties.find(std::string(property));
    if (it != properties.end()) return it->second;
    const auto value = core->get_property(options.device, property);
    return value ? std::optional(*value) : std::nullopt;
  });
  return true;
}

}  // namespace

void add_query_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("query", "Print for each node its device, or why no device runs it");
  auto options = std::make_shared<QueryOptions>();
  command->add_option("model", options->model, "Model file")->required();
  command->add_option("-d,--device", options->device, "Device");
  command->add_option("--properties", options->properties,
                      "KEY=VALUE,KEY=VALUE such as HETERO_POLICY=latency");
  command->add_flag("--explain", options->explain,
                    "Compile for HETERO, measure, and print why the model was placed as it was");
  command->add_flag("--guides", options->guides,
                    "Print instead which property each point of OpenVINO's guides is on this "
                    "device, with its value");
  add_preparation_options(*command, options->preparation);
  command->callback([options, &exit_status] {
    const auto all = options->guides    ? print_guides_of_device(*options)
                     : options->explain ? print_plan(*options)
                                        : print_support(*options);
    exit_status = !all ? report(all.error()) : *all ? kExitOk : kExitFailed;
  });
}

}  // namespace het
