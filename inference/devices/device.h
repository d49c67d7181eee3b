#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/devices/profiling.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"
#include "inference/preprocess/preprocess.h"
#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace het {

class Core;
class InferRequest;
class RequestIo;

/// One input or output of a compiled model.
struct Port {
  std::string name;
  TensorDesc desc;
  /// Inputs only: how set_image() fills it; absent when the model was compiled without.
  std::optional<PreprocessDesc> preprocess;
};

/// Content of a variable that a model keeps between executions (ReadValue, Assign).
struct StateVariable {
  std::string id;
  Tensor value;
};

/// Where one node of a queried model would run, or why it cannot.
struct NodeSupport {
  std::string node_name;
  std::string op_type;
  std::string device;  ///< empty when unsupported
  std::string reason;  ///< why unsupported, or a remark ("runs the reference implementation")
  bool supported() const { return !device.empty(); }
};

/// A part of a compiled model that one device runs. Names of nodes are those of the file, of values
/// those of the model.
struct SubgraphInfo {
  std::string name;
  std::string device;
  std::vector<std::string> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<size_t> dependencies;  ///< subgraphs that must have run before; earlier ones
};

/// A compiled model goes on without a device, or with it again.
struct DeviceEvent {
  std::string device;
  std::string cause;  ///< why it was lost; empty: it is back
};

/// A part of a picture that shall become one batch item of an input.
struct ImageRegion {
  Image image;
  Rect roi;
};

/// Learns that an execution ended. complete() is called exactly once per start(), from any thread,
/// possibly before start() returns.
class HET_API CompletionSink {
 public:
  virtual void complete(Status status) = 0;

 protected:
  ~CompletionSink() = default;
};

/// A device's part of one InferRequest: scratch memory and the way into its queue. Thread-bound to
/// its InferRequest, which serialises start() and outlives every execution.
class HET_API DeviceRequest {
 public:
  virtual ~DeviceRequest() = default;
  /// Begins an execution and returns without waiting for it or for other requests. On its own
  /// thread the device calls io.preprocess_pending() first unless it consumes images itself, reads
  /// io.input(i), writes io.output(i) (or replaces outputs that are sized at run time).
  virtual void start(RequestIo& io, CompletionSink& sink) = 0;
  /// The same for a caller that does nothing but wait for the end: the calling thread may do the
  /// work and return when it is done.
  virtual void start_here(RequestIo& io, CompletionSink& sink) { start(io, sink); }
  /// Asks a running execution to end early with Cancelled; completion still arrives.
  virtual void cancel() {}
  /// Rows of the last execution; empty without PERF_COUNT. Called only while not running.
  virtual std::vector<ProfileRow> profiling() const { return {}; }
  /// The tensor that an input or output starts with, where this very request has a place for it;
  /// empty: CompiledModel::allocate_tensor() gives one. Asked before the first start().
  virtual Tensor own_input(size_t) const { return {}; }
  virtual Tensor own_output(size_t) const { return {}; }
};

/// A model prepared for one device string: immutable, shared by its requests, thread-safe.
class HET_API CompiledModel : public std::enable_shared_from_this<CompiledModel> {
 public:
  virtual ~CompiledModel() = default;
  CompiledModel(const CompiledModel&) = delete;
  CompiledModel& operator=(const CompiledModel&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  Result<size_t> input_index(std::string_view name) const;
  Result<size_t> output_index(std::string_view name) const;

  /// A new request with tensors of its own. The request keeps the compiled model alive.
  Result<std::unique_ptr<InferRequest>> create_infer_request();

  /// OPTIMAL_NUMBER_OF_INFER_REQUESTS, EXECUTION_DEVICES, INFERENCE_PRECISION_HINT ...; every
  /// property that it was compiled with reads back.
  virtual Result<std::string> get_property(std::string_view name) const = 0;
  /// How executions that begin now are split over devices: one row per subgraph, in an order in
  /// which they can run. Of the placement that most executions take where they take turns. Empty
  /// for models that are not split, and before the first execution of one that is compiled for the
  /// shapes of each execution.
  virtual std::vector<SubgraphInfo> subgraphs() const;
  /// Changes properties while requests may be running; fails with NotSupported for those that count
  /// when a model is compiled, by default all.
  virtual Status set_property(const Properties& properties);
  /// Writes what import_model() of the same device reads. Fails with NotSupported by default.
  virtual Status export_model(std::ostream& stream) const;
  /// The variables of a stream (see InferRequest::set_stream) as the last execution left them;
  /// copies. Empty for stateless models and before the first execution.
  virtual Result<std::vector<StateVariable>> query_state(std::string_view stream) const;
  /// Forgets the state of a stream: executions started from now on begin anew.
  virtual Status reset_state(std::string_view stream);
  /// Memory for a request's input or output, where the device reaches it best; host by default.
  virtual Result<Tensor> allocate_tensor(const TensorDesc& desc);
  /// Devices lost and taken back since the model began to compile, from event number `next` (0 at
  /// first) on, which becomes that of the event to come. Cheap where there is none.
  virtual std::vector<DeviceEvent> device_events(uint64_t& next) const;

 protected:
  CompiledModel(std::string name, std::vector<Port> inputs, std::vector<Port> outputs)
      : name_(std::move(name)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  friend class InferRequest;
  virtual Result<std::unique_ptr<DeviceRequest>> create_device_request() = 0;

 private:
  std::string name_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
};

/// An application's own objects a device shall work in: "VADisplay", "cl_context", "cl_queue" ...
using ContextParams = std::map<std::string, void*>;

/// A device working inside objects of the application; handed back to compile_model.
class HET_API DeviceContext : public std::enable_shared_from_this<DeviceContext> {
 public:
  virtual ~DeviceContext() = default;
  virtual std::string_view device_name() const = 0;
  /// A dense tensor in memory of the application's objects, e.g. OpenClHandle, for inputs and
  /// outputs of models that were compiled in this context: they are read and written in place.
  /// Executions run behind the commands that the handle's queue has when they start; commands that
  /// it gets after start_async() find an output written. Without a queue the application orders
  /// them itself: it starts when inputs are there and reads after wait(). The memory is kept until
  /// the last user lets go; then `release` runs. Fails with InvalidArgument for memory of another
  /// kind or context or that is too small, with NotSupported by default.
  virtual Result<Tensor> wrap(TensorDesc desc, const MemoryHandle& handle,
                              std::function<void()> release = {});
  /// A dense tensor in the device's own memory, uninitialised; its handle says where. Fails with
  /// NotSupported by default.
  virtual Result<Tensor> allocate(TensorDesc desc);
};

/// THE interface that devices implement. Made at first use by the registry; thread-safe.
class HET_API Device {
 public:
  virtual ~Device() = default;

  /// "CPU", "GPU.0", "HETERO"
  virtual std::string_view name() const = 0;
  /// FULL_DEVICE_NAME, OPTIMIZATION_CAPABILITIES, RANGE_FOR_STREAMS ...
  virtual Result<std::string> get_property(std::string_view name) const = 0;
  /// Memory kinds that tensors and images may have without being mapped first.
  virtual std::vector<MemoryKind> direct_memory_kinds() const { return {MemoryKind::Host}; }

  /// Decides per node, in the order of model.nodes(), after the device's own rewrites of this
  /// very model. What query_model() says, compile_model() does.
  virtual Result<std::vector<NodeSupport>> query_model(const Model& model,
                                                       const Properties& properties) const = 0;
  /// All planning happens here. Shapes must be static (Model::reshape). `properties` were
  /// validated by the Core. Fails with NotSupported naming every refused node.
  virtual Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                               const Properties& properties,
                                                               DeviceContext* context) = 0;
  /// The default says NotSupported.
  virtual Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                              const Properties& properties);
  virtual Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params);
};

}  // namespace het
