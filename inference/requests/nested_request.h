#pragma once

#include <memory>

#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/requests/infer_request.h"
#include "inference/requests/request_io.h"

namespace het {

/// Runs executions of one request on a request of another compiled model whose first ports are
/// those of the outer one, in the same order. For compiled models that wrap others. Tensors are
/// shared, not copied. Thread-bound to the outer request, except cancel().
class HET_API NestedRequest {
 public:
  static Result<std::unique_ptr<NestedRequest>> create(std::shared_ptr<CompiledModel> model);

  /// For ports beyond the outer ones.
  InferRequest& request() { return *request_; }
  const InferRequest& request() const { return *request_; }

  /// Hands inputs, pictures and fitting outputs of `io` over and starts. `sink` is told the end
  /// after `io` has got the outputs; also when the start itself fails. With `keeps_pictures`, `io`
  /// has them still, for another start.
  void start(RequestIo& io, CompletionSink& sink, bool keeps_pictures = false);
  void cancel() { request_->cancel(); }

 private:
  explicit NestedRequest(std::unique_ptr<InferRequest> request);
  Status bind(RequestIo& io, bool keeps_pictures);
  void finish(const Status& status);

  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  std::unique_ptr<InferRequest> request_;  // last: its end waits for a running finish()
};

}  // namespace het
