#include "devices/vpu/vpu_compiled_model.h"

#include <algorithm>
#include <utility>

#include "devices/vpu/vpu_metrics.h"
#include "devices/vpu/vpu_request.h"
#include "inference/devices/ports.h"
#include "inference/writers/onnx_writer.h"

namespace het::vpu {
namespace {

Placement placement_of(const Properties& properties) {
  Placement placement;
  placement.graph_tag = property_text(properties, "HDDL_GRAPH_TAG");
  placement.stream_id = property_text(properties, "HDDL_STREAM_ID");
  placement.device_tag = property_text(properties, "HDDL_DEVICE_TAG");
  placement.is_bound = property_boolean(properties, "HDDL_BIND_DEVICE");
  placement.priority = static_cast<int32_t>(property_integer(properties, "HDDL_RUNTIME_PRIORITY"));
  placement.on_all_units = property_boolean(properties, "HDDL_USE_SGAD");
  return placement;
}

bool agree(const std::vector<Port>& ours, const std::vector<Loaded::Port>& theirs) {
  return std::ranges::equal(ours, theirs, [](const Port& a, const Loaded::Port& b) {
    return a.desc.type == b.desc.type && a.desc.shape == b.desc.shape;
  });
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> VpuCompiledModel::create(std::string device,
                                                                std::shared_ptr<VpuLink> link,
                                                                const Model& prepared,
                                                                const Properties& properties) {
  std::shared_ptr<VpuCompiledModel> model(
      new VpuCompiledModel(std::move(device), std::move(link), prepared, properties));
  HET_ASSIGN(model->file_, write_onnx_bytes(prepared));
  HET_ASSIGN(model->host_stream_, StreamExecutor::create({1, "vpu-host", {}}));
  HET_TRY(model->loaded());
  return std::shared_ptr<CompiledModel>(std::move(model));
}

VpuCompiledModel::VpuCompiledModel(std::string device, std::shared_ptr<VpuLink> link,
                                   const Model& prepared, const Properties& properties)
    : CompiledModel(prepared.name(), input_ports(prepared), output_ports(prepared)),
      device_(std::move(device)),
      link_(std::move(link)),
      properties_(properties),
      report_(!property_boolean(properties, "PERF_COUNT")                        ? Report::None
              : property_text(properties, "VPU_PERF_REPORT_MODE") == "PER_LAYER" ? Report::Layers
                                                                                 : Report::Stages) {
  for (const auto& node : prepared.nodes()) {
    ProfileRow& row = rows_.emplace_back();
    row.node_name = node->name();
    row.status = ProfileStatus::OptimizedOut;
    row.layer_type = node->qualified_type();
    if (const Value* output = node->output())
      row.type = std::string(to_string(output->desc().type));
  }
}

VpuCompiledModel::~VpuCompiledModel() {
  if (loaded_.connection) {
    loaded_.connection->tell(FrameType::Unload, Number{loaded_.number}.encode());
  }
}

Result<std::string> VpuCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, "VPU"));
  if (def->name == "EXECUTION_DEVICES") return device_;
  if (def->name == "INFERENCE_PRECISION_HINT") return "f16";
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "NUM_STREAMS") return "1";
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    std::lock_guard lock(mutex_);
    return std::to_string(loaded_.connection->welcome().credits);
  }
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties("VPU");
  if (is_metric(def->name) && def->name != "HDDL_DEVICE_TAG") {
    HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
    return metric(*connection, device_, def->name);
  }
  return property_text(properties_, def->name);
}

Result<LoadedModel> VpuCompiledModel::loaded() {
  std::lock_guard lock(mutex_);
  if (loaded_.connection && !loaded_.connection->is_lost()) return loaded_;
  auto connection = link_->connection();
  if (!connection) {
    return error(StatusCode::DeviceLost, "{} is gone: {}", device_, connection.error().message());
  }
  (*connection)
      ->set_patience(std::chrono::milliseconds(property_integer(properties_, "VPU_TIMEOUT")));
  const uint32_t number = (*connection)->new_number();
  HET_TRY(load(**connection, number).with_context(fmt::format("{}, model '{}'", device_, name())));
  loaded_ = {std::move(*connection), number};
  return loaded_;
}

LoadedModel VpuCompiledModel::loaded_now() const {
  std::lock_guard lock(mutex_);
  if (loaded_.connection->is_lost()) return {};
  return loaded_;
}

Status VpuCompiledModel::load(Connection& connection, uint32_t number) const {
  const ByteView file = std::as_bytes(std::span(file_.data(), file_.size()));
  const LoadBegin begin{number, file.size(), crc32_of(file), placement_of(properties_)};
  HET_TRY(connection.call(FrameType::LoadBegin, begin.encode(), FrameType::Acknowledged));
  for (size_t offset = 0; offset < file.size(); offset += kChunkBytes) {
    const ByteView part = file.subspan(offset, std::min<size_t>(kChunkBytes, file.size() - offset));
    HET_TRY(connection.call(FrameType::LoadChunk, LoadChunk{number, offset, part}.encode(),
                            FrameType::Acknowledged));
  }
  HET_ASSIGN(const Frame answer,
             connection.call(FrameType::LoadEnd, Number{number}.encode(), FrameType::Loaded));
  HET_ASSIGN(const Loaded loaded, Loaded::decode(answer.payload));
  if (agree(inputs(), loaded.inputs) && agree(outputs(), loaded.outputs)) return {};
  return error(StatusCode::Internal, "the device sees other inputs or outputs than the model has");
}

Result<std::unique_ptr<DeviceRequest>> VpuCompiledModel::create_device_request() {
  HET_ASSIGN(std::unique_ptr<VpuRequest> request, VpuRequest::create(*this));
  return std::unique_ptr<DeviceRequest>(std::move(request));
}

}  // namespace het::vpu
