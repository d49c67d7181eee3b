#include "inference/core.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "inference/model/source_path.h"
#include "inference/model_preparation.h"
#include "inference/ops/custom_operators.h"
#include "inference/passes/expose_state.h"
#include "inference/readers/mapped_file.h"
#include "inference/readers/onnx_reader.h"
#include "inference/readers/openvino_ir_reader.h"
#include "inference/requests/dynamic_model.h"
#include "inference/requests/stateful_model.h"

namespace het {
namespace {

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() >= ending.size() && text.substr(text.size() - ending.size()) == ending;
}

Result<std::shared_ptr<CompiledModel>> compile_stateless(const Model& model,
                                                         const CompileTarget& target) {
  const bool is_bound = std::ranges::all_of(
      model.inputs(), [](const ModelInput& input) { return is_static(input.value->desc().shape); });
  if (!is_bound) return DynamicCompiledModel::create(model, target);
  return target.device->compile_model(model, target.properties, target.context.get());
}

/// Devices see models with bound shapes and without state; the rest is wrapped around them.
Result<std::shared_ptr<CompiledModel>> compile(const Model& model, const CompileTarget& target) {
  if (!has_state(model)) return compile_stateless(model, target);
  const std::unique_ptr<Model> exposed = model.clone();
  HET_ASSIGN(std::vector<StatePorts> variables, expose_state(*exposed));
  auto inner = compile_stateless(*exposed, target);
  if (!inner) return Failure(inner.error().with_context("with its state as inputs and outputs"));
  return std::make_shared<StatefulCompiledModel>(std::move(*inner), std::move(variables));
}

/// By content: an IR file need not be called .xml.
Result<bool> starts_as_xml(const std::string& path) {
  HET_ASSIGN(const auto file, MappedFile::open(path));
  return looks_like_xml(file->bytes());
}

Result<std::unique_ptr<Model>> with_source(Result<std::unique_ptr<Model>> model,
                                           const std::string& path) {
  std::error_code no_folder;
  const std::string absolute = std::filesystem::absolute(path, no_folder).string();
  if (model && !no_folder) (*model)->metadata()[std::string(kSourcePathKey)] = absolute;
  return model;
}

}  // namespace

Core::Core() : process_(getpid()) {}
Core::~Core() = default;

Status Core::check_process() const {
  if (getpid() != process_) {
    return error(StatusCode::NotSupported,
                 "the inference core of process {} cannot be used in process {} after fork(): its "
                 "threads and devices stayed behind; create it after fork(), or exec()",
                 process_, getpid());
  }
  return {};
}

Result<std::unique_ptr<Model>> Core::read_model(const std::string& path,
                                                const std::vector<std::string>& overridden) const {
  HET_TRY(check_process());
  if (ends_with(path, ".bin")) {
    return error(StatusCode::InvalidArgument,
                 "'{}' holds weights, not a model: give the .xml beside it", path);
  }
  HET_ASSIGN(const bool is_xml, starts_as_xml(path));
  if (!is_xml) return with_source(read_onnx(path, overridden), path);
  if (overridden.empty()) return with_source(read_openvino_ir(path), path);
  return error(StatusCode::InvalidArgument,
               "constant '{}' of '{}' cannot become an input: an OpenVINO IR has no constants that "
               "are inputs, too",
               overridden[0], path);
}

Status Core::add_extension(const std::string& path) const {
  HET_TRY(check_process());
  return load_custom_operators(path);
}

Status Core::add_device_library(const std::string& path) {
  HET_TRY(check_process());
  return devices_.add_library(path);
}

Properties Core::default_properties(std::string_view device) const {
  std::lock_guard lock(mutex_);
  const auto defaults = defaults_.find(parse_device_name(device).kind);
  return defaults == defaults_.end() ? Properties() : defaults->second;
}

Result<std::string> Core::full_name(std::string_view device, const Properties& properties) const {
  const DeviceName name = parse_device_name(device);
  if (!devices_.is_composite(name.kind)) return std::string(device);
  std::string members = property_text(default_properties(device), "MULTI_DEVICE_PRIORITIES");
  bool is_given = false;
  for (const auto& [key, value] : properties) {
    const auto def = find_property(key, name.kind);
    if (!def || (*def)->name != "MULTI_DEVICE_PRIORITIES") continue;
    members = value;
    is_given = true;
  }
  if (name.arguments.empty()) return members.empty() ? name.kind : name.kind + ":" + members;
  if (is_given && members != name.arguments) {
    return error(StatusCode::InvalidArgument,
                 "device '{}' names other devices than the property MULTI_DEVICE_PRIORITIES, '{}'; "
                 "give one of them",
                 device, members);
  }
  return std::string(device);
}

Result<Properties> Core::merged_properties(std::string_view device,
                                           const Properties& properties) const {
  const std::string kind = parse_device_name(device).kind;
  const bool composite = devices_.is_composite(kind);
  HET_ASSIGN(Properties merged,
             validate_properties(properties, composite ? device : std::string_view(kind)));
  HET_TRY(load_extensions(merged));
  const Properties defaults = default_properties(device);
  merged.insert(defaults.begin(), defaults.end());
  return merged;
}

Result<std::vector<NodeSupport>> Core::query_model(const Model& model, std::string_view device,
                                                   const Properties& properties) {
  HET_TRY(check_process());
  HET_ASSIGN(const std::string name, full_name(device, properties));
  HET_ASSIGN(const std::shared_ptr<Device> target, devices_.get(*this, name));
  HET_ASSIGN(Properties merged, merged_properties(name, properties));
  HET_ASSIGN(const std::unique_ptr<Model> prepared, prepared_copy(model, merged));
  return target->query_model(prepared ? *prepared : model, merged);
}

Result<std::shared_ptr<CompiledModel>> Core::compile_model(
    const Model& model, std::string_view device, const Properties& properties,
    const std::shared_ptr<DeviceContext>& context) {
  HET_TRY(check_process());
  HET_ASSIGN(const std::string name, full_name(device, properties));
  HET_ASSIGN(const std::shared_ptr<Device> target, devices_.get(*this, name));
  HET_ASSIGN(Properties merged, merged_properties(name, properties));
  HET_ASSIGN(const std::unique_ptr<Model> prepared, prepared_copy(model, merged));
  auto compiled = compile(prepared ? *prepared : model, {target, merged, context});
  if (!compiled) {
    return Failure(compiled.error().with_context(
        fmt::format("cannot compile model '{}' for {}", model.name(), name)));
  }
  return compiled;
}

Result<std::shared_ptr<CompiledModel>> Core::import_model(std::istream& stream,
                                                          std::string_view device,
                                                          const Properties& properties) {
  HET_TRY(check_process());
  HET_ASSIGN(const std::string full, full_name(device, properties));
  HET_ASSIGN(const std::shared_ptr<Device> target, devices_.get(*this, full));
  for (const auto& [name, value] : properties) {
    if (!is_preparation_property(name)) continue;
    return error(StatusCode::InvalidArgument,
                 "property {} changes a model before it is compiled; the one to be imported is "
                 "compiled already: give it to the compile_model() before the export",
                 name);
  }
  HET_ASSIGN(const Properties merged, merged_properties(full, properties));
  auto imported = target->import_model(stream, merged);
  if (!imported) {
    return Failure(
        imported.error().with_context(fmt::format("cannot import a model for {}", device)));
  }
  return imported;
}

Result<std::shared_ptr<DeviceContext>> Core::create_context(std::string_view device,
                                                            const ContextParams& params) {
  HET_TRY(check_process());
  HET_ASSIGN(const std::shared_ptr<Device> target, devices_.get(*this, device));
  return target->create_context(params);
}

Status Core::set_property(std::string_view device, const Properties& properties) {
  HET_TRY(check_process());
  const DeviceName parts = parse_device_name(device);
  const std::string& kind = parts.kind;
  if (devices_.is_composite(kind) && !parts.arguments.empty()) {
    return error(StatusCode::InvalidArgument,
                 "cannot set properties of '{}' for later compiles: set them for {} and for the "
                 "devices in it",
                 device, kind);
  }
  HET_TRY(devices_.check_kind(device));
  HET_ASSIGN(const Properties checked, validate_properties(properties, kind));
  HET_ASSIGN(const bool may_come_later, devices_.configure(device, checked));
  if (!may_come_later) HET_TRY(devices_.get(*this, device));
  HET_TRY(load_extensions(checked));
  std::lock_guard lock(mutex_);
  for (const auto& [name, value] : checked) defaults_[kind][name] = value;
  return {};
}

Result<std::string> Core::get_property(std::string_view device, std::string_view name) {
  HET_TRY(check_process());
  HET_ASSIGN(const std::string full, full_name(device, {}));
  HET_ASSIGN(const std::shared_ptr<Device> target, devices_.get(*this, full));
  const Properties defaults = default_properties(device);
  const auto def = find_property(name, full);
  const auto value = defaults.find(std::string(def ? (*def)->name : name));
  return value != defaults.end() ? value->second : target->get_property(name);
}

}  // namespace het
