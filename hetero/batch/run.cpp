#include "hetero/batch/run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "hetero/batch/request.h"
#include "hetero/batch/tensors.h"

namespace het::hetero {

Result<BatchRun::OwnTensor> BatchRun::cut(const Tensor& whole, const TensorDesc& single,
                                          size_t batch) {
  OwnTensor own{.whole = whole, .items = {}};
  for (size_t i = 0; i < batch; ++i) {
    HET_ASSIGN(own.items.emplace_back(), view_item(whole, single, i));
  }
  return own;
}

Result<std::unique_ptr<BatchRun>> BatchRun::create(const std::shared_ptr<CompiledModel>& batched,
                                                   const BatchPorts& ports,
                                                   std::function<void(BatchRun&)> release) {
  std::unique_ptr<BatchRun> run(new BatchRun(std::move(release)));
  HET_ASSIGN(run->request_, batched->create_infer_request());
  const size_t batch = ports.batch;
  for (size_t i = 0; i < ports.single_inputs.size(); ++i) {
    HET_ASSIGN(run->inputs_.emplace_back(),
               cut(run->request_->input(i), ports.single_inputs[i].desc, batch));
  }
  for (size_t i = 0; i < ports.single_outputs.size(); ++i) {
    const TensorDesc& single = ports.single_outputs[i].desc;
    OwnTensor& own = run->outputs_.emplace_back();
    if (!ports.cuts[i].is_by_rows()) {
      HET_ASSIGN(own, cut(run->request_->output(i), single, batch));
    } else if (ports.cuts[i].kind == ItemsKind::FixedRows) {
      HET_ASSIGN(own.part, Tensor::allocate({single.type, single.shape}));
    }
    own.cut = ports.cuts[i];
    own.is_sized = single.is_static();
  }
  run->is_output_in_place_.resize(ports.single_outputs.size());
  run->requests_.reserve(batch);
  run->items_.reserve(batch);
  run->request_->set_callback([raw = run.get()](const Status& status) { raw->finish(status); });
  return run;
}

void BatchRun::start(std::span<BatchRequest* const> requests) {
  requests_.assign(requests.begin(), requests.end());
  const auto begin = std::chrono::steady_clock::now();
  for (BatchRequest* const request : requests_) request->io().note_begin(begin);
  Status status = bind();
  if (status.ok()) status = request_->start_async();
  if (!status.ok()) finish(status);
}

Status BatchRun::bind() {
  const BatchTensors* const tensors = requests_[0]->tensors();
  is_in_place_ = tensors != nullptr && std::ranges::all_of(requests_, [&](const BatchRequest* r) {
                   return r->tensors() == tensors;
                 });
  items_.clear();
  for (size_t i = 0; i < requests_.size(); ++i) {
    items_.push_back(is_in_place_ ? requests_[i]->item() : i);
  }
  for (size_t port = 0; port < inputs_.size(); ++port) HET_TRY(bind_input(port));
  for (size_t port = 0; port < outputs_.size(); ++port) HET_TRY(bind_output(port));
  return {};
}

Status BatchRun::bind_input(size_t port) {
  const bool in_place = is_in_place_ && std::ranges::all_of(requests_, [&](BatchRequest* r) {
                          return r->has_own_input(port);
                        });
  HET_TRY(request_->set_input(
      port, in_place ? requests_[0]->tensors()->input(port) : inputs_[port].whole));
  for (size_t i = 0; i < requests_.size(); ++i) {
    RequestIo& io = requests_[i]->io();
    const std::vector<ImageRegion> images = io.take_images(port);
    if (!images.empty() && images[0].image.plane_count > 0) {
      HET_TRY(request_->set_image(port, images[0].image, images[0].roi, items_[i]));
    } else if (!in_place) {
      HET_TRY(copy_tensor(io.input(port), inputs_[port].items[items_[i]]));
    }
  }
  return {};
}

Status BatchRun::bind_output(size_t port) {
  if (outputs_[port].cut.is_by_rows()) return {};
  const bool in_place = is_in_place_ && std::ranges::all_of(requests_, [&](BatchRequest* r) {
                          return r->has_own_output(port);
                        });
  is_output_in_place_[port] = in_place;
  return request_->set_output(
      port, in_place ? requests_[0]->tensors()->output(port) : outputs_[port].whole);
}

Status BatchRun::read_rows() {
  for (size_t port = 0; port < outputs_.size(); ++port) {
    OwnTensor& own = outputs_[port];
    if (own.cut.kind != ItemsKind::FixedRows && own.cut.kind != ItemsKind::Rows) continue;
    HET_TRY(own.rows.read(std::as_const(*request_).output(port),
                          own.cut.kind == ItemsKind::FixedRows, requests_.size()));
  }
  return {};
}

Status BatchRun::return_rows(size_t port, size_t request) {
  OwnTensor& own = outputs_[port];
  RequestIo& io = requests_[request]->io();
  Tensor part = own.part;
  HET_TRY(take_rows(std::as_const(*request_).output(port), own.cut, outputs_[own.cut.numbers].rows,
                    items_[request], part));
  if (own.is_sized) return copy_tensor(part, io.output(port));
  io.set_output(port, std::move(part));
  return {};
}

Status BatchRun::return_outputs() {
  HET_TRY(read_rows());
  for (size_t port = 0; port < outputs_.size(); ++port) {
    if (is_output_in_place_[port]) continue;
    for (size_t i = 0; i < requests_.size(); ++i) {
      if (outputs_[port].cut.is_by_rows()) {
        HET_TRY(return_rows(port, i));
        continue;
      }
      HET_TRY(copy_tensor(outputs_[port].items[items_[i]], requests_[i]->io().output(port)));
    }
  }
  return {};
}

void BatchRun::finish(const Status& status) {
  Status result = status.ok() ? return_outputs() : status;
  // Empty without PERF_COUNT.
  const std::vector<ProfileRow> rows = request_->profiling();
  // A request that is complete may be started again, as part of a batch that takes this run: the
  // list of those that are left lies in the requests by then.
  BatchRequest* first = nullptr;
  for (size_t i = requests_.size(); i-- > 0;) {
    requests_[i]->set_next(first);
    first = requests_[i];
  }
  release_(*this);
  while (first != nullptr) {
    BatchRequest* const request = std::exchange(first, first->next());
    request->end_in_batch(result, rows);
  }
}

}  // namespace het::hetero
