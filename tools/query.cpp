#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "devices/register_devices.h"
#include "inference/devices/older_names.h"
#include "inference/passes/multiply_adds.h"
#include "inference/passes/prepare_model.h"
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
  bool multiply_adds = false;
  bool json = false;
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

/// Multiply-adds by type of operator, or of every node as a JSON object.
Result<bool> print_multiply_adds(const QueryOptions& options) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const auto model, load_model(*core, options.model, options.preparation));
  HET_TRY(prepare_model(*model));
  double total = 0.0;
  std::map<std::string, std::pair<size_t, double>> types;
  nlohmann::json nodes = nlohmann::json::array();
  nlohmann::json unknown = nlohmann::json::array();
  for (const ProductWork& work : product_works(*model)) {
    if (!work.multiply_adds) {
      unknown.push_back(work.node->name());
      continue;
    }
    auto& [count, sum] = types[work.node->op_type()];
    ++count;
    sum += *work.multiply_adds;
    total += *work.multiply_adds;
    nodes.push_back({{"node", work.node->name()},
                     {"type", work.node->op_type()},
                     {"multiply_adds", *work.multiply_adds}});
  }
  if (options.json) {
    const nlohmann::json json = {{"multiply_adds", total}, {"nodes", nodes}, {"unknown", unknown}};
    std::printf("%s\n", json.dump(1).c_str());
    return true;
  }
  for (const auto& [type, work] : types) {
    std::printf("%-16s %5zu nodes %12.3f million multiply-adds\n", type.c_str(), work.first,
                work.second / 1e6);
  }
  std::printf("%.3f million multiply-adds in all\n", total / 1e6);
  if (!unknown.empty()) {
    std::printf("not counted, since their sizes are not known before they run: %zu nodes\n",
                unknown.size());
  }
  return true;
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
  CLI::Option* const multiply_adds =
      command->add_flag("--multiply-adds", options->multiply_adds,
                        "Print instead the multiply-adds of convolutions and matrix products");
  command->add_flag("--json", options->json, "With --multiply-adds: those of every node")
      ->needs(multiply_adds);
  add_preparation_options(*command, options->preparation);
  command->callback([options, &exit_status] {
    const auto all = options->guides          ? print_guides_of_device(*options)
                     : options->multiply_adds ? print_multiply_adds(*options)
                     : options->explain       ? print_plan(*options)
                                              : print_support(*options);
    exit_status = !all ? report(all.error()) : *all ? kExitOk : kExitFailed;
  });
}

}  // namespace het
