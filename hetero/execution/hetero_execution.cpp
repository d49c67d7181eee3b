#include "hetero/execution/hetero_execution.h"

#include <algorithm>
#include <utility>

#include "hetero/execution/fail_over.h"

namespace het::hetero {
namespace {

/// As the application gets it.
Result<Tensor> unnumbered(const Tensor& tensor) {
  return in_buffer(tensor, without_number(tensor.buffer()));
}

/// The memory of an output that the application gave, else the handle.
Status deliver_output(RequestIo& io, size_t index, const Tensor& result) {
  Tensor& given = io.output(index);
  if (given.empty() || given.desc() != result.desc()) {
    HET_ASSIGN(Tensor delivered, unnumbered(result));
    io.set_output(index, std::move(delivered));
    return {};
  }
  return is_same_memory(given, result) ? Status() : copy_remote(result, given);
}

/// Empty where the host does not see it without mapping.
Tensor on_host(const Tensor& tensor) {
  return tensor.bytes() != nullptr ? tensor : Tensor();
}

/// What a request of the model has for its application: empty as above.
Tensor own_tensor(const Tensor& tensor) {
  const auto own = on_host(tensor).empty() ? Tensor() : unnumbered(tensor);
  return own ? *own : Tensor();
}

}  // namespace

Result<std::unique_ptr<HeteroExecution>> HeteroExecution::create(
    std::shared_ptr<const HeteroPlan> plan, std::vector<std::shared_ptr<DeviceGate>> gates,
    const std::vector<Port>& inputs, const std::vector<Port>& outputs, TransferThread& transfers,
    std::string& failed_device) {
  std::unique_ptr<HeteroExecution> execution(
      new HeteroExecution(std::move(plan), std::move(gates), inputs, outputs, transfers));
  for (size_t i = 0; i < execution->plan_->subgraphs.size(); ++i) {
    auto part = std::make_unique<Part>(*execution, i);
    failed_device = execution->split_.subgraphs[i].device;
    HET_ASSIGN(part->request, execution->plan_->subgraphs[i]->create_infer_request());
    part->has_shared_input.resize(execution->plan_->subgraphs[i]->inputs().size());
    part->request->set_callback(
        [raw = execution.get(), i](const Status& status) { raw->part_ended(i, status); });
    execution->parts_.push_back(std::move(part));
  }
  failed_device.clear();
  HET_TRY(execution->share_tensors());
  return execution;
}

HeteroExecution::HeteroExecution(std::shared_ptr<const HeteroPlan> plan,
                                 std::vector<std::shared_ptr<DeviceGate>> gates,
                                 const std::vector<Port>& inputs, const std::vector<Port>& outputs,
                                 TransferThread& transfers)
    : plan_(std::move(plan)),
      gates_(std::move(gates)),
      split_(plan_->split),
      inputs_(inputs),
      outputs_(outputs),
      transfers_(transfers),
      host_inputs_(inputs.size()),
      host_outputs_(outputs.size()),
      pictures_(inputs.size()),
      numbers_(split_) {}

HeteroExecution::~HeteroExecution() = default;

/// Of the devices at both ends of a cut, the one that takes most kinds of memory has the place: an
/// accelerator's host memory is as good for others, but not the reverse.
Status HeteroExecution::share_tensors() {
  const std::vector<size_t>& kinds = plan_->memory_kinds;
  for (size_t i = 0; i < split_.cuts.size(); ++i) {
    const CutValue& cut = split_.cuts[i];
    InferRequest& producer = *parts_[cut.producer.subgraph]->request;
    Tensor tensor = producer.output(cut.producer.index);
    if (tensor.empty()) continue;
    // Memory that the host has to map is the producer's affair, and so is a failure to do so.
    if (tensor.bytes() == nullptr) {
      HET_ASSIGN(tensor, Tensor::allocate(tensor.desc()));
    }
    size_t most = kinds[cut.producer.subgraph];
    for (const SubgraphPort& reader : cut.readers) {
      const Tensor& place = parts_[reader.subgraph]->request->input(reader.index);
      if (kinds[reader.subgraph] <= most || place.bytes() == nullptr) continue;
      most = kinds[reader.subgraph];
      tensor = place;
    }
    HET_TRY(producer.set_output(cut.producer.index, tensor));
    HET_TRY(pass_on(i));
  }
  return {};
}

Tensor HeteroExecution::own_input(size_t index) const {
  const std::vector<SubgraphPort>& readers = split_.input_readers[index];
  if (readers.empty()) return {};
  return own_tensor(parts_[readers[0].subgraph]->request->input(readers[0].index));
}

Tensor HeteroExecution::own_output(size_t index) const {
  const TensorSource& source = split_.outputs[index];
  // An output that is there twice has one place, which is the first one's.
  for (size_t i = 0; i < index; ++i) {
    const TensorSource& other = split_.outputs[i];
    if (other.kind == source.kind && other.subgraph == source.subgraph &&
        other.index == source.index) {
      return {};
    }
  }
  return source.kind == TensorSource::Kind::SubgraphOutput
             ? own_tensor(parts_[source.subgraph]->request->output(source.index))
             : Tensor();
}

void HeteroExecution::start(RequestIo& io, CompletionSink& sink, bool keeps_pictures,
                            uint64_t frame) {
  io_ = &io;
  sink_ = &sink;
  frame_ = frame;
  stopped_ = false;
  ended_ = 0;
  first_error_ = {};
  failed_device_.clear();
  for (size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->waits_for = split_.subgraphs[i].dependencies.size();
    parts_[i]->is_first = split_.subgraphs[i].dependencies.empty();
    parts_[i]->ran = false;
    parts_[i]->is_done = false;
  }
  for (size_t i = 0; i < pictures_.size(); ++i) {
    pictures_[i].regions = keeps_pictures ? io.images(i) : std::vector<ImageRegion>();
    pictures_[i].were_given = !pictures_[i].regions.empty();
    pictures_[i].readers = split_.input_readers[i].size();
  }
  if (!must_map_inputs(io)) return bind_and_launch();
  if (Status status = transfers_.submit(first_step_); !status.ok()) {
    sink.complete(std::move(status));
  }
}

void HeteroExecution::bind_and_launch() {
  Status status = stopped_ ? error(StatusCode::Cancelled, "the execution was cancelled") : Status();
  if (status.ok()) status = bind(*io_);
  if (!status.ok()) return sink_->complete(std::move(status));
  launch_first();
}

void HeteroExecution::launch_first() {
  numbers_.begin();
  // Counts as a part until all are under way that wait for none.
  running_ = 1;
  if (plan_->turns.empty()) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i]->is_first) launch(i);
    }
  } else {
    launch_next();
  }
  if (--running_ == 0) finish();
}

/// Where one part runs at a time, only its end gets here.
void HeteroExecution::launch_next() {
  size_t next = parts_.size();
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i]->ran || parts_[i]->waits_for > 0) continue;
    if (next == parts_.size() || plan_->turns[i] < plan_->turns[next]) next = i;
  }
  if (next < parts_.size()) launch(next);
}

void HeteroExecution::cancel() {
  stopped_ = true;
  for (const auto& part : parts_) part->request->cancel();
}

Status HeteroExecution::bind(RequestIo& io) {
  for (const TensorSource& source : split_.outputs) {
    if (source.kind != TensorSource::Kind::ModelInput) continue;
    // An output that is an input needs the picture's tensor, whatever devices convert.
    HET_TRY(io.preprocess_pending(inputs_));
    io.note_start();  // that was no execution: those of the parts tell their times
    break;
  }
  for (const auto& part : parts_) part->request->set_frame(io.frame());
  for (size_t i = 0; i < io.input_count(); ++i) HET_TRY(bind_input(io, i));
  for (size_t i = 0; i < io.output_count(); ++i) HET_TRY(bind_output(io, i));
  for (const size_t cut : plan_->delivered_cuts) HET_TRY(pass_on(cut));
  return {};
}

Status HeteroExecution::bind_output(RequestIo& io, size_t index) {
  const TensorSource& source = split_.outputs[index];
  const Tensor& given = io.output(index);
  if (source.kind != TensorSource::Kind::SubgraphOutput || given.empty()) return {};
  if (given.desc() != outputs_[index].desc) return {};
  InferRequest& producer = *parts_[source.subgraph]->request;
  const bool is_cut = std::ranges::any_of(plan_->delivered_cuts, [&](size_t cut) {
    return split_.cuts[cut].producer == SubgraphPort{source.subgraph, source.index};
  });
  // Other devices read a cut, too.
  if (!is_remote(given) || (takes(source.subgraph, given) && !is_cut)) {
    return producer.set_output(source.index, given);
  }
  Tensor& own = host_outputs_[index];
  if (own.empty()) {
    HET_ASSIGN(own, Tensor::allocate(given.desc()));
  }
  return producer.set_output(source.index, own);
}

bool HeteroExecution::takes(size_t part, const Tensor& tensor) const {
  if (!is_remote(tensor) || parts_[part]->is_replaced) return true;
  const std::vector<MemoryKind>& kinds = plan_->in_place[part];
  return std::ranges::find(kinds, tensor.memory_kind()) != kinds.end();
}

bool HeteroExecution::must_map_inputs(const RequestIo& io) const {
  for (size_t i = 0; i < io.input_count(); ++i) {
    if (!is_remote(io.input(i)) || !io.images(i).empty()) continue;
    for (const SubgraphPort& reader : split_.input_readers[i]) {
      if (!takes(reader.subgraph, io.input(i))) return true;
    }
  }
  return false;
}

bool HeteroExecution::must_map_outputs() const {
  for (size_t i = 0; i < split_.outputs.size(); ++i) {
    const TensorSource& source = split_.outputs[i];
    const Tensor& given = io_->output(i);
    if (source.kind == TensorSource::Kind::ModelInput && is_remote(io_->input(source.index))) {
      return true;
    }
    if (source.kind != TensorSource::Kind::SubgraphOutput) {
      if (is_remote(given)) return true;
      continue;
    }
    const Tensor& made = parts_[source.subgraph]->request->output(source.index);
    if (given.empty() || is_same_memory(given, made)) continue;
    if (is_remote(given) || is_remote(made)) return true;
  }
  return false;
}

Status HeteroExecution::bind_input(RequestIo& io, size_t index) {
  const std::vector<SubgraphPort>& readers = split_.input_readers[index];
  std::vector<ImageRegion> images = io.take_images(index);
  const bool has_images = !images.empty();
  const bool is_shared = readers.size() > 1;
  Tensor given = io.input(index);
  // Memory of a device is where it is needed already.
  if (is_shared && !has_images && !given.empty() && !is_remote(given)) {
    HET_ASSIGN(given, numbers_.of_input(index, given));
  }
  for (size_t b = 0; is_shared && b < images.size(); ++b) {
    images[b] = numbers_.of_picture(index, b, std::move(images[b]));
  }
  bool is_first = true;
  bool is_copied = false;
  for (const SubgraphPort& reader : readers) {
    if (parts_[reader.subgraph]->is_done) continue;
    InferRequest& request = *parts_[reader.subgraph]->request;
    const bool is_taken = takes(reader.subgraph, given);
    // Every reader of a picture converts it on its device, so only one may do it in this tensor.
    if (!given.empty() && is_taken && (is_first || !has_images)) {
      HET_TRY(read_from(reader, given, /*is_shared=*/true));
      is_first = false;
    } else if (has_images && parts_[reader.subgraph]->has_shared_input[reader.index]) {
      HET_ASSIGN(const Tensor own, Tensor::allocate(given.desc()));
      HET_TRY(read_from(reader, own, /*is_shared=*/false));
    } else if (!has_images && !is_taken) {
      if (!is_copied) HET_TRY(copy_input(given, index));
      is_copied = true;
      HET_TRY(read_from(reader, host_inputs_[index], /*is_shared=*/true));
    }
    for (size_t b = 0; b < images.size(); ++b) {
      if (images[b].image.plane_count == 0) continue;
      HET_TRY(request.set_image(reader.index, images[b].image, images[b].roi, b));
    }
  }
  return {};
}

Status HeteroExecution::read_from(const SubgraphPort& reader, const Tensor& tensor,
                                  bool is_shared) {
  Part& part = *parts_[reader.subgraph];
  part.has_shared_input[reader.index] = is_shared;
  return part.request->set_input(reader.index, tensor);
}

Status HeteroExecution::copy_input(const Tensor& given, size_t index) {
  Tensor& copy = host_inputs_[index];
  if (copy.empty() || copy.desc() != given.desc()) {
    HET_ASSIGN(copy, Tensor::allocate(given.desc()));
  }
  const Status status = copy_remote(given, copy);
  return status.ok() ? status
                     : Failure(status.with_context(fmt::format("input '{}'", inputs_[index].name)));
}

void HeteroExecution::launch(size_t part) {
  if (stopped_) return;
  ++running_;
  parts_[part]->ran = true;
  if (DeviceGate* const gate = gate_of(part)) {
    gate->enter(*parts_[part], frame_);
  } else {
    run(part);
  }
}

DeviceGate* HeteroExecution::gate_of(size_t part) const {
  return parts_[part]->is_replaced ? nullptr : gates_[part].get();
}

void HeteroExecution::leave_gate(size_t part) {
  if (DeviceGate* const gate = gate_of(part)) gate->leave();
}

/// Nothing of the execution may be used behind a start: its end may be that of the request.
void HeteroExecution::run(size_t part) {
  if (stopped_) {
    parts_[part]->ran = false;
  } else {
    if (plan_->times != nullptr) parts_[part]->timing = plan_->times->begin(part);
    const Status status = parts_[part]->request->start_async();
    if (status.ok()) return;  // part_ended() does the rest, even when the device ends it at once
    end_timing(part, /*is_good=*/false);
    fail(part, status);
  }
  leave_gate(part);
  if (--running_ == 0) finish();
}

void HeteroExecution::end_timing(size_t part, bool is_good) {
  if (plan_->times == nullptr) return;
  plan_->times->end(part, parts_[part]->timing, is_good && !parts_[part]->is_replaced);
}

void HeteroExecution::part_ended(size_t part, const Status& status) {
  end_timing(part, status.ok());
  leave_gate(part);
  Status result = status;
  if (result.ok()) result = hand_over(part);
  if (result.ok()) {
    keep_results(part);
    ++ended_;
    const bool is_one_at_a_time = !plan_->turns.empty();
    for (const size_t next : plan_->dependents[part]) {
      // After a failure it may have been done when what it waited for had to run again.
      if (--parts_[next]->waits_for > 0 || parts_[next]->is_done) continue;
      if (!is_one_at_a_time) launch(next);
    }
    if (is_one_at_a_time) launch_next();
  } else {
    fail(part, result);
  }
  if (--running_ == 0) finish();
}

/// Outputs that are sized at run time have a new tensor each time.
Status HeteroExecution::hand_over(size_t part) {
  for (const size_t cut : plan_->unsized_cuts) {
    if (split_.cuts[cut].producer.subgraph == part) HET_TRY(pass_on(cut));
  }
  return {};
}

/// What the producer writes is what the others read.
Status HeteroExecution::pass_on(size_t index) {
  const CutValue& cut = split_.cuts[index];
  InferRequest& producer = *parts_[cut.producer.subgraph]->request;
  HET_ASSIGN(const Tensor tensor, numbers_.of_cut(index, producer.output(cut.producer.index)));
  if (cut.desc.is_static()) HET_TRY(producer.set_output(cut.producer.index, tensor));
  for (const SubgraphPort& reader : cut.readers) {
    HET_TRY(parts_[reader.subgraph]->request->set_input(reader.index, tensor));
  }
  return {};
}

void HeteroExecution::fail(size_t part, const Status& status) {
  stopped_ = true;
  const Subgraph& subgraph = split_.subgraphs[part];
  std::lock_guard lock(mutex_);
  if (!first_error_.ok()) return;
  if (!parts_[part]->is_replaced) failed_device_ = subgraph.device;
  first_error_ = status.with_context(fmt::format("{} on {}", subgraph.name, subgraph.device));
}

void HeteroExecution::keep_results(size_t part) {
  // Tensors that are sized at run time are the device's.
  if (!plan_->unsized_cuts.empty() || !numbers_.are_on_host(part)) return;
  const InferRequest& request = *parts_[part]->request;
  for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
    if (request.output(i).empty() || request.output(i).bytes() == nullptr) return;
  }
  parts_[part]->is_done = true;
  for (const TensorSource& source : split_.subgraphs[part].inputs) {
    if (source.kind != TensorSource::Kind::ModelInput) continue;
    Pictures& pictures = pictures_[source.index];
    if (--pictures.readers == 0) pictures.regions.clear();
  }
}

bool HeteroExecution::has_results() const {
  return std::ranges::any_of(parts_, [](const auto& part) { return part->is_done; });
}

bool HeteroExecution::can_restart() const {
  return std::ranges::none_of(pictures_, [](const Pictures& pictures) {
    return pictures.were_given && pictures.regions.empty();
  });
}

bool HeteroExecution::can_read_pictures() const {
  for (const Pictures& pictures : pictures_) {
    for (const ImageRegion& region : pictures.regions) {
      for (int p = 0; p < region.image.plane_count; ++p) {
        Buffer& buffer = *region.image.planes[static_cast<size_t>(p)].buffer;
        if (buffer.host() != nullptr) continue;
        const auto mapped = buffer.map(MapAccess::Read);
        if (mapped) {
          buffer.unmap();
        } else if (blames_device(mapped.error())) {
          return false;
        }
      }
    }
  }
  return true;
}

void HeteroExecution::return_pictures() {
  for (size_t i = 0; i < pictures_.size(); ++i) {
    io_->clear_images(i);
    for (size_t b = 0; b < pictures_[i].regions.size(); ++b) {
      io_->set_image(i, b, std::move(pictures_[i].regions[b]));
    }
    pictures_[i].regions.clear();
  }
}

void HeteroExecution::drop_pictures() {
  for (Pictures& pictures : pictures_) pictures.regions.clear();
}

std::vector<size_t> HeteroExecution::left_over() const {
  std::vector<size_t> left;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]->is_done && !parts_[i]->is_replaced) left.push_back(i);
  }
  return left;
}

Status HeteroExecution::replace(Requests& requests) {
  numbers_.share_all();
  for (auto& [index, request] : requests) {
    const InferRequest& old = *parts_[index]->request;
    for (size_t i = 0; i < old.compiled_model().inputs().size(); ++i) {
      // What only the old device reaches is filled by pictures, again; the application's has to be
      // mapped.
      if (on_host(old.input(i)).empty() && !is_given(index, i)) continue;
      HET_TRY(request->set_input(i, old.input(i)));
    }
    for (size_t i = 0; i < old.compiled_model().outputs().size(); ++i) {
      if (on_host(old.output(i)).empty()) continue;
      HET_TRY(request->set_output(i, old.output(i)));
    }
  }
  for (auto& [index, request] : requests) {
    request->set_callback([this, i = index](const Status& status) { part_ended(i, status); });
    parts_[index]->request.swap(request);
    parts_[index]->is_replaced = true;
  }
  stopped_ = false;
  return {};
}

bool HeteroExecution::is_given(size_t part, size_t input) const {
  const TensorSource& source = split_.subgraphs[part].inputs[input];
  if (source.kind != TensorSource::Kind::ModelInput || pictures_[source.index].were_given) {
    return false;
  }
  return is_same_memory(parts_[part]->request->input(input), io_->input(source.index));
}

void HeteroExecution::resume() {
  ended_ = 0;
  first_error_ = {};
  failed_device_.clear();
  const auto is_done = [this](size_t part) { return parts_[part]->is_done; };
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::vector<size_t>& before = split_.subgraphs[i].dependencies;
    const auto done = static_cast<size_t>(std::ranges::count_if(before, is_done));
    parts_[i]->waits_for = before.size() - done;
    parts_[i]->is_first = done == before.size() && !is_done(i);
    parts_[i]->ran = is_done(i);
    if (is_done(i)) ++ended_;
  }
  for (size_t i = 0; i < pictures_.size(); ++i) {
    if (pictures_[i].regions.empty()) continue;
    for (size_t b = 0; b < pictures_[i].regions.size(); ++b) {
      io_->set_image(i, b, pictures_[i].regions[b]);
    }
    if (Status status = bind_input(*io_, i); !status.ok()) {
      sink_->complete(std::move(status));
      return;
    }
  }
  launch_first();
}

void HeteroExecution::finish() {
  Status status;
  {
    std::lock_guard lock(mutex_);
    status = first_error_;
  }
  if (status.ok() && ended_ < parts_.size()) {
    status = error(StatusCode::Cancelled, "the execution was cancelled");
  }
  if (!status.ok()) return end(std::move(status));
  if (!must_map_outputs()) return deliver_and_end();
  if (status = transfers_.submit(last_step_); !status.ok()) end(std::move(status));
}

void HeteroExecution::deliver_and_end() {
  drop_pictures();
  end(deliver());
}

void HeteroExecution::end(Status status) {
  numbers_.forget();
  // The outer request may start again, or end its life, as soon as it is complete.
  CompletionSink* const sink = sink_;
  sink->complete(std::move(status));
}

Status HeteroExecution::deliver() {
  for (size_t i = 0; i < split_.outputs.size(); ++i) {
    HET_ASSIGN(const Tensor result, source_tensor(split_.outputs[i]));
    const Status status = deliver_output(*io_, i, result);
    if (!status.ok()) {
      return Failure(status.with_context(fmt::format("output '{}'", outputs_[i].name)));
    }
  }
  return {};
}

Result<Tensor> HeteroExecution::source_tensor(const TensorSource& source) const {
  switch (source.kind) {
    case TensorSource::Kind::ModelInput:
      // Not the application's own memory: it may write the next input there.
      return clone_remote(io_->input(source.index));
    case TensorSource::Kind::Constant:
      return source.constant.clone();
    case TensorSource::Kind::SubgraphOutput:
      break;
  }
  return parts_[source.subgraph]->request->output(source.index);
}

std::vector<ProfileRow> HeteroExecution::profiling() const {
  std::vector<ProfileRow> rows;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i]->ran) continue;
    for (ProfileRow& row : parts_[i]->request->profiling()) {
      row.node_name = fmt::format("subgraph{}: {}", i + 1, row.node_name);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace het::hetero
