#include "devices/gpu/plan/plan_builder.h"

#include <algorithm>
#include <limits>

#include "devices/gpu/plan/custom_kernel.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/register_kernels.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/prepare_model.h"

namespace het::gpu {
namespace {

/// Kernels count elements in int.
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

std::string refusal_of_value(const Value& value) {
  const TensorDesc& desc = value.desc();
  if (!desc.is_static()) return fmt::format("the size of '{}' depends on the data", value.name());
  Result<int64_t> elements = checked_element_count(desc.shape);
  if (!elements || *elements > kMostElements) {
    return fmt::format("'{}' has more than 2^31 elements", value.name());
  }
  // Kernels take an empty constant for an omitted list, as ONNX' Resize has them.
  if (*elements == 0 && !value.is_constant()) return fmt::format("'{}' is empty", value.name());
  return {};
}

}  // namespace

std::string refusal(const Node& node, const CustomLayers* layers, bool is_bound) {
  // What fusions made is known to devices only.
  if (node.op() == nullptr && node.domain() != "het") return node.unsupported_reason();
  const KernelEntry* const kernel = kernel_registry().find(node.domain(), node.op_type());
  const CustomLayer* const layer = kernel == nullptr ? custom_layer_of(layers, node) : nullptr;
  if (kernel == nullptr && layer == nullptr) {
    return fmt::format("no GPU kernel for {}", node.qualified_type());
  }
  if (!is_bound && reads_unknown_sizes(node)) return {};
  for (const auto* list : {&node.inputs(), &node.outputs()}) {
    for (const Value* value : *list) {
      if (value == nullptr) continue;
      if (std::string reason = refusal_of_value(*value); !reason.empty()) return reason;
    }
  }
  return layer != nullptr ? refuse_custom(*layer, node) : kernel->refusal(node);
}

ElementType PlanBuilder::kept_type(const Value& value) const {
  const ElementType type = value.desc().type;
  return type == ElementType::Float32 ? options_.stored_type : type;
}

TensorId PlanBuilder::add_tensor(PlanTensor tensor) {
  plan_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

const TensorSpec& PlanBuilder::home(const Value& value) {
  const auto found = versions_.find(&value);
  if (found != versions_.end()) return tensor(found->second.front()).spec;
  // Only constants have no producer and no port; they are uploaded once somebody reads them.
  PlanTensor made;
  made.spec = {value.desc().type, value.desc().shape, Format::Plain};
  made.storage = Storage::Constant;
  versions_[&value] = {add_tensor(std::move(made))};
  return tensor(versions_[&value].front()).spec;
}

Result<TensorId> PlanBuilder::read_home(const Value& value) {
  const TensorSpec spec = home(value);
  return read(value, spec.format, spec.type);
}

Result<TensorId> PlanBuilder::read(const Value& value, Format format) {
  return read(value, format, kept_type(value));
}

Result<TensorId> PlanBuilder::read(const Value& value, Format format, ElementType type) {
  TensorSpec wanted = home(value);
  wanted.format = wanted.shape.size() < 3 ? Format::Plain : format;
  wanted.type = type;
  const std::vector<TensorId> ids = versions_.at(&value);
  const auto is_uploaded = [&](TensorId id) {
    return tensor(id).storage != Storage::Constant || tensor(id).constant != nullptr;
  };
  for (const TensorId id : ids) {
    if (tensor(id).spec == wanted && is_uploaded(id)) return id;
  }
  if (value.is_constant()) {
    HET_ASSIGN(const Tensor content, convert_constant(value.constant(), wanted));
    HET_ASSIGN(const TensorId id, constant(content));
    plan_.tensors[static_cast<size_t>(id)].spec = wanted;
    versions_[&value].push_back(id);
    return id;
  }
  for (const TensorId id : ids) {
    if (!same_bytes(tensor(id).spec, wanted)) continue;
    versions_[&value].push_back(view(wanted, id));
    return versions_[&value].back();
  }
  return reorder(value, ids.front(), wanted);
}

Result<TensorId> PlanBuilder::reorder(const Value& value, TensorId source,
                                      const TensorSpec& wanted) {
  const TensorId id = temporary(wanted);
  Step step;
  step.node_name = value.name() + "/reorder";
  step.layer_type = "Reorder";
  HET_ASSIGN(step.launch, reorder_launch(*this, source, id));
  step.implementation = step.launch.kernel;
  plan_.steps.push_back(std::move(step));
  versions_[&value].push_back(id);
  return id;
}

TensorId PlanBuilder::temporary(TensorSpec spec) {
  PlanTensor made;
  made.spec = std::move(spec);
  if (made.spec.shape.size() < 3) made.spec.format = Format::Plain;
  return add_tensor(std::move(made));
}

TensorId PlanBuilder::write(const Value& value, Format format) {
  return write(value, {kept_type(value), value.desc().shape, format});
}

TensorId PlanBuilder::write(const Value& value, TensorSpec spec) {
  const TensorId id = temporary(std::move(spec));
  versions_[&value] = {id};
  return id;
}

ChannelPlace PlanBuilder::write_channels(const Value& value) {
  const Node* const reader = only_reader(model_, value);
  if (!is_op(reader, "Concat") || reader->attributes().get_int("axis", 0) != 1 ||
      kept_type(value) != kept_type(*reader->output())) {
    return {write(value, Format::ChannelsLast), value.desc().shape[1], 0};
  }
  const Value& all = *reader->output();
  if (!is_declared(all)) write(all, Format::ChannelsLast);
  ChannelPlace place{versions_.at(&all).front(), all.desc().shape[1], 0};
  for (const Value* part : reader->inputs()) {
    if (part == &value) break;
    place.first += part->desc().shape[1];
  }
  joined_.insert(&value);
  return place;
}

TensorId PlanBuilder::view(TensorSpec spec, TensorId source) {
  PlanTensor made;
  made.spec = std::move(spec);
  made.parent = source;
  made.storage = tensor(source).storage;
  return add_tensor(std::move(made));
}

void PlanBuilder::write_view(const Value& value, TensorSpec spec, TensorId source) {
  versions_[&value] = {view(std::move(spec), source)};
}

Result<TensorId> PlanBuilder::constant(const Tensor& content) {
  PlanTensor made;
  made.spec = {content.type(), content.shape(), Format::Plain};
  made.storage = Storage::Constant;
  HET_ASSIGN(made.constant, context_->upload(content.bytes(), content.size_bytes()));
  plan_.constant_bytes += content.size_bytes();
  return add_tensor(std::move(made));
}

Result<TensorId> PlanBuilder::stored_constant(const std::vector<float>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  HET_ASSIGN(const Tensor content,
             convert_constant(Tensor::from<float>(shape, values), {options_.stored_type, shape}));
  return constant(content);
}

Status PlanBuilder::add_step(const Node& node, Launch launch) {
  Step step{step_name(node)};
  step.implementation = launch.kernel;
  step.launch = std::move(launch);
  for (const float number : step.launch.text.numbers) step.launch.args.emplace_back(number);
  plan_.steps.push_back(std::move(step));
  return {};
}

Status PlanBuilder::finish_outputs() {
  for (size_t port = 0; port < model_.outputs().size(); ++port) {
    const Value& value = *model_.outputs()[port].value;
    HET_ASSIGN(const TensorId id, read(value, Format::Plain, value.desc().type));
    plan_.outputs.push_back(id);
    // Written straight into the request's output; inputs, constants and second uses are copied.
    PlanTensor& root = plan_.tensors[static_cast<size_t>(plan_.root(id))];
    if (root.storage == Storage::Arena) {
      root.storage = Storage::Output;
      root.port = port;
    }
  }
  return {};
}

Status PlanBuilder::build_programs() {
  std::vector<ProgramText> texts;
  for (const Step& step : plan_.steps) {
    texts.push_back(step.launch.text);
    texts.back().kernel = step.launch.kernel;
  }
  HET_ASSIGN(const std::vector<BuiltText> built,
             context_->programs().get_all(texts, options_.cache_folder));
  for (size_t i = 0; i < built.size(); ++i) {
    plan_.steps[i].program = built[i].program;
    plan_.steps[i].kernel = plan_.steps[i].launch.kernel + built[i].suffix;
    plan_.steps[i].launch.text = {};
  }
  return {};
}

Result<Plan> PlanBuilder::build() {
  for (size_t port = 0; port < model_.inputs().size(); ++port) {
    const Value& value = *model_.inputs()[port].value;
    PlanTensor input;
    input.spec = {value.desc().type, value.desc().shape, Format::Plain};
    input.storage = Storage::Input;
    input.port = port;
    versions_[&value] = {add_tensor(std::move(input))};
  }
  // All that is refused is named, before anything is built.
  std::string refused;
  for (const auto& node : model_.nodes()) {
    const std::string reason = refusal(*node, options_.custom_layers.get());
    if (reason.empty()) continue;
    refused += fmt::format("{}'{}' ({}): {}", refused.empty() ? "" : "; ", node->name(),
                           node->qualified_type(), reason);
  }
  if (!refused.empty()) {
    return error(StatusCode::NotSupported, "device GPU cannot run model '{}': {}", model_.name(),
                 refused);
  }
  for (const auto& node : model_.nodes()) {
    const KernelEntry* const kernel = kernel_registry().find(node->domain(), node->op_type());
    const Status status =
        kernel != nullptr
            ? kernel->plan(*this, *node)
            : plan_custom(*this, *custom_layer_of(options_.custom_layers.get(), *node), *node);
    if (!status.ok()) {
      return Failure(
          status.with_context(fmt::format("node '{}' ({})", node->name(), node->qualified_type())));
    }
  }
  if (measurements_ != nullptr) measurements_->save();
  HET_TRY(finish_outputs());
  HET_TRY(build_programs());
  plan_memory(plan_, hardware().address_alignment);
  return std::move(plan_);
}

const KernelRegistry& kernel_registry() {
  static const KernelRegistry* const registry = [] {
    auto* made = new KernelRegistry;
    register_kernels(*made);
    return made;
  }();
  return *registry;
}

}  // namespace het::gpu
