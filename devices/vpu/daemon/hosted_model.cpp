#include "devices/vpu/daemon/hosted_model.h"

#include <utility>

#include "devices/register_devices.h"
#include "devices/vpu/daemon/half_rounding.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/onnx_reader.h"

namespace het::vpu {
namespace {

/// As written, with no type chosen by the machine that it runs on.
Properties execution_properties(bool profiled) {
  return {{"EXECUTION_MODE_HINT", "ACCURACY"},
          {"INFERENCE_PRECISION_HINT", "f32"},
          {"CACHE_DIR", ""},
          {"PERF_COUNT", profiled ? "YES" : "NO"}};
}

uint64_t half_bytes_of(const Model& model) {
  uint64_t bytes = 0;
  for (const auto& value : model.values()) {
    if (!value->is_constant()) continue;
    const bool is_single = value->desc().type == ElementType::Float32;
    bytes += value->constant().size_bytes() / (is_single ? 2 : 1);
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<DeviceModel>> HostedModel::create(std::span<const std::byte> file,
                                                         const std::string& device) {
  std::shared_ptr<HostedModel> hosted(new HostedModel());
  HET_ASSIGN(hosted->model_, read_onnx_bytes(file, "the model of the host", ""));
  // Files do not say the types of all values.
  HET_TRY(prepare_model(*hosted->model_));
  hosted->memory_bytes_ = half_bytes_of(*hosted->model_);
  HET_TRY(round_to_half(*hosted->model_));
  hosted->device_ = device;
  HET_ASSIGN(hosted->plain_,
             core()->compile_model(*hosted->model_, device, execution_properties(false)));
  return std::shared_ptr<DeviceModel>(std::move(hosted));
}

Result<std::unique_ptr<InferRequest>> HostedModel::take(bool profiled) {
  std::lock_guard lock(mutex_);
  auto& idle = (profiled ? profiled_requests_ : plain_requests_).idle;
  if (!idle.empty()) {
    std::unique_ptr<InferRequest> request = std::move(idle.back());
    idle.pop_back();
    return request;
  }
  if (profiled && !profiled_) {
    HET_ASSIGN(profiled_, core()->compile_model(*model_, device_, execution_properties(true)));
  }
  return (profiled ? profiled_ : plain_)->create_infer_request();
}

Status HostedModel::run(Execution& execution) {
  HET_ASSIGN(std::unique_ptr<InferRequest> request, take(execution.wants_stages));
  for (size_t i = 0; i < execution.inputs.size(); ++i) {
    HET_TRY(request->set_input(i, execution.inputs[i]));
  }
  for (size_t i = 0; i < execution.outputs.size(); ++i) {
    HET_TRY(request->set_output(i, execution.outputs[i]));
  }
  HET_TRY(request->infer());
  if (execution.wants_stages) {
    for (const ProfileRow& row : request->profiling()) {
      if (row.status != ProfileStatus::Executed) continue;
      execution.stages.push_back(
          {row.node_name, row.exec_type, static_cast<uint64_t>(row.real_us) * 1000});
    }
  }
  std::lock_guard lock(mutex_);
  (execution.wants_stages ? profiled_requests_ : plain_requests_)
      .idle.push_back(std::move(request));
  return {};
}

}  // namespace het::vpu
