#include "hetero/multi/compiled_model.h"

#include <algorithm>
#include <utility>

#include "inference/device_registry.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {

Status check_same_ports(const CompiledModel& first, const CompiledModel& other) {
  for (const auto ports : {&CompiledModel::inputs, &CompiledModel::outputs}) {
    const std::vector<Port>& ours = (first.*ports)();
    const std::vector<Port>& theirs = (other.*ports)();
    if (ours.size() != theirs.size()) {
      return error(StatusCode::NotSupported, "{} ports instead of {}", theirs.size(), ours.size());
    }
    for (size_t i = 0; i < ours.size(); ++i) {
      if (ours[i].desc == theirs[i].desc) continue;
      return error(StatusCode::NotSupported, "port '{}' is {} there and {} on the other devices",
                   ours[i].name, to_string(theirs[i].desc), to_string(ours[i].desc));
    }
  }
  return {};
}

Result<std::shared_ptr<CompiledModel>> MultiCompiledModel::create(MultiParts parts) {
  std::shared_ptr<MultiCompiledModel> model(new MultiCompiledModel(std::move(parts)));
  FallBack fall_back = fall_back_of(model->parts_.properties);
  fall_back.on_loss = [events = model->parts_.events](const std::string& device,
                                                      const Status& cause) {
    events->add({device, cause.message()});
  };
  fall_back.on_return = [events = model->parts_.events](const std::string& device) {
    events->add({device, ""});
  };
  HET_ASSIGN(model->dispatcher_, MultiDispatcher::create(std::move(fall_back)));
  std::vector<ListedDevice> order;
  for (const MultiMember& member : model->parts_.members) {
    HET_TRY(model->dispatcher_->add(member.device, member.model, member.limit));
    order.push_back({member.device, std::nullopt});
  }
  HET_TRY(model->dispatcher_->set_order(order));
  return model;
}

MultiCompiledModel::MultiCompiledModel(MultiParts parts)
    : CompiledModel(parts.members[0].model->name(), parts.members[0].model->inputs(),
                    parts.members[0].model->outputs()),
      parts_(std::move(parts)),
      priorities_(parse_device_name(parts_.device).arguments) {}

Result<std::string> MultiCompiledModel::get_property(std::string_view name) const {
  if (const auto member = split_member_property(name)) return member_property(*member);
  HET_ASSIGN(const PropertyDef* def, find_property(name, parts_.device));
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(parts_.device);
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(dispatcher_->limit());
  if (def->name == "MULTI_DEVICE_PRIORITIES") {
    std::lock_guard lock(mutex_);
    return priorities_;
  }
  if (def->name == "EXECUTION_DEVICES") {
    std::string devices;
    for (const MultiMember& member : parts_.members) {
      devices += (devices.empty() ? "" : " ") + member.device;
    }
    return devices;
  }
  const auto given = parts_.properties.find(std::string(def->name));
  if (given != parts_.properties.end()) return given->second;
  // Of the first device that has it.
  for (const MultiMember& member : parts_.members) {
    if (auto value = member.model->get_property(def->name)) return value;
  }
  return property_text(parts_.properties, def->name);
}

Result<std::string> MultiCompiledModel::member_property(const MemberProperty& property) const {
  for (const MultiMember& member : parts_.members) {
    if (member.device != property.device &&
        parse_device_name(member.device).kind != property.device) {
      continue;
    }
    return member.model->get_property(property.name);
  }
  return error(StatusCode::NotFound, "model '{}' does not run on '{}'", this->name(),
               property.device);
}

Status MultiCompiledModel::set_property(const Properties& properties) {
  HET_ASSIGN(const Properties checked, validate_properties(properties, parts_.device));
  for (const auto& [name, value] : checked) {
    if (name != "MULTI_DEVICE_PRIORITIES") return CompiledModel::set_property({{name, value}});
  }
  for (const auto& [name, value] : checked) {
    HET_ASSIGN(const std::vector<ListedDevice> order,
               parse_listed_devices(parse_device_name(parts_.device).kind, value));
    std::lock_guard lock(mutex_);
    HET_TRY(dispatcher_->set_order(order));
    priorities_ = value;
  }
  return {};
}

Result<Tensor> MultiCompiledModel::allocate_tensor(const TensorDesc& desc) {
  return std::ranges::max_element(parts_.members, {}, &MultiMember::memory_kinds)
      ->model->allocate_tensor(desc);
}

Result<std::unique_ptr<DeviceRequest>> MultiCompiledModel::create_device_request() {
  return std::make_unique<MultiRequest>(*dispatcher_);
}

}  // namespace het::hetero
