#pragma once

#include <memory>
#include <mutex>

#include "inference/base/status.h"
#include "inference/devices/stream_executor.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// True for a tensor whose memory the host has to map.
bool is_remote(const Tensor& tensor);

/// As copy_tensor(), from and to memory that has to be mapped as well: waits for its owner. Several
/// threads may copy from one buffer.
Status copy_remote(const Tensor& src, Tensor& dst);

/// A dense copy on the host.
Result<Tensor> clone_remote(const Tensor& src);

/// A thread that waits for memory of devices instead of those that must not. Thread-safe.
class TransferThread {
 public:
  /// The thread begins with the first job. Fails with OutOfMemory when the system gives none.
  Status submit(StreamJob& job);

 private:
  std::mutex mutex_;  ///< protects thread_; taken alone
  std::unique_ptr<StreamExecutor> thread_;
};

}  // namespace het::hetero
