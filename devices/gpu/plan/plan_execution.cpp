#include "devices/gpu/plan/plan_execution.h"

#include <algorithm>

namespace het::gpu {
namespace {

/// Round up: OpenCL 1.2 wants a global size that is a multiple of the local one.
size_t rounded(size_t global, size_t local) {
  return (global + local - 1) / local * local;
}

cl_uint dimensions_of(const Launch& launch) {
  if (launch.global[2] > 1) return 3;
  return launch.global[1] > 1 ? 2 : 1;
}

}  // namespace

Result<std::unique_ptr<PlanExecution>> PlanExecution::create(const Plan& plan,
                                                             const Context& context) {
  std::unique_ptr<PlanExecution> execution(new PlanExecution(plan));
  HET_TRY(execution->prepare(context));
  return execution;
}

Status PlanExecution::prepare(const Context& context) {
  if (plan_.arena_bytes > 0) {
    HET_ASSIGN(arena_, context.allocate(plan_.arena_bytes));
  }
  parts_.resize(plan_.tensors.size());
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const PlanTensor& tensor = plan_.tensors[i];
    if (tensor.parent != kNoTensor) continue;
    if (tensor.storage == Storage::Input) {
      inputs_.resize(std::max(inputs_.size(), tensor.port + 1), nullptr);
    } else if (tensor.storage == Storage::Arena && arena_ != nullptr) {
      const size_t bytes = size_bytes(tensor.spec);
      if (tensor.offset + bytes > plan_.arena_bytes) continue;  // no step touches it
      HET_ASSIGN(parts_[i], context.part(arena_, tensor.offset, bytes));
    }
  }
  outputs_.resize(plan_.outputs.size(), nullptr);
  for (size_t s = 0; s < plan_.steps.size(); ++s) {
    HET_TRY(prepare_step(s).with_context(plan_.steps[s].node_name));
  }
  return {};
}

Status PlanExecution::prepare_step(size_t index) {
  const Step& step = plan_.steps[index];
  cl_int code = CL_SUCCESS;
  KernelHandle kernel(clCreateKernel(step.program->handle.get(), step.kernel.c_str(), &code));
  HET_TRY(
      cl_status(code, fmt::format("make kernel '{}' of '{}'", step.kernel, step.program->name)));
  for (cl_uint i = 0; i < step.launch.args.size(); ++i) {
    const KernelArg& arg = step.launch.args[i];
    TensorId id = kNoTensor;
    code = CL_SUCCESS;
    if (const auto* integer = std::get_if<cl_int>(&arg)) {
      code = clSetKernelArg(kernel.get(), i, sizeof *integer, integer);
    } else if (const auto* real = std::get_if<cl_float>(&arg)) {
      code = clSetKernelArg(kernel.get(), i, sizeof *real, real);
    } else if (const auto* local = std::get_if<LocalBytes>(&arg)) {
      code = clSetKernelArg(kernel.get(), i, local->bytes, nullptr);
    } else {
      const auto* read = std::get_if<Read>(&arg);
      id = read != nullptr ? read->id : std::get<Write>(arg).id;
      cl_mem memory_object = nullptr;
      const Storage storage =
          id == kNoTensor ? Storage::Constant : plan_.tensor(plan_.root(id)).storage;
      if (storage == Storage::Input || storage == Storage::Output) {
        port_args_.push_back(
            {index, i, plan_.tensor(plan_.root(id)).port, storage == Storage::Output});
        continue;
      }
      if (id != kNoTensor) memory_object = memory(id);
      code = clSetKernelArg(kernel.get(), i, sizeof(cl_mem), &memory_object);
    }
    HET_TRY(cl_status(code, fmt::format("set argument {} of kernel '{}'", i, step.launch.kernel)));
  }
  kernels_.push_back(std::move(kernel));
  return {};
}

cl_mem PlanExecution::memory(TensorId id) const {
  const TensorId root = plan_.root(id);
  const PlanTensor& tensor = plan_.tensor(root);
  switch (tensor.storage) {
    case Storage::Input:
      return inputs_[tensor.port];
    case Storage::Output:
      return outputs_[tensor.port];
    case Storage::Constant:
      return tensor.constant != nullptr ? tensor.constant->get() : nullptr;
    case Storage::Arena:
      break;
  }
  const Memory& part = parts_[static_cast<size_t>(root)];
  return part != nullptr ? part->get() : nullptr;
}

Status PlanExecution::bind(cl_mem& bound, cl_mem memory, bool output, size_t port) {
  if (bound == memory) return {};
  bound = memory;
  for (const PortArg& arg : port_args_) {
    if (arg.output != output || arg.port != port) continue;
    HET_TRY(cl_status(clSetKernelArg(kernels_[arg.step].get(), arg.index, sizeof memory, &memory),
                      fmt::format("set argument {} of kernel '{}'", arg.index,
                                  plan_.steps[arg.step].launch.kernel)));
  }
  return {};
}

Status PlanExecution::enqueue(cl_command_queue queue, size_t step, cl_event* event) const {
  const Launch& launch = plan_.steps[step].launch;
  const cl_uint dimensions = dimensions_of(launch);
  Range global = launch.global;
  for (size_t i = 0; i < dimensions; ++i) global[i] = rounded(global[i], launch.local[i]);
  const cl_int code = clEnqueueNDRangeKernel(queue, kernels_[step].get(), dimensions, nullptr,
                                             global.data(), launch.local.data(), 0, nullptr, event);
  if (code == CL_SUCCESS) return {};
  return cl_status(code, fmt::format("run kernel '{}' over {}x{}x{} work-items in groups of "
                                     "{}x{}x{}",
                                     launch.kernel, global[0], global[1], global[2],
                                     launch.local[0], launch.local[1], launch.local[2]));
}

}  // namespace het::gpu
