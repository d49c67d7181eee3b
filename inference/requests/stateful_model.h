#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/passes/expose_state.h"

namespace het {

class StatefulRequest;

/// A model with state (ReadValue, Assign) on a device that knows none: wraps the model compiled
/// with its variables as ports (expose_state) and keeps their content per stream. Executions of one
/// stream run one at a time, in the order of their starts; those of different streams side by side.
/// At most kMaxStreams streams have a state; reset_state() ends one.
class HET_API StatefulCompiledModel final : public CompiledModel {
 public:
  static constexpr size_t kMaxStreams = 1024;

  /// `inner` has the model's ports first and those of `variables` after them.
  StatefulCompiledModel(std::shared_ptr<CompiledModel> inner, std::vector<StatePorts> variables);

  Result<std::string> get_property(std::string_view name) const override;
  std::vector<SubgraphInfo> subgraphs() const override;
  Status set_property(const Properties& properties) override;
  Result<std::vector<StateVariable>> query_state(std::string_view stream) const override;
  Status reset_state(std::string_view stream) override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;
  std::vector<DeviceEvent> device_events(uint64_t& next) const override;

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  friend class StatefulRequest;
  struct Stream {
    std::vector<Tensor> values;  ///< one per variable; empty: not set
    std::vector<Tensor> spares;  ///< what the running execution writes
    uint64_t epoch = 0;          ///< grows with every reset
    uint64_t values_epoch = 0;   ///< the epoch that `values` belongs to
    StatefulRequest* running = nullptr;
    std::deque<StatefulRequest*> waiting;
  };

  /// Runs the request now or when its turn comes.
  void enqueue(StatefulRequest& request);
  /// Gives the stream to the request and tells it what to read and where to write. Under mutex_.
  void begin(Stream& stream, StatefulRequest& request, std::vector<Tensor>& values,
             std::vector<Tensor>& spares);
  /// The variables become `results` (null after a failure: they stay); the next request runs.
  void finish(StatefulRequest& request, const std::vector<Tensor>* results);
  /// False when it is not waiting.
  bool withdraw(StatefulRequest& request);

  std::shared_ptr<CompiledModel> inner_;
  std::vector<StatePorts> variables_;
  mutable std::mutex mutex_;  ///< protects streams_; never held while a request starts or ends
  std::map<std::string, Stream, std::less<>> streams_;
};

}  // namespace het
