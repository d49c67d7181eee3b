// What OpenVINO's guide of heterogeneous execution does, step by step, with this library:
// automatic, manual and combined affinities, priorities, properties of single devices. Arguments: a
// model and the devices, most wanted first ("GPU,CPU").
#include <hetinference/cpp.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace {

using hetinference::CompiledModel;
using hetinference::Core;
using hetinference::Model;
using hetinference::Node;

void print(const char* what, const CompiledModel& compiled) {
  std::printf("%s:\n", what);
  for (const hetinference::Subgraph& subgraph : compiled.subgraphs()) {
    std::printf("  %s on %s: %zu nodes, from '%s' to '%s'\n", subgraph.name.c_str(),
                subgraph.device.c_str(), subgraph.nodes.size(), subgraph.inputs[0].c_str(),
                subgraph.outputs[0].c_str());
  }
}

/// What a model consists of.
void walk(const Model& model) {
  for (const Node& node : model.nodes()) {
    std::printf("%s %s reads", node.type_name().c_str(), node.friendly_name().c_str());
    for (const HetValue& input : node.inputs()) {
      if (input.kind != HET_VALUE_CONSTANT) std::printf(" '%s'", input.name);
    }
    std::printf("\n");
  }
}

/// Manual: every node is told where to run.
CompiledModel manual(Core& core, const std::string& path) {
  const Model model = core.read_model(path);
  for (Node node : model.nodes()) node.set_rt_info("affinity", "CPU");
  return core.compile_model(model, "HETERO:GPU,CPU");
}

/// Automatic: every node goes to the first device that takes it. The same in three spellings.
CompiledModel automatic(Core& core, const Model& model, const std::string& devices) {
  return core.compile_model(model, "HETERO:" + devices);
}
CompiledModel priorities_in_a_property(Core& core, const Model& model, const std::string& devices) {
  return core.compile_model(model, "HETERO", {{"MULTI_DEVICE_PRIORITIES", devices}});
}
CompiledModel priorities_as_defaults(Core& core, const Model& model, const std::string& devices) {
  core.set_property("HETERO", {{"MULTI_DEVICE_PRIORITIES", devices}});
  return core.compile_model(model, "HETERO");
}

/// Combined: what the devices say, but for single nodes.
Model combined(Core& core, const std::string& path, const std::string& devices) {
  Model model = core.read_model(path);
  std::map<std::string, std::string> supported =
      core.query_model(model, "HETERO:" + devices).devices();
  const std::string last = model.nodes().back().friendly_name();
  supported[last] = "CPU";
  model.set_affinities(supported);
  return model;
}

/// Each device has properties of its own; others were set beforehand and hold for what comes.
CompiledModel properties_of_devices(Core& core, const Model& model, const std::string& devices) {
  core.set_property("CPU", {{"INFERENCE_PRECISION_HINT", "f32"}});
  return core.compile_model(model, "HETERO",
                            {{"MULTI_DEVICE_PRIORITIES", devices},
                             {"CPU.PERF_COUNT", "YES"},
                             {"DEVICE_PROPERTIES", "{GPU:{INFERENCE_PRECISION_HINT:f16}}"}});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s MODEL DEVICE,DEVICE...\n", argv[0]);
    return 2;
  }
  const std::string path = argv[1];
  const std::string devices = argv[2];
  Core core;
  const Model model = core.read_model(path);
  walk(model);
  print("manual", manual(core, path));
  print("automatic", automatic(core, model, devices));
  print("priorities in a property", priorities_in_a_property(core, model, devices));
  print("priorities as defaults", priorities_as_defaults(core, model, devices));
  const Model changed = combined(core, path, devices);
  print("combined", core.compile_model(changed, "HETERO:" + devices));
  const CompiledModel compiled = properties_of_devices(core, changed, devices);
  print("properties of devices", compiled);
  for (const char* name : {"CPU.PERF_COUNT", "CPU.INFERENCE_PRECISION_HINT"}) {
    std::printf("  %s is %s\n", name, compiled.property(name).c_str());
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
