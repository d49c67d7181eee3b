#include "devices/custom/model_view.h"

#include <exception>
#include <utility>

#include "inference/tensors/custom_type_numbers.h"
#include "inference/writers/onnx_writer.h"

namespace het::custom {

HetValueDesc value_desc(const TensorDesc& desc) {
  HetValueDesc result{};
  result.type = custom_type_number(desc.type);
  result.rank = static_cast<uint32_t>(desc.shape.size());
  result.shape = desc.shape.data();
  return result;
}

HetValueDesc ModelView::value(const Value* value) const {
  if (value == nullptr) return {0, 0, HET_NO_VALUE, 0, nullptr};
  HetValueDesc result = value_desc(value->desc());
  result.is_constant = value->is_constant() ? 1 : 0;
  result.number = numbers_.at(value);
  return result;
}

std::vector<HetValueDesc> ModelView::values_of(const std::vector<Value*>& values) const {
  std::vector<HetValueDesc> descs;
  for (const Value* each : values) descs.push_back(value(each));
  return descs;
}

ModelView::ModelView(const Model& prepared) : prepared_(prepared) {
  for (const auto& each : prepared.values()) {
    numbers_.emplace(each.get(), static_cast<uint32_t>(numbers_.size()));
  }
  for (const auto& node : prepared.nodes()) {
    values_.push_back(values_of(node->inputs()));
    values_.push_back(values_of(node->outputs()));
  }
  for (size_t i = 0; i < prepared.nodes().size(); ++i) {
    const Node& node = *prepared.nodes()[i];
    const auto& inputs = values_[2 * i];
    const auto& outputs = values_[2 * i + 1];
    nodes_.push_back({sizeof(HetDeviceNode), node.name().c_str(), node.op_type().c_str(),
                      node.domain().c_str(), static_cast<uint32_t>(inputs.size()), inputs.data(),
                      static_cast<uint32_t>(outputs.size()), outputs.data()});
  }
  for (const HetDeviceNode& node : nodes_) node_pointers_.push_back(&node);
  for (const ModelInput& input : prepared.inputs()) {
    inputs_.push_back({input.value->name().c_str(), value(input.value)});
  }
  for (const ModelOutput& output : prepared.outputs()) {
    outputs_.push_back({output.name.c_str(), value(output.value)});
  }
  model_.struct_size = sizeof(HetDeviceModel);
  model_.context = this;
  model_.name = prepared.name().c_str();
  model_.node_count = static_cast<uint32_t>(nodes_.size());
  model_.nodes = node_pointers_.data();
  model_.input_count = static_cast<uint32_t>(inputs_.size());
  model_.inputs = inputs_.data();
  model_.output_count = static_cast<uint32_t>(outputs_.size());
  model_.outputs = outputs_.data();
  model_.onnx = [](void* context, const void** bytes, uint64_t* size_bytes) -> int32_t {
    auto& self = *static_cast<ModelView*>(context);
    self.failure_ = self.write();
    *bytes = self.failure_.ok() ? self.file_.data() : nullptr;
    *size_bytes = self.failure_.ok() ? self.file_.size() : 0;
    return self.failure_.ok() ? HET_CODE_OK : HET_CODE_NOT_SUPPORTED;
  };
}

/// Called by the library, which nothing must be thrown into.
Status ModelView::write() {
  if (!file_.empty()) return {};
  try {
    HET_ASSIGN(file_, write_onnx_bytes(prepared_));
  } catch (const std::exception& failure) {
    return Status(StatusCode::Internal, failure.what());
  }
  return {};
}

}  // namespace het::custom
