#include "devices/custom/custom_compiled_model.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "devices/custom/custom_request.h"
#include "devices/custom/exported_model.h"
#include "devices/custom/library_call.h"
#include "devices/custom/model_view.h"
#include "inference/tensors/custom_type_numbers.h"

namespace het::custom {
namespace {

constexpr uint32_t kMostRequests = 65536;
constexpr uint32_t kMostRank = 64;

std::string text_of(const HetValueDesc& desc) {
  if (desc.rank > kMostRank || (desc.rank > 0 && desc.shape == nullptr)) {
    return fmt::format("{} dimensions without a shape", desc.rank);
  }
  const Shape shape(desc.shape, desc.shape + desc.rank);
  return fmt::format("{}{}", to_string(custom_type(desc.type)), to_string(shape));
}

/// `count` descriptions of a library against the model's.
Status compare_ports(const std::vector<Port>& ports, const HetValueDesc* descs, uint32_t count,
                     std::string_view what) {
  if (count != ports.size() || (count > 0 && descs == nullptr)) {
    return error(StatusCode::Internal, "it has {} {}s, the model has {}", count, what,
                 ports.size());
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string wanted = text_of(value_desc(ports[i].desc));
    const std::string given = text_of(descs[i]);
    if (wanted == given) continue;
    return error(StatusCode::Internal, "its {} {} is {}, that of the model, '{}', is {}", what, i,
                 given, ports[i].name, wanted);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> CustomCompiledModel::create(
    std::shared_ptr<const OpenDevice> device, void* handle, CompiledParts parts) {
  const std::shared_ptr<CustomCompiledModel> model(
      new CustomCompiledModel(std::move(device), handle, std::move(parts)));
  HET_TRY(model->describe());
  HET_ASSIGN(model->host_stream_, StreamExecutor::create({1, "custom-host", {}}));
  return model;
}

CustomCompiledModel::CustomCompiledModel(std::shared_ptr<const OpenDevice> device, void* handle,
                                         CompiledParts parts)
    : CompiledModel(std::move(parts.name), std::move(parts.inputs), std::move(parts.outputs)),
      device_(std::move(device)),
      handle_(handle),
      properties_(std::move(parts.properties)) {}

CustomCompiledModel::~CustomCompiledModel() {
  device_->table().release_model(handle_);
}

Status CustomCompiledModel::describe() {
  HetCompiledDesc desc{};
  desc.struct_size = sizeof(HetCompiledDesc);
  LibraryCall call(device_->name(), "describe_model()");
  HET_TRY(call.run([&](const HetDeviceSink* sink) {
    return device_->table().describe_model(handle_, &desc, sink);
  }));
  Status status = compare_ports(inputs(), desc.inputs, desc.input_count, "input");
  if (status.ok()) {
    status = compare_ports(outputs(), desc.outputs, desc.output_count, "output");
  }
  if (!status.ok()) {
    return status.with_context(
        fmt::format("{} took model '{}' for another", device_->name(), name()));
  }
  optimal_requests_ = std::clamp(desc.optimal_requests, 1u, kMostRequests);
  return {};
}

Result<std::string> CustomCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, device_->library().kind()));
  if (def->name == "EXECUTION_DEVICES") return device_->name();
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "SUPPORTED_PROPERTIES") {
    return supported_properties(device_->library().kind());
  }
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(optimal_requests_);
  const std::string text(def->name);
  if (device_->table().get_model_property != nullptr) {
    LibraryCall call(device_->name(), "get_model_property()");
    const Status status = call.run([&](const HetDeviceSink* sink) {
      return device_->table().get_model_property(handle_, text.c_str(), sink);
    });
    if (status.ok()) return call.text;
    if (status.code() != StatusCode::NotFound) return Failure(status);
  }
  const auto given = properties_.find(text);
  return given != properties_.end() ? given->second : std::string(def->default_value);
}

Status CustomCompiledModel::set_property(const Properties& properties) {
  if (device_->table().set_model_property == nullptr) {
    return CompiledModel::set_property(properties);
  }
  HET_ASSIGN(const Properties checked, validate_properties(properties, device_->library().kind()));
  for (const auto& [name, value] : checked) {
    LibraryCall call(device_->name(), "set_model_property()");
    HET_TRY(call.run([&](const HetDeviceSink* sink) {
      return device_->table().set_model_property(handle_, name.c_str(), value.c_str(), sink);
    }));
  }
  return {};
}

Status CustomCompiledModel::export_model(std::ostream& stream) const {
  if (device_->table().export_model == nullptr) return CompiledModel::export_model(stream);
  std::ostringstream content;
  LibraryCall call(device_->name(), "export_model()");
  call.stream = &content;
  HET_TRY(call.run(
      [&](const HetDeviceSink* sink) { return device_->table().export_model(handle_, sink); }));
  const std::string bytes = std::move(content).str();
  return write_exported_model(stream, device_->library().kind(),
                              {name(), inputs(), outputs(), properties_},
                              std::as_bytes(std::span(bytes)));
}

Result<Tensor> CustomCompiledModel::allocate_tensor(const TensorDesc& desc) {
  return custom::allocate_tensor(device_, desc);
}

Result<std::unique_ptr<DeviceRequest>> CustomCompiledModel::create_device_request() {
  HET_ASSIGN(std::unique_ptr<CustomRequest> request, CustomRequest::create(*this));
  return std::unique_ptr<DeviceRequest>(std::move(request));
}

}  // namespace het::custom
