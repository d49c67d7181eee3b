#include "devices/vpu/vpu_request.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "devices/vpu/vpu_profile.h"
#include "inference/tensors/numbered_content.h"

namespace het::vpu {
namespace {

/// What a frame takes besides is less than the rest.
constexpr size_t kMaxTensorsInFrame = kMaxPayloadBytes - (1u << 20);

size_t aligned(size_t bytes) {
  return (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return is_same_memory(a, b) && a.strides_bytes() == b.strides_bytes();
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
  bool is_ready = to_.connection != nullptr && !to_.connection->is_lost() && shares_memory() &&
                  io.stream() == stream_;
  for (size_t i = 0; i < inputs_.size() && is_ready; ++i) {
    is_ready = io.images(i).empty() && is_same(io.input(i), inputs_[i]);
  }
  if (!is_ready) return model_.host_stream().submit(*this);
  io.note_begin();
  prepared_ = {};
  sent_ = Clock::now();
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
  const Clock::time_point begin = Clock::now();
  Status status = make_ready();
  sent_ = Clock::now();
  prepared_ = sent_ - begin;
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
  if (is_known && shares_memory() && io_->stream() == stream_) return {};
  return write_payload();
}

Status VpuRequest::map_memory(const LoadedModel& loaded) {
  const uint32_t number = loaded.connection->new_number();
  if (!loaded.connection->welcome().takes_shared_memory) {
    to_ = loaded;
    return {};
  }
  HET_TRY(loaded.connection->call(FrameType::MapMemory,
                                  MapMemory{number, memory_->size_bytes()}.encode(),
                                  FrameType::Acknowledged, memory_->file()));
  memory_number_ = number;
  to_ = loaded;
  return {};
}

Status VpuRequest::write_payload() {
  stream_ = io_->stream();
  Submit submit;
  submit.model = to_.number;
  submit.wants_stages = model_.report() == VpuCompiledModel::Report::Layers;
  submit.stream = stream_;
  size_t size = 0;
  const auto place_of = [&](const Tensor& tensor) {
    const size_t bytes = tensor.size_bytes();
    if (shares_memory()) return TensorPlace{true, memory_number_, tensor.offset(), bytes, {}};
    size += bytes;
    return TensorPlace{false, 0, 0, bytes, {tensor.bytes(), bytes}};
  };
  for (const Tensor& input : inputs_) submit.inputs.push_back(place_of(input));
  if (size > kMaxTensorsInFrame) {
    return error(StatusCode::NotSupported,
                 "inputs of {} bytes do not go over a link without shared memory; {} do", size,
                 kMaxTensorsInFrame);
  }
  for (const Tensor& output : outputs_) submit.outputs.push_back(place_of(output));
  payload_ = submit.encode();
  return {};
}

void VpuRequest::end(Status status, const Completed& completed) {
  const Clock::time_point came = Clock::now();
  if (status.ok()) status = take_outputs(completed);
  const Clock::duration delivered = Clock::now() - came;
  if (status.ok() && model_.report() != VpuCompiledModel::Report::None) {
    // Without what the device says of itself: the way back.
    sent_ += std::chrono::nanoseconds(completed.received_ns + completed.waited_ns +
                                      completed.executed_ns);
    const auto way_back = std::max(came - sent_, Clock::duration(0));
    rows_ = profile_rows(model_, completed, prepared_, way_back, delivered);
  }
  finish(std::move(status));
}

Status VpuRequest::take_outputs(const Completed& completed) {
  const bool in_frame = !shares_memory();
  if (completed.outputs.size() != (in_frame ? outputs_.size() : 0)) {
    return error(StatusCode::DeviceLost, "the device sent {} outputs in its answer",
                 completed.outputs.size());
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (in_frame) {
      const ByteView content = completed.outputs[i];
      if (content.size() != outputs_[i].size_bytes()) {
        return error(StatusCode::DeviceLost, "the device sent an output of {} bytes instead of {}",
                     content.size(), outputs_[i].size_bytes());
      }
      std::memcpy(outputs_[i].bytes(), content.data(), content.size());
    }
    Tensor& wanted = io_->output(i);
    if (!is_same(wanted, outputs_[i])) HET_TRY(copy_tensor(outputs_[i], wanted));
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
