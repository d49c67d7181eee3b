#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "hetero/batch/rows.h"
#include "inference/base/status.h"
#include "inference/requests/infer_request.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

class BatchRequest;

/// The ports of a BatchCompiledModel.
struct BatchPorts {
  const std::vector<Port>& single_inputs;
  const std::vector<Port>& single_outputs;
  const std::vector<OutputCut>& cuts;  ///< of the outputs
  size_t batch;
};

/// Runs a batch of requests on one request of the batched model. Ports whose tensors are the items
/// of one BatchTensors run in place, others are copied into tensors of the run's own and back, and
/// so are rows, by their numbers. Used for one batch at a time.
class BatchRun {
 public:
  /// `release` is called when a batch has left the run, before its requests are complete.
  static Result<std::unique_ptr<BatchRun>> create(const std::shared_ptr<CompiledModel>& batched,
                                                  const BatchPorts& ports,
                                                  std::function<void(BatchRun&)> release);

  /// Takes pictures and tensors of the requests and starts; exactly `batch` of them. Each learns
  /// the end by BatchRequest::end_in_batch(), also when the start fails.
  void start(std::span<BatchRequest* const> requests);

 private:
  struct OwnTensor {
    Tensor whole;
    std::vector<Tensor> items;
    OutputCut cut = {};
    bool is_sized = true;  ///< else each request gets a tensor of its own after each execution
    Tensor part = {};      ///< FixedRows: of one item
    RowItems rows = {};    ///< FixedRows, Rows: of the batch that has run
  };
  explicit BatchRun(std::function<void(BatchRun&)> release) : release_(std::move(release)) {}
  static Result<OwnTensor> cut(const Tensor& whole, const TensorDesc& single, size_t batch);
  Status bind();
  Status bind_input(size_t port);
  Status bind_output(size_t port);
  Status return_outputs();
  Status read_rows();
  Status return_rows(size_t port, size_t request);
  void finish(const Status& status);

  std::function<void(BatchRun&)> release_;
  std::vector<OwnTensor> inputs_;
  std::vector<OwnTensor> outputs_;
  std::vector<bool> is_output_in_place_;
  std::vector<BatchRequest*> requests_;    ///< of the running batch
  std::vector<size_t> items_;              ///< of each of them
  bool is_in_place_ = false;               ///< the requests are those of one BatchTensors
  std::unique_ptr<InferRequest> request_;  // last: its end waits for a running finish()
};

}  // namespace het::hetero
