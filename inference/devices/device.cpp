#include "inference/devices/device.h"

namespace het {
namespace {

Result<size_t> find_port(const std::vector<Port>& ports, std::string_view name,
                         std::string_view kind, const std::string& model) {
  std::string valid;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == name) return i;
    valid += valid.empty() ? "'" : ", '";
    valid += ports[i].name + "'";
  }
  return error(StatusCode::NotFound, "model '{}' has no {} '{}'; it has {}", model, kind, name,
               valid.empty() ? "none" : valid);
}

}  // namespace

Result<size_t> CompiledModel::input_index(std::string_view name) const {
  return find_port(inputs_, name, "input", name_);
}

Result<size_t> CompiledModel::output_index(std::string_view name) const {
  return find_port(outputs_, name, "output", name_);
}

Status CompiledModel::set_property(const Properties& properties) {
  if (properties.empty()) return {};
  return error(StatusCode::NotSupported,
               "property {} of model '{}' cannot be changed any more: give it to compile_model()",
               properties.begin()->first, name_);
}

Status CompiledModel::export_model(std::ostream&) const {
  return error(StatusCode::NotSupported,
               "model '{}' cannot be exported: its device does not "
               "support export",
               name_);
}

Result<std::vector<StateVariable>> CompiledModel::query_state(std::string_view) const {
  return std::vector<StateVariable>{};
}

Status CompiledModel::reset_state(std::string_view) {
  return {};
}

Result<Tensor> CompiledModel::allocate_tensor(const TensorDesc& desc) {
  return Tensor::allocate(desc);
}

std::vector<SubgraphInfo> CompiledModel::subgraphs() const {
  return {};
}

std::vector<DeviceEvent> CompiledModel::device_events(uint64_t&) const {
  return {};
}

Result<Tensor> DeviceContext::wrap(TensorDesc, const MemoryHandle&, std::function<void()>) {
  return error(StatusCode::NotSupported, "a context of {} takes no memory of the application",
               device_name());
}

Result<Tensor> DeviceContext::allocate(TensorDesc) {
  return error(StatusCode::NotSupported, "a context of {} allocates no memory", device_name());
}

Result<std::shared_ptr<CompiledModel>> Device::import_model(std::istream&, const Properties&) {
  return error(StatusCode::NotSupported, "device {} cannot import models", name());
}

Result<std::shared_ptr<DeviceContext>> Device::create_context(const ContextParams&) {
  return error(StatusCode::NotSupported, "device {} cannot work in objects of the application",
               name());
}

}  // namespace het
