#include "devices/gpu/gpu_compiled_model.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "devices/gpu/exported_model.h"
#include "devices/gpu/fuse.h"
#include "devices/gpu/gpu_request.h"
#include "devices/gpu/int8_choice.h"
#include "devices/gpu/kernels/windows/picture_kernel.h"
#include "devices/gpu/memory/host_buffer.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/plan_execution.h"
#include "inference/devices/cache_folder.h"
#include "inference/devices/ports.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/prepare_model.h"

namespace het::gpu {
namespace {

ProfileRow profile_row(const Plan& plan, const Step& step) {
  ProfileRow row{.node_name = step.node_name,
                 .status = ProfileStatus::NotRun,
                 .layer_type = step.layer_type,
                 .exec_type = step.implementation};
  const std::vector<TensorId> outputs = written_by(step);
  for (const auto& ids : {read_by(step), outputs}) {
    for (const TensorId id : ids)
      row.bytes += static_cast<int64_t>(size_bytes(plan.tensor(id).spec));
  }
  if (!outputs.empty()) {
    const TensorSpec& spec = plan.tensor(outputs.front()).spec;
    row.type = std::string(to_string(spec.type));
    row.layout = std::string(to_string(spec.format));
  }
  return row;
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> GpuCompiledModel::create(const Model& model,
                                                                const Properties& properties,
                                                                std::shared_ptr<Context> context,
                                                                std::string_view device_name) {
  HET_ASSIGN(const StreamSettings settings, stream_settings(properties, context->hardware()));
  const Int8Use int8 = int8_use(properties);
  const std::unique_ptr<Model> prepared = model.clone();
  if (int8 != Int8Use::No) HET_TRY(restore_dequantisation(*prepared));
  HET_TRY(prepare_model(*prepared));
  std::unique_ptr<const Model> exported = prepared->clone();
  note_cache_bound(properties);
  const std::string folder = cache_dir(properties);
  PlanOptions options;
  options.stored_type = settings.stored_type;
  options.fast_algorithms = settings.fast_algorithms;
  options.cache_folder = folder;
  options.measure = !property_boolean(properties, "DETERMINISTIC");
  HET_ASSIGN(options.custom_layers, custom_layers(properties));
  HET_ASSIGN(const bool uses_int8, choose_int8(*prepared, context, options, int8));
  HET_TRY(fuse(*prepared, uses_int8));
  HET_ASSIGN(Plan plan, PlanBuilder(*prepared, context, options).build());
  const std::shared_ptr<GpuCompiledModel> compiled(new GpuCompiledModel(
      model, *prepared, std::move(plan), settings, properties, std::move(context), device_name));
  compiled->exported_ = std::move(exported);
  compiled->uses_int8_ = uses_int8;
  HET_TRY(compiled->start_streams());
  ProgramCache& programs = compiled->context_->programs();
  std::vector<KernelUse> uses = kernel_uses(compiled->plan_);
  if (!programs.not_run(uses).empty()) HET_TRY(compiled->warm_up());
  HET_ASSIGN(const std::vector<KernelUse> of_pictures, compiled->prepare_pictures());
  uses.insert(uses.end(), of_pictures.begin(), of_pictures.end());
  programs.save(uses, folder);
  return std::shared_ptr<CompiledModel>(compiled);
}

GpuCompiledModel::GpuCompiledModel(const Model& original, const Model& prepared, Plan plan,
                                   const StreamSettings& settings, Properties properties,
                                   std::shared_ptr<Context> context, std::string_view device_name)
    : CompiledModel(original.name(), input_ports(prepared), output_ports(prepared)),
      context_(std::move(context)),
      device_name_(device_name),
      plan_(std::move(plan)),
      settings_(settings),
      properties_(std::move(properties)) {
  std::unordered_map<std::string, size_t> rows;
  const bool on_device = std::any_of(inputs().begin(), inputs().end(), [this](const Port& port) {
    return converts_pictures_of(port);
  });
  rows_.push_back({.node_name = "preprocess",
                   .status = ProfileStatus::NotRun,
                   .layer_type = "Preprocess",
                   .exec_type = on_device ? "opencl" : "preprocess"});
  std::unordered_map<std::string_view, std::string_view> fused_into;
  for (const Step& step : plan_.steps) {
    for (const std::string& name : step.fused_names) fused_into.emplace(name, step.node_name);
    const auto [row, fresh] = rows.emplace(step.node_name, rows_.size());
    if (fresh) rows_.push_back(profile_row(plan_, step));
    step_rows_.push_back(row->second);
  }
  for (const auto& node : original.nodes()) {
    if (rows.count(node->name()) > 0) continue;
    const auto step = fused_into.find(node->name());
    rows_.push_back({.node_name = node->name(),
                     .status = ProfileStatus::OptimizedOut,
                     .layer_type = node->qualified_type(),
                     .exec_type = step == fused_into.end()
                                      ? std::string("undef")
                                      : fmt::format("fused:{}", step->second)});
  }
}

Result<std::shared_ptr<CompiledModel>> GpuCompiledModel::import(std::istream& stream,
                                                                const Properties& properties,
                                                                const ContextOf& context,
                                                                std::string_view device_name) {
  HET_ASSIGN(const ExportedModel exported, read_exported_model(stream));
  HET_ASSIGN(Properties merged, validate_properties(exported.properties, "GPU"));
  for (const auto& [name, value] : properties) merged[name] = value;
  HET_ASSIGN(std::shared_ptr<Context> used, context(merged));
  return create(*exported.model, merged, std::move(used), device_name);
}

Status GpuCompiledModel::export_model(std::ostream& stream) const {
  return write_exported_model(stream, *exported_, properties_);
}

Status GpuCompiledModel::start_streams() {
  for (size_t i = 0; i < settings_.streams; ++i) {
    HET_ASSIGN(QueueHandle queue,
               context_->create_queue(settings_.profiled, settings_.priority, settings_.throttle));
    queues_.push_back(std::move(queue));
  }
  StreamExecutorOptions options;
  if (settings_.completion == Completion::Wait) {
    for (size_t i = 0; i < settings_.streams; ++i) {
      options.thread_name = fmt::format("{}.wait", device_name_);
      HET_ASSIGN(auto thread, StreamExecutor::create(options));
      waiting_threads_.push_back(std::move(thread));
    }
  }
  options.streams = settings_.streams;
  options.thread_name = device_name_;
  HET_ASSIGN(streams_, StreamExecutor::create(options));
  return {};
}

Status GpuCompiledModel::warm_up() {
  HET_ASSIGN(const auto execution, PlanExecution::create(plan_, *context_));
  std::vector<Memory> ports;
  const auto zeros = [&](const TensorDesc& desc) -> Result<cl_mem> {
    HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
    const std::vector<std::byte> content(bytes);
    HET_ASSIGN(Memory memory, context_->allocate(bytes));
    if (bytes > 0) {
      HET_TRY(cl_status(clEnqueueWriteBuffer(queue(0), memory->get(), CL_TRUE, 0, bytes,
                                             content.data(), 0, nullptr, nullptr),
                        "send zeros to the device"));
    }
    ports.push_back(std::move(memory));
    return ports.back()->get();
  };
  for (size_t port = 0; port < inputs().size(); ++port) {
    HET_ASSIGN(const cl_mem memory, zeros(inputs()[port].desc));
    HET_TRY(execution->bind_input(port, memory));
  }
  for (size_t port = 0; port < outputs().size(); ++port) {
    HET_ASSIGN(const cl_mem memory, zeros(outputs()[port].desc));
    HET_TRY(execution->bind_output(port, memory));
  }
  Status status;
  for (size_t i = 0; i < plan_.steps.size() && status.ok(); ++i) {
    status = execution->enqueue(queue(0), i, nullptr).with_context(plan_.steps[i].node_name);
  }
  const cl_int code = clFinish(queue(0));
  HET_TRY(std::move(status));
  return cl_status(code, "run the model for the first time");
}

Result<std::vector<KernelUse>> GpuCompiledModel::prepare_pictures() {
  std::vector<KernelUse> uses;
  for (const Port& port : inputs()) {
    // What does not fit the tensor is an error of who sets a picture.
    if (!converts_pictures_of(port) || !validate(*port.preprocess, port.desc).ok()) continue;
    HET_ASSIGN(const auto kernel, PictureKernel::create(context_, port, cache_folder()));
    uses.push_back(kernel->use());
    if (context_->programs().not_run({kernel->use()}).empty()) continue;
    HET_ASSIGN(const Image image, make_host_image(PixelFormat::GRAY8, 2, 2));
    std::fill_n(image.planes[0].buffer->host(), image.planes[0].buffer->size_bytes(), std::byte{});
    HET_ASSIGN(const Tensor input, Tensor::allocate(port.desc));
    HET_ASSIGN(const Memory memory, context_->allocate(input.size_bytes()));
    Status status =
        kernel->enqueue(queue(0), {image, image.full()}, input, 0, memory->get(), nullptr);
    const cl_int code = clFinish(queue(0));
    kernel->release();
    HET_TRY(std::move(status));
    HET_TRY(cl_status(code, "convert a picture for the first time"));
  }
  return uses;
}

bool GpuCompiledModel::converts_pictures_of(const Port& port) const {
  return settings_.converts_pictures && port.preprocess && PictureKernel::can_fill(port.desc);
}

std::string GpuCompiledModel::cache_folder() const {
  return cache_dir(properties_);
}

Result<Tensor> GpuCompiledModel::allocate_tensor(const TensorDesc& desc) {
  HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
  HET_ASSIGN(BufferPtr buffer, HostBuffer::create(context_, bytes));
  return Tensor::view(desc, std::move(buffer));
}

Result<std::string> GpuCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, "GPU"));
  if (def->name == "EXECUTION_DEVICES") return device_name_;
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties("GPU");
  if (def->name == "INFERENCE_PRECISION_HINT") {
    return settings_.stored_type == ElementType::Float16 ? "f16" : "f32";
  }
  if (def->name == "GPU_COMPLETION") {
    return settings_.completion == Completion::Wait ? "WAIT" : "CALLBACK";
  }
  if (def->name == "GPU_INT8") return uses_int8_ ? "YES" : "NO";
  if (def->name == "CACHE_DIR") return cache_dir(properties_);
  if (def->name == "NUM_STREAMS") return std::to_string(settings_.streams);
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    return std::to_string(settings_.optimal_requests);
  }
  return property_text(properties_, def->name);
}

Result<std::unique_ptr<DeviceRequest>> GpuCompiledModel::create_device_request() {
  return GpuRequest::create(*this);
}

}  // namespace het::gpu
