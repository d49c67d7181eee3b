#include "devices/vpu/vpu_request.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace het::vpu {
namespace {

size_t aligned(size_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return !a.empty() && a.buffer() == b.buffer() && a.offset() == b.offset() &&
         a.strides_bytes() == b.strides_bytes();
}

}  // namespace

Result<std::unique_ptr<VpuRequest>> VpuRequest::create(VpuCompiledModel& model) {
  std::unique_ptr<VpuRequest> request(new VpuRequest(model));
  HET_TRY(request->allocate());
  return request;
}

Status VpuRequest::allocate() {
  size_t size = 0;
  std::vector<size_t> offsets;
  for (const auto* ports : {&model_.inputs(), &model_.outputs()}) {
    for (const Port& port : *ports) {
      HET_ASSIGN(const size_t bytes, dense_size_bytes(port.desc));
      offsets.push_back(size);
      size += aligned(bytes);
    }
  }
  HET_ASSIGN(memory_, SharedMemory::create(std::max(size, kHostAlignment)));
  size_t next = 0;
  for (const auto& [ports, tensors] :
       {std::pair(&model_.inputs(), &inputs_), std::pair(&model_.outputs(), &outputs_)}) {
    for (const Port& port : *ports) {
      HET_ASSIGN(tensors->emplace_back(), Tensor::view(port.desc, memory_, offsets[next++]));
    }
  }
  return {};
}

VpuRequest::~VpuRequest() {
  if (to_.connection) {
    to_.connection->tell(FrameType::UnmapMemory, Number{memory_number_}.encode());
  }
}

void VpuRequest::start(RequestIo& io, CompletionSink& sink) {
  io_ = &io;
  sink_ = &sink;
  cancelled_ = false;
  rows_.clear();
  bool is_ready = to_.connection != nullptr && !to_.connection->is_lost() && io.stream() == stream_;
  for (size_t i = 0; i < inputs_.size() && is_ready; ++i) {
    is_ready = io.images(i).empty() && is_same(io.input(i), inputs_[i]);
  }
  if (!is_ready) return model_.host_stream().submit(*this);
  io.note_begin();
  to_.connection->submit(*this);
}

void VpuRequest::cancel() {
  cancelled_ = true;
  // What has not been sent yet looks at the flag.
  if (const LoadedModel loaded = model_.loaded_now(); loaded.connection) {
    loaded.connection->cancel(*this);
  }
}

void VpuRequest::run(size_t) {
  Status status = make_ready();
  if (!status.ok()) return finish(std::move(status));
  to_.connection->submit(*this);
}

Status VpuRequest::make_ready() {
  HET_TRY(io_->preprocess_pending(model_.inputs()));
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!is_same(io_->input(i), inputs_[i])) HET_TRY(copy_tensor(io_->input(i), inputs_[i]));
  }
  if (cancelled_) {
    return error(StatusCode::Cancelled, "the request of model '{}' was cancelled", model_.name());
  }
  HET_ASSIGN(const LoadedModel loaded, model_.loaded());
  const bool is_known = to_.connection == loaded.connection && to_.number == loaded.number;
  if (!is_known) HET_TRY(map_memory(loaded));
  if (!is_known || io_->stream() != stream_) write_payload();
  return {};
}

Status VpuRequest::map_memory(const LoadedModel& loaded) {
  const uint32_t number = loaded.connection->new_number();
  HET_TRY(loaded.connection->call(FrameType::MapMemory,
                                  MapMemory{number, memory_->size_bytes()}.encode(),
                                  FrameType::Acknowledged, memory_->file()));
  memory_number_ = number;
  to_ = loaded;
  return {};
}

void VpuRequest::write_payload() {
  stream_ = io_->stream();
  Submit submit;
  submit.model = to_.number;
  submit.wants_stages = model_.is_profiled();
  submit.stream = stream_;
  const auto place_of = [&](const Tensor& tensor) {
    return TensorPlace{true, memory_number_, tensor.offset(), tensor.size_bytes(), {}};
  };
  for (const Tensor& input : inputs_) submit.inputs.push_back(place_of(input));
  for (const Tensor& output : outputs_) submit.outputs.push_back(place_of(output));
  payload_ = submit.encode();
}

void VpuRequest::end(Status status, const Completed& completed) {
  if (status.ok()) status = take_outputs(completed);
  finish(std::move(status));
}

Status VpuRequest::take_outputs(const Completed& completed) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    Tensor& wanted = io_->output(i);
    if (!is_same(wanted, outputs_[i])) HET_TRY(copy_tensor(outputs_[i], wanted));
  }
  if (!model_.is_profiled()) return {};
  rows_ = model_.rows();
  for (const Stage& stage : completed.stages) {
    const auto row = std::ranges::find(rows_, stage.name, &ProfileRow::node_name);
    if (row == rows_.end()) continue;
    row->status = ProfileStatus::Executed;
    row->exec_type = stage.kind;
    row->real_us = static_cast<int64_t>(stage.ns / 1000);
    row->cpu_us = 0;  // not the host's
  }
  return {};
}

void VpuRequest::finish(Status status) {
  if (!status.ok() && status.code() == StatusCode::DeviceLost) {
    status = status.with_context(fmt::format("model '{}'", model_.name()));
  }
  // The request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

}  // namespace het::vpu
