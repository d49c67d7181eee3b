#include "devices/vpu/daemon/session.h"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "inference/log.h"

namespace het::vpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{1000};
constexpr char kFirmware[] = "hetero-vpud 0.1";
/// Of one host.
constexpr size_t kMaxModels = 256;
constexpr size_t kMaxMemories = 4096;
constexpr uint64_t kMaxMappedBytes = uint64_t{16} << 30;

uint64_t nanoseconds(Clock::duration time) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
}

/// Numbers that decide where something is read: they are read once, not again after a check.
bool is_looked_up(ElementType type) {
  return is_integer(type) && type != ElementType::UInt8 && type != ElementType::Int8;
}

uint64_t bytes_of(const std::vector<Tensor>& tensors) {
  uint64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += tensor.size_bytes();
  return bytes;
}

}  // namespace

struct Session::Job {
  uint64_t sequence = 0;
  Frame frame;  ///< the bytes that `submit` refers to
  Submit submit;
  std::shared_ptr<DeviceModel> model;
  DeviceModel::Execution execution;
  std::vector<size_t> inline_outputs;
  Clock::time_point arrived;
};

Session::~Session() {
  for (const auto& [number, model] : models_) device_.memory_used -= model->memory_bytes();
}

void Session::run() {
  Status status = greet();
  while (status.ok()) {
    auto frame = socket_.receive(kTick);
    if (!frame) {
      status = frame.error();
    } else if (*frame) {
      status = take(std::move(**frame));
    }
  }
  log(LogLevel::Info, "a host's link ends: {}", status.message());
  socket_.close();
}

Status Session::greet() {
  HET_ASSIGN(const std::optional<Frame> frame, socket_.receive(kTick));
  if (!frame || frame->header.type != FrameType::Hello) {
    return error(StatusCode::ParseError, "it does not say hello");
  }
  HET_ASSIGN(const Hello hello, Hello::decode(frame->payload));
  if (hello.first_version > kProtocolVersion || hello.last_version < kProtocolVersion) {
    refuse(0, error(StatusCode::NotSupported, "this device speaks version {} of the protocol only",
                    kProtocolVersion));
    return error(StatusCode::NotSupported, "it speaks versions {} to {}", hello.first_version,
                 hello.last_version);
  }
  Welcome welcome;
  welcome.version = kProtocolVersion;
  welcome.profile = device_.profile.name;
  welcome.firmware = kFirmware;
  welcome.credits = device_.profile.credits;
  welcome.units = device_.profile.units;
  welcome.memory_bytes = device_.profile.memory_bytes;
  welcome.takes_shared_memory = true;
  welcome.types = device_.profile.types;
  welcome.operators = device_.profile.operators;
  answer(FrameType::Welcome, 0, welcome.encode());
  socket_.set_payload_limit(kMaxPayloadBytes);
  return {};
}

Status Session::take(Frame frame) {
  switch (frame.header.type) {
    case FrameType::LoadBegin:
      return begin_load(frame);
    case FrameType::LoadChunk:
      return add_chunk(frame);
    case FrameType::LoadEnd:
      return end_load(frame);
    case FrameType::Unload:
      return unload(frame);
    case FrameType::MapMemory:
      return map(frame);
    case FrameType::UnmapMemory:
      return unmap(frame);
    case FrameType::Submit:
      return submit(std::move(frame));
    case FrameType::Cancel: {
      std::lock_guard lock(running_mutex_);
      const auto found = running_.find(frame.header.sequence);
      if (found != running_.end()) found->second = true;
      return {};
    }
    case FrameType::GetTelemetry: {
      Telemetry telemetry;
      telemetry.millidegrees = 40000;
      telemetry.memory_used = device_.memory_used;
      telemetry.executions = device_.executions;
      telemetry.is_throttled = device_.is_throttled;
      answer(FrameType::Telemetry, frame.header.sequence, telemetry.encode());
      return {};
    }
    case FrameType::Reset:
      return reset(frame);
    default:
      return error(StatusCode::ParseError, "it sends a {} frame, which only devices send",
                   to_string(frame.header.type));
  }
}

Status Session::begin_load(const Frame& frame) {
  HET_ASSIGN(const LoadBegin begin, LoadBegin::decode(frame.payload));
  if (models_.count(begin.model) > 0 || loads_.count(begin.model) > 0) {
    return error(StatusCode::ParseError, "it loads model {} twice", begin.model);
  }
  if (models_.size() + loads_.size() >= kMaxModels || loads_.size() >= 4) {
    refuse(frame.header.sequence, error(StatusCode::OutOfMemory,
                                        "no more than {} models of a host "
                                        "are loaded",
                                        kMaxModels));
    return {};
  }
  // As float16 it takes half as much; the file is all that is known yet.
  if (begin.size / 2 > device_.profile.memory_bytes) {
    refuse(frame.header.sequence, error(StatusCode::OutOfMemory,
                                        "a model of {} bytes does not fit into {} bytes of memory",
                                        begin.size, device_.profile.memory_bytes));
    return {};
  }
  loads_[begin.model] = {begin, {}};
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::add_chunk(const Frame& frame) {
  HET_ASSIGN(const LoadChunk chunk, LoadChunk::decode(frame.payload));
  const auto load = loads_.find(chunk.model);
  if (load == loads_.end() || chunk.offset != load->second.content.size() ||
      chunk.content.size() > load->second.begin.size - chunk.offset) {
    return error(StatusCode::ParseError, "a chunk of model {} at {} does not belong there",
                 chunk.model, chunk.offset);
  }
  std::vector<std::byte>& content = load->second.content;
  content.insert(content.end(), chunk.content.begin(), chunk.content.end());
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::end_load(const Frame& frame) {
  HET_ASSIGN(const Number number, Number::decode(frame.payload));
  auto load = loads_.extract(number.number);
  if (load.empty()) {
    return error(StatusCode::ParseError, "model {} ends, which has not begun", number.number);
  }
  const auto& [begin, content] = load.mapped();
  if (content.size() != begin.size || crc32_of(content) != begin.crc) {
    refuse(frame.header.sequence,
           error(StatusCode::ParseError, "the model did not come as it was announced"));
    return {};
  }
  auto model = device_.load(content);
  if (!model) {
    refuse(frame.header.sequence, model.error());
    return {};
  }
  const uint64_t bytes = (*model)->memory_bytes();
  if (device_.memory_used + bytes > device_.profile.memory_bytes) {
    refuse(frame.header.sequence,
           error(StatusCode::OutOfMemory, "the model's {} bytes do not fit: {} of {} are in use",
                 bytes, device_.memory_used.load(), device_.profile.memory_bytes));
    return {};
  }
  device_.memory_used += bytes;
  Loaded loaded;
  for (const Port& port : (*model)->inputs()) {
    loaded.inputs.push_back({port.name, port.desc});
  }
  for (const Port& port : (*model)->outputs()) {
    loaded.outputs.push_back({port.name, port.desc});
  }
  models_[number.number] = std::move(*model);
  answer(FrameType::Loaded, frame.header.sequence, loaded.encode());
  return {};
}

Status Session::unload(const Frame& frame) {
  HET_ASSIGN(const Number number, Number::decode(frame.payload));
  const auto found = models_.find(number.number);
  if (found != models_.end()) {
    device_.memory_used -= found->second->memory_bytes();
    models_.erase(found);
  }
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::map(Frame& frame) {
  File file(std::exchange(frame.file, -1));
  HET_ASSIGN(const MapMemory wanted, MapMemory::decode(frame.payload));
  if (!file || memories_.count(wanted.memory) > 0) {
    return error(StatusCode::ParseError, "memory {} comes without a file or twice", wanted.memory);
  }
  if (memories_.size() >= kMaxMemories || wanted.size > kMaxMappedBytes - mapped_bytes_) {
    refuse(frame.header.sequence,
           error(StatusCode::OutOfMemory, "no more memory of a host is mapped"));
    return {};
  }
  auto memory = SharedMemory::open(std::move(file), wanted.size);
  if (!memory) {
    refuse(frame.header.sequence, memory.error());
    return {};
  }
  mapped_bytes_ += wanted.size;
  memories_[wanted.memory] = std::move(*memory);
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::unmap(const Frame& frame) {
  HET_ASSIGN(const Number number, Number::decode(frame.payload));
  const auto found = memories_.find(number.number);
  if (found != memories_.end()) {
    mapped_bytes_ -= found->second->size_bytes();
    memories_.erase(found);
  }
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::reset(const Frame& frame) {
  {
    std::lock_guard lock(running_mutex_);
    for (auto& [sequence, is_cancelled] : running_) is_cancelled = true;
  }
  loads_.clear();
  for (const auto& [number, model] : models_) device_.memory_used -= model->memory_bytes();
  models_.clear();
  memories_.clear();
  mapped_bytes_ = 0;
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::submit(Frame frame) {
  auto job = std::make_shared<Job>();
  job->sequence = frame.header.sequence;
  job->frame = std::move(frame);
  job->arrived = Clock::now();
  HET_ASSIGN(job->submit, Submit::decode(job->frame.payload));
  {
    std::lock_guard lock(running_mutex_);
    if (running_.size() >= device_.profile.credits || running_.count(job->sequence) > 0) {
      return error(StatusCode::ParseError, "it submits request {} without a credit, or twice",
                   job->sequence);
    }
    running_[job->sequence] = false;
  }
  const Status bound = bind(*job);
  if (!bound.ok()) {
    Completed failed;
    failed.code = bound.code();
    failed.text = bound.message();
    complete(job->sequence, failed, DeviceFault::None);
    return {};
  }
  to_device_.send(bytes_of(job->execution.inputs), [this, job] {
    std::shared_ptr<Session> self = weak_from_this().lock();
    if (!self) return;  // it ends
    device_.units.add([self = std::move(self), job](uint32_t unit) { self->execute(job, unit); });
  });
  return {};
}

Status Session::bind(Job& job) {
  const auto model = models_.find(job.submit.model);
  if (model == models_.end()) {
    return error(StatusCode::NotFound, "there is no model {}", job.submit.model);
  }
  job.model = model->second;
  const DeviceModel& known = *job.model;
  if (job.submit.inputs.size() != known.inputs().size() ||
      job.submit.outputs.size() != known.outputs().size()) {
    return error(StatusCode::InvalidArgument,
                 "the model has {} inputs and {} outputs, not {} and {}", known.inputs().size(),
                 known.outputs().size(), job.submit.inputs.size(), job.submit.outputs.size());
  }
  for (size_t i = 0; i < known.inputs().size(); ++i) {
    HET_ASSIGN(job.execution.inputs.emplace_back(),
               tensor_at(job.submit.inputs[i], known.inputs()[i].desc, true));
  }
  for (size_t i = 0; i < known.outputs().size(); ++i) {
    if (!job.submit.outputs[i].is_shared) job.inline_outputs.push_back(i);
    HET_ASSIGN(job.execution.outputs.emplace_back(),
               tensor_at(job.submit.outputs[i], known.outputs()[i].desc, false));
  }
  job.execution.wants_stages = job.submit.wants_stages;
  return {};
}

Result<Tensor> Session::tensor_at(const TensorPlace& place, const TensorDesc& desc, bool is_input) {
  HET_ASSIGN(const size_t size, dense_size_bytes(desc));
  if (place.size != size) {
    return error(StatusCode::InvalidArgument, "a tensor {} has {} bytes, not {}", to_string(desc),
                 size, place.size);
  }
  if (!place.is_shared) {
    HET_ASSIGN(Tensor tensor, Tensor::allocate(desc));
    if (is_input) std::memcpy(tensor.bytes(), place.content.data(), size);
    return tensor;
  }
  const auto memory = memories_.find(place.memory);
  if (memory == memories_.end()) {
    return error(StatusCode::NotFound, "there is no memory {}", place.memory);
  }
  const size_t available = memory->second->size_bytes();
  if (place.offset > available || size > available - place.offset ||
      place.offset % kHostAlignment != 0) {
    return error(StatusCode::InvalidArgument,
                 "{} bytes at {} do not fit into memory {} of {} bytes", size, place.offset,
                 place.memory, available);
  }
  HET_ASSIGN(const Tensor shared, Tensor::view(desc, memory->second, place.offset));
  if (is_input && is_looked_up(desc.type)) return shared.clone();
  return shared;
}

void Session::execute(const std::shared_ptr<Job>& job, uint32_t unit) {
  const Clock::time_point begin = Clock::now();
  const DeviceFault fault = device_.faults.next();
  if (fault == DeviceFault::Crash) std::_Exit(70);
  if (fault == DeviceFault::Hang) return hang();
  if (fault == DeviceFault::Throttle) device_.is_throttled = true;
  bool is_cancelled = false;
  {
    std::lock_guard lock(running_mutex_);
    is_cancelled = running_[job->sequence];
  }
  const Status status = is_cancelled ? Status(StatusCode::Cancelled, "the request was cancelled")
                                     : job->model->run(job->execution);
  std::this_thread::sleep_until(begin + device_.speed.execution);
  if (device_.is_throttled) std::this_thread::sleep_for(2 * (Clock::now() - begin));
  if (fault == DeviceFault::Slow) std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ++device_.executions;
  Completed completed;
  completed.code = status.code();
  completed.text = status.message();
  completed.unit = unit;
  completed.waited_ns = nanoseconds(begin - job->arrived);
  completed.executed_ns = nanoseconds(Clock::now() - begin);
  completed.stages = std::move(job->execution.stages);
  if (status.ok()) {
    for (const size_t i : job->inline_outputs) {
      const Tensor& output = job->execution.outputs[i];
      completed.outputs.emplace_back(output.bytes(), output.size_bytes());
    }
  }
  if (fault == DeviceFault::Drop) return;
  // The answer may refer to tensors of the job.
  to_host_.send(bytes_of(job->execution.outputs),
                [this, job, completed, fault] { complete(job->sequence, completed, fault); });
}

void Session::hang() {
  std::lock_guard silence(send_mutex_);
  while (!device_.is_ending) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void Session::complete(uint64_t sequence, const Completed& completed, DeviceFault fault) {
  {
    std::lock_guard lock(running_mutex_);
    running_.erase(sequence);
  }
  if (fault == DeviceFault::Corrupt) {
    Bytes payload = completed.encode();
    const auto header = header_of(FrameType::Completed, sequence, payload);
    payload.back() ^= std::byte{1};
    std::lock_guard lock(send_mutex_);
    (void)socket_.send(header, payload);
    return;
  }
  answer(FrameType::Completed, sequence, completed.encode());
}

void Session::answer(FrameType type, uint64_t sequence, const Bytes& payload) {
  std::lock_guard lock(send_mutex_);
  // A host that is gone shows when the next frame is received.
  if (const Status sent = socket_.send(type, sequence, payload); !sent.ok()) socket_.close();
}

void Session::refuse(uint64_t sequence, const Status& status) {
  answer(FrameType::Refused, sequence, Refusal{status.code(), status.message()}.encode());
}

}  // namespace het::vpu
