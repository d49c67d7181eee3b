#include "inference/requests/exclusive_device.h"

#include <utility>

namespace het {
namespace {

constexpr std::string_view kProperty = "EXCLUSIVE_ASYNC_REQUESTS";

class ExclusiveModel final : public CompiledModel {
 public:
  ExclusiveModel(std::shared_ptr<CompiledModel> inner, std::shared_ptr<ExclusiveQueue> queue)
      : CompiledModel(inner->name(), inner->inputs(), inner->outputs()),
        inner_(std::move(inner)),
        queue_(std::move(queue)) {}

  Result<std::string> get_property(std::string_view name) const override {
    return inner_->get_property(name);
  }
  std::vector<SubgraphInfo> subgraphs() const override { return inner_->subgraphs(); }
  Status set_property(const Properties& properties) override {
    return inner_->set_property(properties);
  }
  Status export_model(std::ostream& stream) const override { return inner_->export_model(stream); }
  Result<std::vector<StateVariable>> query_state(std::string_view stream) const override {
    return inner_->query_state(stream);
  }
  Status reset_state(std::string_view stream) override { return inner_->reset_state(stream); }
  std::vector<DeviceEvent> device_events(uint64_t& next) const override {
    return inner_->device_events(next);
  }
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override {
    return inner_->allocate_tensor(desc);
  }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override {
    HET_ASSIGN(std::unique_ptr<NestedRequest> request, NestedRequest::create(inner_));
    return std::make_unique<ExclusiveRequest>(*queue_, std::move(request));
  }

 private:
  const std::shared_ptr<CompiledModel> inner_;
  const std::shared_ptr<ExclusiveQueue> queue_;
};

class ExclusiveDevice final : public Device {
 public:
  ExclusiveDevice(std::shared_ptr<Device> inner, std::shared_ptr<ExclusiveQueue> queue)
      : inner_(std::move(inner)), queue_(std::move(queue)) {}

  std::string_view name() const override { return inner_->name(); }
  Result<std::string> get_property(std::string_view name) const override {
    return inner_->get_property(name);
  }
  std::vector<MemoryKind> direct_memory_kinds() const override {
    return inner_->direct_memory_kinds();
  }
  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    return inner_->query_model(model, properties);
  }
  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    return wrap(inner_->compile_model(model, properties, context), properties);
  }
  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    return wrap(inner_->import_model(stream, properties), properties);
  }
  Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params) override {
    return inner_->create_context(params);
  }

 private:
  Result<std::shared_ptr<CompiledModel>> wrap(Result<std::shared_ptr<CompiledModel>> made,
                                              const Properties& properties) const {
    if (!made) return made;
    // An imported model may know it from the file.
    const auto known = (*made)->get_property(kProperty);
    if (known ? *known != "YES" : !property_boolean(properties, kProperty)) return made;
    HET_TRY(queue_->prepare());
    return std::make_shared<ExclusiveModel>(std::move(*made), queue_);
  }

  const std::shared_ptr<Device> inner_;
  const std::shared_ptr<ExclusiveQueue> queue_;
};

}  // namespace

std::shared_ptr<Device> with_exclusive_requests(std::shared_ptr<Device> device,
                                                std::shared_ptr<ExclusiveQueue> queue) {
  return std::make_shared<ExclusiveDevice>(std::move(device), std::move(queue));
}

}  // namespace het
