#include "devices/vpu/daemon/hosted_model.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "devices/register_devices.h"
#include "devices/vpu/daemon/half_rounding.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/onnx_reader.h"
#include "inference/requests/infer_request.h"
#include "inference/tensors/memory_packing.h"

namespace het::vpu {
namespace {

uint64_t device_bytes(const TensorDesc& desc) {
  const auto bytes = dense_size_bytes(desc);
  if (!bytes) return 0;
  return desc.type == ElementType::Float32 ? *bytes / 2 : *bytes;
}

uint64_t weight_bytes(const Model& model) {
  uint64_t bytes = 0;
  for (const auto& value : model.values()) {
    if (value->is_constant()) bytes += device_bytes(value->constant().desc());
  }
  return bytes;
}

/// What lives at the same time, packed.
uint64_t activation_bytes(const Model& model) {
  std::unordered_map<const Value*, Lifetime> lifetimes;
  for (size_t step = 0; step < model.nodes().size(); ++step) {
    const Node& node = *model.nodes()[step];
    for (const Value* output : node.outputs()) {
      if (output) lifetimes[output] = {device_bytes(output->desc()), step, step};
    }
    for (const Value* input : node.inputs()) {
      const auto known = lifetimes.find(input);
      if (known != lifetimes.end()) known->second.last = step;
    }
  }
  std::vector<Lifetime> all;
  for (const auto& [value, lifetime] : lifetimes) all.push_back(lifetime);
  return pack(all).bytes;
}

}  // namespace

Result<std::shared_ptr<DeviceModel>> HostedModel::create(std::span<const std::byte> file,
                                                         const Options& options) {
  std::shared_ptr<HostedModel> hosted(new HostedModel());
  HET_ASSIGN(hosted->source_, read_onnx_bytes(file, "the model of the host", ""));
  // Files do not say the types of all values.
  HET_TRY(prepare_model(*hosted->source_));
  hosted->memory_bytes_ = weight_bytes(*hosted->source_) + activation_bytes(*hosted->source_);
  if (hosted->memory_bytes_ > options.memory_limit) {
    return error(StatusCode::OutOfMemory, "the model takes {} bytes; a unit has {}",
                 hosted->memory_bytes_, options.memory_limit);
  }
  HET_TRY(round_to_half(*hosted->source_));
  hosted->options_ = options;
  HET_ASSIGN(hosted->plain_.model,
             core()->compile_model(*hosted->source_, options.device, options.properties));
  return std::shared_ptr<DeviceModel>(std::move(hosted));
}

Result<HostedModel::Slot*> HostedModel::take(Execution& execution) {
  std::lock_guard lock(mutex_);
  Variant& variant = execution.wants_stages ? profiled_ : plain_;
  if (variant.model == nullptr) {
    Properties profiled = options_.properties;
    profiled["PERF_COUNT"] = "YES";
    HET_ASSIGN(variant.model, core()->compile_model(*source_, options_.device, profiled));
  }
  if (variant.idle.empty()) {
    auto slot = std::make_unique<Slot>();
    HET_ASSIGN(slot->request, variant.model->create_infer_request());
    slot->request->set_callback(
        [this, it = slot.get()](const Status& status) { finish(*it, status); });
    variant.idle.push_back(slot.get());
    variant.slots.push_back(std::move(slot));
  }
  Slot* const slot = variant.idle.back();
  variant.idle.pop_back();
  slot->execution = &execution;
  return slot;
}

Status HostedModel::bind(Slot& slot) {
  for (size_t i = 0; i < slot.execution->inputs.size(); ++i) {
    HET_TRY(slot.request->set_input(i, slot.execution->inputs[i]));
  }
  for (size_t i = 0; i < slot.execution->outputs.size(); ++i) {
    HET_TRY(slot.request->set_output(i, slot.execution->outputs[i]));
  }
  return {};
}

void HostedModel::start(Execution& execution, End end) {
  const auto slot = take(execution);
  if (!slot) return end(slot.error());
  (*slot)->end = std::move(end);
  Status begun = bind(**slot);
  if (begun.ok()) begun = (*slot)->request->start_async();
  if (!begun.ok()) finish(**slot, std::move(begun));
}

void HostedModel::cancel(Execution& execution) {
  std::lock_guard lock(mutex_);
  for (Variant* variant : {&plain_, &profiled_}) {
    for (const auto& slot : variant->slots) {
      if (slot->execution == &execution) slot->request->cancel();
    }
  }
}

void HostedModel::finish(Slot& slot, Status status) {
  Execution& execution = *slot.execution;
  if (execution.wants_stages && status.ok()) {
    for (const ProfileRow& row : slot.request->profiling()) {
      if (row.status != ProfileStatus::Executed) continue;
      execution.stages.push_back(
          {row.node_name, row.exec_type, static_cast<uint64_t>(row.real_us) * 1000});
    }
  }
  const End end = std::move(slot.end);
  {
    std::lock_guard lock(mutex_);
    slot.execution = nullptr;
    (execution.wants_stages ? profiled_ : plain_).idle.push_back(&slot);
  }
  end(std::move(status));
}

}  // namespace het::vpu
