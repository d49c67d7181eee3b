#include "devices/vpu/daemon/session.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>

#include "devices/vpu/greeting.h"
#include "inference/base/log.h"

namespace het::vpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGreetingPatience{1000};
constexpr std::chrono::milliseconds kLongestTick{1000};
/// Of one host.
constexpr size_t kMaxModels = 256;
constexpr size_t kMaxMemories = 4096;
constexpr uint64_t kMaxMappedBytes = uint64_t{16} << 30;

uint64_t session_number() {
  static std::atomic<uint64_t> numbers{0};
  return ++numbers;
}

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
  UnitChoices choices;
  DeviceModel::Execution execution;
  std::vector<size_t> inline_outputs;
  Clock::time_point arrived;
  Clock::time_point received;  ///< inputs, too
  Clock::time_point begun;
  uint32_t unit = 0;
  DeviceFault fault = DeviceFault::None;
  // Under the session's running_mutex_:
  bool is_executing = false;
  StatusCode wish = StatusCode::Ok;  ///< why it shall end early
};

Session::Session(File socket, DeviceSide& device, std::optional<LinkKey> key, bool shares_memory)
    : socket_(std::move(socket)),
      device_(device),
      key_(std::move(key)),
      shares_memory_(shares_memory),
      name_(std::to_string(session_number())),
      to_device_(device.speed, device.timer),
      to_host_(device.speed, device.timer) {}

Session::~Session() = default;

void Session::run() {
  serve();
  socket_.close();
  std::vector<std::shared_ptr<DeviceModel>> ended;
  {
    std::unique_lock lock(running_mutex_);
    for (auto& [sequence, job] : running_) {
      job->wish = StatusCode::Cancelled;
      if (job->is_executing) job->model->cancel(job->execution);
    }
    changed_.wait(lock, [this] { return executing_ == 0; });
    ended.swap(ended_models_);
    // Nobody starts a job that is not there any more.
    for (auto& [sequence, job] : running_) ended.push_back(std::move(job->model));
    running_.clear();
  }
  for (const auto& [number, held] : models_) let_go(held);
  models_.clear();
}

void Session::serve() {
  Status status = greet_host(socket_, device_.welcome(shares_memory_), key_, kGreetingPatience);
  // How often late executions are looked for.
  const std::chrono::milliseconds limit(device_.profile.request_limit_ms);
  const auto tick = std::clamp(limit / 4, std::chrono::milliseconds(1), kLongestTick);
  while (status.ok()) {
    auto frame = socket_.receive(tick);
    if (!frame) {
      status = frame.error();
    } else if (*frame) {
      status = take(std::move(**frame));
    }
    end_late_jobs();
  }
  log(LogLevel::Info, "a host's link ends: {}", status.message());
}

void Session::end_late_jobs() {
  std::vector<std::shared_ptr<DeviceModel>> ended;
  const auto latest = Clock::now() - std::chrono::milliseconds(device_.profile.request_limit_ms);
  std::lock_guard lock(running_mutex_);
  ended.swap(ended_models_);
  for (auto& [sequence, job] : running_) {
    if (!job->is_executing || job->wish != StatusCode::Ok || job->begun > latest) continue;
    job->wish = StatusCode::TimedOut;
    job->model->cancel(job->execution);
  }
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
    case FrameType::Cancel:
      cancel(frame.header.sequence);
      return {};
    case FrameType::GetTelemetry:
      answer(FrameType::Telemetry, frame.header.sequence, device_.telemetry().encode());
      return {};
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
  const auto loaded = load_model(begin, content);
  if (!loaded) {
    refuse(frame.header.sequence, loaded.error());
    return {};
  }
  Loaded answered;
  for (const Port& port : loaded->model->inputs())
    answered.inputs.push_back({port.name, port.desc});
  for (const Port& port : loaded->model->outputs()) {
    answered.outputs.push_back({port.name, port.desc});
  }
  answered.units = loaded->place.units;
  models_[number.number] = *loaded;
  answer(FrameType::Loaded, frame.header.sequence, answered.encode());
  return {};
}

Result<Session::Held> Session::load_model(const LoadBegin& begin,
                                          std::span<const std::byte> content) {
  Held held;
  HET_ASSIGN(held.model, device_.load(content));
  HET_ASSIGN(held.place, device_.placement.place(begin.placement, {begin.size, begin.crc},
                                                 held.model->memory_bytes()));
  return held;
}

void Session::let_go(const Held& held) {
  device_.placement.remove(held.place);
}

Status Session::unload(const Frame& frame) {
  HET_ASSIGN(const Number number, Number::decode(frame.payload));
  const auto found = models_.find(number.number);
  if (found != models_.end()) {
    let_go(found->second);
    models_.erase(found);
  }
  answer(FrameType::Acknowledged, frame.header.sequence, {});
  return {};
}

Status Session::map(Frame& frame) {
  File file = std::move(frame.file);
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
    for (auto& [sequence, job] : running_) job->wish = StatusCode::Cancelled;
  }
  loads_.clear();
  for (const auto& [number, held] : models_) let_go(held);
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
    running_[job->sequence] = job;
  }
  if (const Status bound = bind(*job); !bound.ok()) {
    complete(job, bound);
    return {};
  }
  to_device_.send(bytes_of(job->execution.inputs), [self = shared_from_this(), job] {
    job->received = Clock::now();
    const std::string& stream = job->submit.stream;
    self->device_.units.add(stream.empty() ? self->name_ : self->name_ + "/" + stream, job->choices,
                            [self, job](uint32_t unit) { self->start(job, unit); });
  });
  return {};
}

void Session::cancel(uint64_t sequence) {
  std::lock_guard lock(running_mutex_);
  const auto found = running_.find(sequence);
  if (found == running_.end()) return;
  Job& job = *found->second;
  if (job.wish == StatusCode::Ok) job.wish = StatusCode::Cancelled;
  if (job.is_executing) job.model->cancel(job.execution);
}

Status Session::bind(Job& job) {
  const auto model = models_.find(job.submit.model);
  if (model == models_.end()) {
    return error(StatusCode::NotFound, "there is no model {}", job.submit.model);
  }
  job.model = model->second.model;
  job.choices = device_.placement.choices(model->second.place);
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
  job.execution.wants_stages = job.submit.wants_stages && device_.profile.counts_nodes;
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

void Session::start(const std::shared_ptr<Job>& job, uint32_t unit) {
  job->begun = Clock::now();
  job->unit = unit;
  job->fault = device_.faults.next();
  if (job->fault == DeviceFault::Crash) std::_Exit(70);
  if (job->fault == DeviceFault::Hang) return hang();
  if (job->fault == DeviceFault::Throttle) device_.is_throttled = true;
  {
    std::lock_guard lock(running_mutex_);
    job->is_executing = job->wish == StatusCode::Ok && running_.count(job->sequence) > 0;
    if (job->is_executing) ++executing_;
  }
  if (!job->is_executing) return end(job, Status(StatusCode::Cancelled, "it was cancelled"));
  job->model->start(job->execution, [self = shared_from_this(), job](const Status& status) {
    self->end(job, status);
  });
}

void Session::end(const std::shared_ptr<Job>& job, const Status& status) {
  const Clock::time_point now = Clock::now();
  Clock::time_point until = std::max(now, job->begun + device_.speed.execution);
  if (device_.is_throttled) until += 2 * (until - job->begun);
  if (job->fault == DeviceFault::Slow) until += std::chrono::milliseconds(200);
  const auto finish = [self = shared_from_this(), job, status] {
    self->device_.units.end(job->unit);
    if (job->fault != DeviceFault::Drop) self->complete(job, status);
  };
  {
    std::lock_guard lock(running_mutex_);
    // This may be the model's own thread, which must not be the last that has it.
    if (job->model) ended_models_.push_back(std::move(job->model));
    if (std::exchange(job->is_executing, false)) --executing_;
    changed_.notify_one();
  }
  if (until == now) return finish();
  device_.timer.at(until, finish);
}

/// With the host's own reason for the end of a request that it cancelled.
void Session::complete(const std::shared_ptr<Job>& job, const Status& status) {
  Completed completed;
  completed.code = status.code();
  completed.text = status.message();
  StatusCode wish = StatusCode::Ok;
  {
    std::lock_guard lock(running_mutex_);
    wish = job->wish;
  }
  if (wish == StatusCode::TimedOut) {
    completed.code = StatusCode::TimedOut;
    completed.text = fmt::format("the execution took longer than the device's limit of {} ms",
                                 device_.profile.request_limit_ms);
  }
  completed.unit = job->unit;
  if (job->begun != Clock::time_point()) {
    completed.received_ns = nanoseconds(job->received - job->arrived);
    completed.waited_ns = nanoseconds(job->begun - job->received);
    completed.executed_ns = nanoseconds(Clock::now() - job->begun);
  }
  completed.stages = std::move(job->execution.stages);
  if (completed.code == StatusCode::Ok) {
    for (const size_t i : job->inline_outputs) {
      const Tensor& output = job->execution.outputs[i];
      completed.outputs.emplace_back(output.bytes(), output.size_bytes());
    }
  }
  // The answer may refer to tensors of the job.
  to_host_.send(bytes_of(job->execution.outputs), [self = shared_from_this(), job, completed] {
    self->send_completed(*job, completed);
  });
}

void Session::hang() {
  std::lock_guard silence(send_mutex_);
  while (!device_.is_ending) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void Session::send_completed(const Job& job, const Completed& completed) {
  {
    std::lock_guard lock(running_mutex_);
    running_.erase(job.sequence);
  }
  if (job.fault == DeviceFault::Corrupt) {
    Bytes payload = completed.encode();
    const auto header = header_of(FrameType::Completed, job.sequence, payload);
    payload.back() ^= std::byte{1};
    std::lock_guard lock(send_mutex_);
    (void)socket_.send(header, payload);
    return;
  }
  answer(FrameType::Completed, job.sequence, completed.encode());
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
