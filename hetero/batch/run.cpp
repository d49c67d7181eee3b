#include "hetero/batch/run.h"

#include <algorithm>
#include <utility>

#include "hetero/batch/request.h"
#include "hetero/batch/tensors.h"

namespace het::hetero {

Result<BatchRun::OwnTensor> BatchRun::cut(const Tensor& whole, const TensorDesc& single,
                                          size_t batch) {
  OwnTensor own{whole, {}};
  for (size_t i = 0; i < batch; ++i) {
    HET_ASSIGN(own.items.emplace_back(), view_item(whole, single, i));
  }
  return own;
}

Result<std::unique_ptr<BatchRun>> BatchRun::create(const std::shared_ptr<CompiledModel>& batched,
                                                   const std::vector<Port>& single_inputs,
                                                   const std::vector<Port>& single_outputs,
                                                   size_t batch,
                                                   std::function<void(BatchRun&)> release) {
  std::unique_ptr<BatchRun> run(new BatchRun(std::move(release)));
  HET_ASSIGN(run->request_, batched->create_infer_request());
  for (size_t i = 0; i < single_inputs.size(); ++i) {
    HET_ASSIGN(run->inputs_.emplace_back(),
               cut(run->request_->input(i), single_inputs[i].desc, batch));
  }
  for (size_t i = 0; i < single_outputs.size(); ++i) {
    HET_ASSIGN(run->outputs_.emplace_back(),
               cut(run->request_->output(i), single_outputs[i].desc, batch));
  }
  run->is_output_in_place_.resize(single_outputs.size());
  run->requests_.reserve(batch);
  run->items_.reserve(batch);
  run->request_->set_callback([raw = run.get()](const Status& status) { raw->finish(status); });
  return run;
}

void BatchRun::start(std::span<BatchRequest* const> requests) {
  requests_.assign(requests.begin(), requests.end());
  for (BatchRequest* const request : requests_) request->io().note_begin();
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
  const bool in_place = is_in_place_ && std::ranges::all_of(requests_, [&](BatchRequest* r) {
                          return r->has_own_output(port);
                        });
  is_output_in_place_[port] = in_place;
  return request_->set_output(
      port, in_place ? requests_[0]->tensors()->output(port) : outputs_[port].whole);
}

Status BatchRun::return_outputs() {
  for (size_t port = 0; port < outputs_.size(); ++port) {
    if (is_output_in_place_[port]) continue;
    for (size_t i = 0; i < requests_.size(); ++i) {
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
