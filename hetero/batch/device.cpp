#include "hetero/batch/device.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "hetero/batch/compiled_model.h"
#include "hetero/batch/independence.h"
#include "hetero/batch/reshape.h"
#include "inference/base/log.h"
#include "inference/devices/properties.h"
#include "inference/passes/expose_state.h"
#include "inference/passes/prepare_model.h"

namespace het::hetero {
namespace {

constexpr std::string_view kBatchName = "BATCH";
constexpr size_t kMaxBatch = 1024;
/// Where neither the user nor the device has one.
constexpr size_t kDefaultBatch = 8;

struct Target {
  std::string device;
  std::optional<size_t> batch;
};

std::optional<size_t> parse_size(std::string_view text) {
  size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Target> parse_target(std::string_view arguments) {
  const size_t bracket = arguments.rfind('(');
  Target target{std::string(arguments.substr(0, bracket)), std::nullopt};
  if (bracket != std::string_view::npos) {
    std::string_view number = arguments.substr(bracket + 1);
    const bool is_closed = number.ends_with(')');
    if (is_closed) number.remove_suffix(1);
    target.batch = parse_size(number);
    if (!is_closed || !target.batch || *target.batch < 1 || *target.batch > kMaxBatch) {
      return error(
          StatusCode::InvalidArgument,
          "'{}' is not of the form DEVICE(BATCH) with a batch from 1 to {}, such as GPU(8)",
          arguments, kMaxBatch);
    }
  }
  if (target.device.empty() || parse_device_name(target.device).kind == kBatchName) {
    return error(StatusCode::InvalidArgument,
                 "{} needs another device after its colon, such as {}:GPU(8), not '{}'", kBatchName,
                 kBatchName, arguments);
  }
  return target;
}

/// On a device, or on none ("BATCH" alone), which only has properties.
class BatchDevice final : public Device {
 public:
  BatchDevice(std::string_view arguments, Target target, std::shared_ptr<Device> inner,
              Properties inner_defaults)
      : full_name_(arguments.empty() ? std::string(kBatchName)
                                     : fmt::format("{}:{}", kBatchName, arguments)),
        target_(std::move(target)),
        inner_(std::move(inner)),
        inner_defaults_(std::move(inner_defaults)) {}

  std::string_view name() const override { return kBatchName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, full_name_));
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(full_name_);
    if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(full_name_).arguments;
    if (def->name == "AUTO_BATCH_TIMEOUT") return std::string(def->default_value);
    if (inner_ == nullptr) {
      if (def->name == "FULL_DEVICE_NAME") return "Batches for another device";
      return std::string(def->default_value);
    }
    if (def->name == "OPTIMAL_BATCH_SIZE") return std::to_string(batch_size({}));
    if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
      HET_ASSIGN(const std::string text, inner_->get_property(def->name));
      return std::to_string(parse_size(text).value_or(1) * batch_size({}));
    }
    const auto value = inner_defaults_.find(std::string(def->name));
    return value != inner_defaults_.end() ? value->second : inner_->get_property(def->name);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    return inner_ ? inner_->direct_memory_kinds() : Device::direct_memory_kinds();
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_TRY(check_target());
    HET_ASSIGN(std::vector<NodeSupport> rows,
               inner_->query_model(model, inner_properties(properties, 1)));
    const std::unique_ptr<Model> stateless = model.clone();
    if (has_state(model)) HET_TRY(expose_state(*stateless));
    if (!check_inputs_static(*stateless).ok()) return rows;
    // What stands against a batch stands against every node. Whether items of a batch are computed
    // independently is tried when the model is compiled.
    const auto reshaped = reshape_to_batch(*stateless, batch_size(properties));
    for (NodeSupport& row : rows) {
      if (reshaped || !row.supported()) continue;
      row.device.clear();
      row.reason = reshaped.error().message();
    }
    return rows;
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    HET_TRY(check_target());
    const size_t batch = batch_size(properties);
    HET_ASSIGN(const std::unique_ptr<Model> reshaped, reshape_to_batch(model, batch));
    HET_ASSIGN(std::shared_ptr<CompiledModel> single,
               inner_->compile_model(model, inner_properties(properties, 1), context));
    std::shared_ptr<CompiledModel> batched = single;
    if (batch > 1) {
      auto compiled =
          inner_->compile_model(*reshaped, inner_properties(properties, batch), context);
      if (!compiled) {
        return Failure(compiled.error().with_context(fmt::format("with batch {}", batch)));
      }
      batched = std::move(*compiled);
      HET_TRY(check_independence(*single, *batched, batch));
    }
    log(LogLevel::Info, "model '{}' runs in batches of {} on {}", model.name(), batch,
        target_.device);
    return BatchCompiledModel::create(
        {std::move(single), std::move(batched), batch, full_name_, properties});
  }

  Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params) override {
    HET_TRY(check_target());
    return inner_->create_context(params);
  }

 private:
  Status check_target() const {
    if (inner_ != nullptr) return {};
    return error(StatusCode::InvalidArgument,
                 "{} needs a device to batch for: {}:GPU(8), or GPU(8) in MULTI_DEVICE_PRIORITIES",
                 kBatchName, kBatchName);
  }

  size_t batch_size(const Properties& properties) const {
    if (target_.batch) return *target_.batch;
    if (const auto text = inner_->get_property("OPTIMAL_BATCH_SIZE")) {
      return std::clamp<size_t>(parse_size(*text).value_or(1), 1, kMaxBatch);
    }
    const auto requests =
        static_cast<size_t>(property_integer(properties, "PERFORMANCE_HINT_NUM_REQUESTS"));
    return requests == 0 ? kDefaultBatch : std::min(requests, kDefaultBatch);
  }

  /// What the inner device gets for a model of this batch.
  Properties inner_properties(const Properties& properties, size_t batch) const {
    Properties inner = properties;
    inner.erase("AUTO_BATCH_TIMEOUT");
    inner.erase("MULTI_DEVICE_PRIORITIES");
    inner.insert(inner_defaults_.begin(), inner_defaults_.end());
    const auto requests = inner.find("PERFORMANCE_HINT_NUM_REQUESTS");
    if (requests != inner.end()) {
      const size_t count = parse_size(requests->second).value_or(0);
      requests->second = std::to_string((count + batch - 1) / batch);
    }
    return inner;
  }

  const std::string full_name_;
  const Target target_;
  const std::shared_ptr<Device> inner_;  ///< null for "BATCH" alone
  const Properties inner_defaults_;      ///< set_property() of the inner device
};

}  // namespace

Result<std::shared_ptr<Device>> make_batch_device(Core& core, std::string_view arguments) {
  if (arguments.empty()) {
    return std::make_shared<BatchDevice>(arguments, Target(), nullptr, Properties());
  }
  HET_ASSIGN(Target target, parse_target(arguments));
  HET_ASSIGN(std::shared_ptr<Device> inner, core.devices().get(core, target.device));
  Properties defaults = core.default_properties(target.device);
  return std::make_shared<BatchDevice>(arguments, std::move(target), std::move(inner),
                                       std::move(defaults));
}

}  // namespace het::hetero
