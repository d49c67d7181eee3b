#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/model/model.h"
#include "inference/requests/infer_request.h"
#include "tests/hetero/execution/saboteur.h"

namespace het::hetero {

/// Runs of 300 frames with 4 requests in flight on HETERO over two wrapped devices and CPU, of
/// which the wrapped ones fail at random moments. Frames are tensors or pictures. Every frame has
/// to end once, well, with its own results, and without its picture; each loss has to be told once.
class FaultRuns {
 public:
  FaultRuns();

  /// Everything but the moments that threads decide follows from the seed. Run number n begins with
  /// fault n % kDeviceCalls. Empty, or what went wrong.
  std::string run(uint64_t seed, size_t number);
  /// How often a fault of the kind came about in all runs.
  size_t hits(DeviceCall call) const { return hits_[static_cast<size_t>(call)]; }
  size_t returns() const { return returns_; }  ///< devices that were taken back
  size_t second_faults() const { return second_faults_; }

 private:
  class Run;
  struct Worker {
    std::shared_ptr<WrappedBehaviour> behaviour = std::make_shared<WrappedBehaviour>();
    const char* name = nullptr;
  };

  /// A model and what it gives.
  struct Case {
    std::unique_ptr<Model> model;
    std::vector<std::vector<Tensor>> expected;  ///< per frame the outputs
  };
  /// Frame number `frame` of the case, whose picture counts in `alive` while it lives.
  void set_frame(InferRequest& request, bool is_picture, size_t frame,
                 std::atomic<size_t>& alive) const;

  Core core_;
  std::array<Worker, 2> devices_;
  std::array<Case, 2> cases_;  ///< of tensors, of pictures
  std::vector<Tensor> frames_;
  std::vector<Tensor> pictures_;  ///< RGB bytes
  std::array<size_t, kDeviceCalls> hits_{};
  size_t returns_ = 0;
  size_t second_faults_ = 0;
};

}  // namespace het::hetero
