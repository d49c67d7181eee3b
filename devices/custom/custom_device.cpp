#include "devices/custom/custom_device.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "devices/custom/custom_compiled_model.h"
#include "devices/custom/device_memory.h"
#include "devices/custom/exported_model.h"
#include "devices/custom/library_call.h"
#include "devices/custom/model_view.h"
#include "inference/devices/ports.h"
#include "inference/passes/prepare_model.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het::custom {
namespace {

constexpr uint32_t kMostDevices = 1024;

uint32_t device_count(const HetCustomDevice& table) {
  if (table.device_count == nullptr) return 1;
  try {
    return std::min(table.device_count(), kMostDevices);
  } catch (...) {
    return 0;
  }
}

/// Why no library is asked about a node; empty where it is.
std::string host_refusal(const Node& node, bool is_bound) {
  if (!is_bound && reads_unknown_sizes(node)) return {};
  for (const auto* values : {&node.inputs(), &node.outputs()}) {
    for (const Value* value : *values) {
      if (value == nullptr) continue;
      if (custom_type_number(value->desc().type) == 0) {
        return fmt::format("a device of a library has no {} values", to_string(value->desc().type));
      }
      if (!value->desc().is_static()) return "the size of a value is known at run time only";
    }
  }
  return {};
}

class CustomDevice final : public Device {
 public:
  explicit CustomDevice(std::shared_ptr<const OpenDevice> device) : device_(std::move(device)) {}

  std::string_view name() const override { return device_->name(); }

  Result<std::string> get_property(std::string_view name) const override {
    const std::string& kind = device_->library().kind();
    HET_ASSIGN(const PropertyDef* def, find_property(name, kind));
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kind);
    if (def->name == "EXECUTION_DEVICES") return device_->name();
    if (table().get_property != nullptr) {
      LibraryCall call(device_->name(), "get_property()");
      const std::string text(def->name);
      const Status status = call.run([&](const HetDeviceSink* sink) {
        return table().get_property(device_->handle(), text.c_str(), sink);
      });
      if (status.ok()) return call.text;
      if (status.code() != StatusCode::NotFound) return Failure(status);
    }
    if (def->name == "FULL_DEVICE_NAME") return fmt::format("{} of a library", kind);
    if (def->name == "DEVICE_TYPE") return "discrete";
    return std::string(def->default_value);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    if (table().allocate_memory == nullptr) return {MemoryKind::Host};
    return {MemoryKind::Host, MemoryKind::CustomDevice};
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    const std::unique_ptr<Model> prepared = model.clone();
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    HET_TRY(prepared->sort());
    ModelView view(*prepared);
    HET_ASSIGN(const Refusals refusals, refusals_of(*prepared, view, properties));
    return query_rows(model, *prepared, failures, device_->name(),
                      [&](const Node& node) { return refusals.at(&node); });
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    if (context != nullptr) {
      return error(StatusCode::NotSupported, "{} cannot work in objects of the application",
                   device_->name());
    }
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_TRY(prepared->sort());
    ModelView view(*prepared);
    HET_TRY(check_nodes(*prepared, view, properties));
    LibraryCall call(device_->name(), "compile_model()");
    const PropertyList list(properties);
    void* compiled = nullptr;
    const Status status = call.run([&](const HetDeviceSink* sink) {
      return table().compile_model(device_->handle(), &view.model(), list.data(), list.size(), sink,
                                   &compiled);
    });
    if (!status.ok()) return Failure(with_file_failure(status, view));
    return CustomCompiledModel::create(
        device_, compiled,
        {prepared->name(), input_ports(*prepared), output_ports(*prepared), properties});
  }

  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    if (table().import_model == nullptr) return Device::import_model(stream, properties);
    const std::string& kind = device_->library().kind();
    HET_ASSIGN(ExportedModel exported, read_exported_model(stream, kind));
    HET_ASSIGN(Properties merged, validate_properties(exported.parts.properties, kind));
    for (const auto& [name, value] : properties) merged[name] = value;
    LibraryCall call(device_->name(), "import_model()");
    const PropertyList list(merged);
    void* compiled = nullptr;
    HET_TRY(call.run([&](const HetDeviceSink* sink) {
      return table().import_model(device_->handle(), exported.content.data(),
                                  exported.content.size(), list.data(), list.size(), sink,
                                  &compiled);
    }));
    exported.parts.properties = std::move(merged);
    return CustomCompiledModel::create(device_, compiled, std::move(exported.parts));
  }

 private:
  using Refusals = std::unordered_map<const Node*, std::string>;

  const HetCustomDevice& table() const { return device_->table(); }

  static Status with_file_failure(const Status& status, const ModelView& view) {
    return view.failure().ok() ? status : status.with_context(view.failure().message());
  }

  /// A reason for each node, empty where the device takes it.
  Result<Refusals> refusals_of(const Model& prepared, ModelView& view,
                               const Properties& properties) const {
    LibraryCall call(device_->name(), "query_model()");
    call.answers.resize(prepared.nodes().size());
    const PropertyList list(properties);
    if (!call.answers.empty()) {
      const Status status = call.run([&](const HetDeviceSink* sink) {
        return table().query_model(device_->handle(), &view.model(), list.data(), list.size(),
                                   sink);
      });
      // What no file can say is for others.
      if (!view.failure().ok()) call.answers.assign(call.answers.size(), view.failure().message());
      if (!status.ok() && view.failure().ok()) return Failure(status);
    }
    const bool is_bound = check_inputs_static(prepared).ok();
    Refusals refusals;
    for (size_t i = 0; i < call.answers.size(); ++i) {
      const Node& node = *prepared.nodes()[i];
      std::string& reason = refusals[&node];
      reason = host_refusal(node, is_bound);
      if (!reason.empty()) continue;
      reason = call.answers[i] ? *call.answers[i]
                               : fmt::format("the library of {} says nothing about this {}",
                                             device_->name(), node.op_type());
    }
    return refusals;
  }

  /// Fails with every node that is refused.
  Status check_nodes(const Model& prepared, ModelView& view, const Properties& properties) const {
    HET_ASSIGN(const Refusals refusals, refusals_of(prepared, view, properties));
    std::string refused;
    for (const auto& node : prepared.nodes()) {
      const std::string& reason = refusals.at(node.get());
      if (reason.empty()) continue;
      refused += fmt::format("{}node '{}': {}", refused.empty() ? "" : "; ", node->name(), reason);
    }
    if (refused.empty()) return {};
    return error(StatusCode::NotSupported, "{} does not run model '{}': {}", device_->name(),
                 prepared.name(), refused);
  }

  const std::shared_ptr<const OpenDevice> device_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_device(const DeviceLibrary& library, std::string_view id) {
  const uint32_t count = device_count(library.table());
  uint32_t index = 0;
  const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), index);
  const bool is_number = failed == std::errc() && end == id.data() + id.size();
  std::string name = id.empty() ? library.kind() : fmt::format("{}.{}", library.kind(), id);
  if ((!id.empty() && !is_number) || index >= count) {
    return error(StatusCode::NotFound, "there is no {}: {} has {} device(s)", name, library.title(),
                 count);
  }
  HET_ASSIGN(auto device, OpenDevice::open(library, std::move(name), index));
  return std::make_shared<CustomDevice>(std::move(device));
}

std::vector<std::string> device_ids(const DeviceLibrary& library) {
  const uint32_t count = device_count(library.table());
  if (count == 1) return {""};
  std::vector<std::string> ids;
  for (uint32_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

}  // namespace het::custom
