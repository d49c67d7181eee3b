#include "hetero/hetero_import.h"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <map>
#include <span>
#include <streambuf>
#include <utility>

#include "hetero/execution/exported_plan.h"
#include "hetero/execution/hetero_compiled_model.h"
#include "hetero/hetero_compiler.h"
#include "hetero/members/member_context.h"
#include "inference/base/log.h"

namespace het::hetero {
namespace {

constexpr std::string_view kHeteroDevice = "HETERO";

/// Bytes in memory as a stream that can seek.
class SpanBuffer final : public std::streambuf {
 public:
  explicit SpanBuffer(std::span<const std::byte> bytes) {
    // The get area is only read.
    auto* const begin = const_cast<char*>(reinterpret_cast<const char*>(bytes.data()));
    setg(begin, begin, begin + bytes.size());
  }

 private:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) override {
    const off_type base = from == std::ios_base::beg   ? 0
                          : from == std::ios_base::cur ? gptr() - eback()
                                                       : egptr() - eback();
    const off_type place = base + offset;
    if (place < 0 || place > egptr() - eback()) return pos_type(off_type(-1));
    setg(eback(), eback() + place, egptr());
    return pos_type(place);
  }
  pos_type seekpos(pos_type place, std::ios_base::openmode mode) override {
    return seekoff(off_type(place), std::ios_base::beg, mode);
  }
};

/// The devices that the subgraphs run on, in the order of the file's list; with fail-over also the
/// others that this machine has.
Result<std::vector<MemberDevice>> devices_of(const ExportedPlan& plan, bool with_fail_over,
                                             Core& core) {
  std::string used;
  std::string_view rest = plan.devices;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find_first_of(",;"));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    const bool is_used = std::ranges::any_of(plan.ways, [&](const ExportedWay& way) {
      return std::ranges::find(way.split.subgraphs, name, &Subgraph::device) !=
             way.split.subgraphs.end();
    });
    const bool may_help = with_fail_over && !is_used && core.devices().get(core, name).has_value();
    if (is_used || may_help) used += (used.empty() ? "" : ",") + std::string(name);
  }
  if (used.empty()) return std::vector<MemberDevice>();
  auto members = parse_device_list(core, kHeteroDevice, used);
  if (!members) {
    return Failure(members.error().with_context(
        fmt::format("the model was exported for {}:{}", kHeteroDevice, plan.devices)));
  }
  return members;
}

Status check_ports(const Subgraph& subgraph, const std::vector<Port>& wanted,
                   const std::vector<Port>& imported) {
  if (std::ranges::equal(wanted, imported, same_port)) return {};
  return error(StatusCode::ParseError,
               "the exported model is malformed: what {} imported as {} has other ports than the "
               "split says; export it again",
               subgraph.device, subgraph.name);
}

Result<std::shared_ptr<CompiledModel>> import_subgraph(const Subgraph& subgraph,
                                                       const ExportedSubgraph& exported,
                                                       const MemberDevice& member,
                                                       const Properties& properties) {
  SpanBuffer buffer(exported.content);
  std::istream stream(&buffer);
  auto model = member.device->import_model(stream, properties);
  if (!model) {
    return Failure(model.error().with_context(
        fmt::format("cannot import {} for {}", subgraph.name, member.name)));
  }
  HET_TRY(check_ports(subgraph, exported.inputs, (*model)->inputs()));
  HET_TRY(check_ports(subgraph, exported.outputs, (*model)->outputs()));
  return model;
}

/// The file's, and what is given for devices: the split was made by HETERO's own as they were.
Result<Properties> merge_properties(const ExportedPlan& plan, const Properties& given) {
  HET_ASSIGN(
      Properties merged,
      validate_properties(plan.properties, fmt::format("{}:{}", kHeteroDevice, plan.devices)));
  merged["HETERO_FAIL_OVER"] = "NO";
  for (const auto& [name, value] : given) {
    const bool is_own = std::ranges::find(kOwnProperties, name) != kOwnProperties.end();
    if (!is_own || name == "WEIGHTS_PATH" || name == "HETERO_RETRY_INTERVAL") {
      merged[name] = value;
    } else if (name == "HETERO_FAIL_OVER") {
      // Where it can be: import_hetero_model().
    } else if (name != "MULTI_DEVICE_PRIORITIES" && property_text(merged, name) != value) {
      log(LogLevel::Warning, "model '{}' was imported: it has {}={}, not {}", plan.model, name,
          property_text(merged, name), value);
    }
  }
  return merged;
}

Result<std::shared_ptr<HeteroPlan>> import_way(const ExportedWay& way,
                                               const std::vector<MemberDevice>& members,
                                               const Properties& given) {
  std::vector<std::shared_ptr<CompiledModel>> models;
  std::vector<size_t> memory_kinds;
  std::vector<std::vector<MemoryKind>> in_place;
  for (size_t i = 0; i < way.subgraphs.size(); ++i) {
    const Subgraph& subgraph = way.split.subgraphs[i];
    const auto member = std::ranges::find(members, subgraph.device, &MemberDevice::name);
    if (member == members.end()) {
      std::string names;
      for (const MemberDevice& each : members) names += (names.empty() ? "" : ",") + each.name;
      return error(StatusCode::InvalidArgument,
                   "{} of the exported model runs on {}, which is not in {}:{}", subgraph.name,
                   subgraph.device, kHeteroDevice, names);
    }
    HET_ASSIGN(std::shared_ptr<CompiledModel> model,
               import_subgraph(subgraph, way.subgraphs[i], *member,
                               member_properties(*member, given, kOwnProperties)));
    models.push_back(std::move(model));
    memory_kinds.push_back(member->device->direct_memory_kinds().size());
    in_place.push_back(kinds_in_place(*member, {}));
  }
  const auto plan = std::make_shared<HeteroPlan>(way.split, std::move(models),
                                                 std::move(memory_kinds), Executor::Parallel);
  plan->in_place = std::move(in_place);
  for (const ExportedSubgraph& each : way.subgraphs) plan->node_names.push_back(each.nodes);
  plan->turns = way.turns;
  return plan;
}

/// The file has a source where the model had fail-over when it was exported.
bool wants_fail_over(const ExportedPlan& plan, const Properties& given) {
  if (given.contains("HETERO_FAIL_OVER")) return property_boolean(given, "HETERO_FAIL_OVER");
  return plan.source || given.contains("WEIGHTS_PATH");
}

/// "model.bin" lies beside "model.xml".
std::string model_file(const std::string& given) {
  std::filesystem::path path = given;
  if (path.extension() == ".bin") path.replace_extension(".xml");
  return path.string();
}

/// The model that was compiled, read anew: with the shapes and the preprocessing of the ports.
Result<std::shared_ptr<HeteroCompiler>> compiler_of(const ExportedPlan& plan,
                                                    const std::string& path, Core& core,
                                                    const HeteroParts& parts,
                                                    const std::vector<MemberDevice>& members) {
  HET_ASSIGN(const std::unique_ptr<Model> model, core.read_model(path));
  const auto changed = [&] {
    return error(StatusCode::InvalidArgument,
                 "'{}' is not what was compiled: the file has changed, or the model was changed "
                 "between reading and compiling",
                 path);
  };
  model->set_name(plan.model);
  std::map<std::string, Shape> shapes;
  for (const Port& port : plan.inputs) shapes[port.name] = port.desc.shape;
  if (shapes.size() != model->inputs().size() || !model->reshape(shapes).ok()) return changed();
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    HET_ASSIGN(const size_t index, find_input(*model, plan.inputs[i].name));
    if (index != i) return changed();
    model->set_preprocess(i, plan.inputs[i].preprocess);
  }
  HET_ASSIGN(std::shared_ptr<HeteroCompiler> compiler,
             HeteroCompiler::create(*model, parts.device, members, parts.properties,
                                    /*is_query=*/false));
  HET_ASSIGN(const uint64_t fingerprint, compiler->fingerprint());
  if (fingerprint != plan.source->fingerprint) return changed();
  return compiler;
}

struct ImportedWays {
  std::vector<PlanWay> ways;
  std::vector<std::shared_ptr<HeteroPlan>> plans;  ///< theirs
};

Result<std::shared_ptr<CompiledModel>> with_fail_over(const ExportedPlan& plan,
                                                      const ImportedWays& imported, Core& core,
                                                      HeteroParts& parts,
                                                      const std::vector<MemberDevice>& members) {
  if (!plan.source) {
    return error(StatusCode::NotFound,
                 "it had none when it was exported (HETERO_FAIL_OVER=NO, HETERO_STRICT or one "
                 "device), so its file does not say what its model was");
  }
  const std::string given = property_text(parts.properties, "WEIGHTS_PATH");
  const std::string path = model_file(given.empty() ? plan.source->path : given);
  if (path.empty()) {
    return error(StatusCode::NotFound,
                 "it does not say which file the model was read from: WEIGHTS_PATH does");
  }
  if (members.size() < 2) return error(StatusCode::NotFound, "there is no other device");
  parts.properties["HETERO_FAIL_OVER"] = "YES";
  HET_ASSIGN(const std::shared_ptr<HeteroCompiler> compiler,
             compiler_of(plan, path, core, parts, members));
  return compiler->adopt(imported.ways, imported.plans, plan.requests, plan.explanation);
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> import_hetero_model(std::istream& stream, Core& core,
                                                           std::vector<MemberDevice> members,
                                                           const Properties& given) {
  HET_ASSIGN(ExportedPlan plan, read_exported_plan(stream));
  HeteroParts parts;
  HET_ASSIGN(parts.properties, merge_properties(plan, given));
  std::string list = plan.devices;
  const bool wants = wants_fail_over(plan, given);
  if (members.empty()) {
    HET_ASSIGN(members, devices_of(plan, wants, core));
  } else {
    list.clear();
    for (const MemberDevice& member : members) list += (list.empty() ? "" : ",") + member.name;
  }
  parts.device = fmt::format("{}:{}", kHeteroDevice, list);
  ImportedWays imported;
  for (const ExportedWay& way : plan.ways) {
    HET_ASSIGN(std::shared_ptr<HeteroPlan> each, import_way(way, members, given));
    imported.ways.push_back({each, way.share});
    imported.plans.push_back(std::move(each));
  }
  if (wants) {
    auto model = with_fail_over(plan, imported, core, parts, members);
    if (model) return model;
    // A path that the application gives is no guess.
    if (given.contains("WEIGHTS_PATH")) {
      return Failure(model.error().with_context("cannot take WEIGHTS_PATH for fail-over"));
    }
    log(LogLevel::Info, "model '{}' was imported without fail-over: {}", plan.model,
        model.error().message());
    parts.properties["HETERO_FAIL_OVER"] = "NO";
  }
  parts.plan = std::make_shared<const PlanMix>(std::move(imported.ways), plan.requests,
                                               std::move(plan.explanation));
  parts.events = std::make_shared<DeviceEvents>(plan.model, parts.device);
  parts.name = std::move(plan.model);
  parts.inputs = std::move(plan.inputs);
  parts.outputs = std::move(plan.outputs);
  return std::make_shared<HeteroCompiledModel>(std::move(parts));
}

}  // namespace het::hetero
