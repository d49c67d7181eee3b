#include "hetero/multi/worker.h"

#include <utility>

#include "hetero/multi/dispatcher.h"
#include "hetero/multi/request.h"

namespace het::hetero {
namespace {

/// A start_within() on this thread.
struct StartFrame {
  const MultiWorker* worker = nullptr;
  bool has_ended = false;
};
thread_local StartFrame* t_frame = nullptr;

/// Of the port's type and rank, without elements where its size is not known: a device must not
/// find memory that fits, since the last result there is another request's.
Result<Tensor> make_idle_tensor(const TensorDesc& port) {
  TensorDesc desc = port;
  if (desc.type == ElementType::Undefined) desc = {ElementType::Float32, {0}};
  for (int64_t& dim : desc.shape) {
    if (dim == kUnknownDim) dim = 0;
  }
  return Tensor::allocate(desc);
}

}  // namespace

Result<std::unique_ptr<WorkerGroup>> make_worker_group(MultiDispatcher& dispatcher,
                                                       std::string device,
                                                       std::shared_ptr<CompiledModel> model,
                                                       size_t limit) {
  auto group = std::make_unique<WorkerGroup>();
  group->device = std::move(device);
  group->model = std::move(model);
  for (size_t n = 0; n < limit; ++n) {
    HET_ASSIGN(std::unique_ptr<NestedRequest> nested, NestedRequest::create(group->model));
    const InferRequest& request = nested->request();
    // The first one's tensors serve all of them.
    for (size_t i = 0; n == 0 && i < group->model->inputs().size(); ++i) {
      group->idle_inputs.push_back(request.input(i));
    }
    for (size_t i = 0; n == 0 && i < group->model->outputs().size(); ++i) {
      group->idle_outputs.push_back(request.output(i));
      if (!group->idle_outputs[i].empty()) continue;
      HET_ASSIGN(group->idle_outputs[i], make_idle_tensor(group->model->outputs()[i].desc));
    }
    group->workers.push_back(std::make_unique<MultiWorker>(dispatcher, *group, std::move(nested)));
    group->workers.back()->take_idle_tensors();
  }
  return group;
}

void MultiWorker::start(MultiRequest& request) {
  request_->start(*request.io_, *this, dispatcher_.falls_back());
}

bool MultiWorker::start_within(MultiRequest& request) {
  StartFrame frame{this};
  StartFrame* const outer = std::exchange(t_frame, &frame);
  request_->start(*request.io_, *this, dispatcher_.falls_back());
  t_frame = outer;
  return frame.has_ended;
}

void MultiWorker::take_idle_tensors() {
  InferRequest& request = request_->request();
  // They fit: they are the model's own.
  for (size_t i = 0; i < group_.idle_inputs.size(); ++i) {
    if (!group_.idle_inputs[i].empty()) (void)request.set_input(i, group_.idle_inputs[i]);
  }
  for (size_t i = 0; i < group_.idle_outputs.size(); ++i) {
    (void)request.set_output(i, group_.idle_outputs[i]);
  }
}

void MultiWorker::complete(Status status) {
  status_ = std::move(status);
  if (t_frame != nullptr && t_frame->worker == this) {
    t_frame->has_ended = true;
    return;
  }
  dispatcher_.end(*this);
}

void MultiWorker::run(size_t) {
  dispatcher_.end(*this);
}

}  // namespace het::hetero
