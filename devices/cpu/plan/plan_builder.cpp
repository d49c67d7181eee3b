#include "devices/cpu/plan/plan_builder.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "devices/cpu/formats/small_work.h"
#include "devices/cpu/moves/block_reorder.h"
#include "devices/cpu/moves/picture_reorder.h"
#include "devices/cpu/moves/transposed_reorder.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/bfloat16_values.h"
#include "devices/cpu/plan/custom_kernel.h"
#include "devices/cpu/plan/memory_plan.h"
#include "devices/cpu/plan/non_finite.h"
#include "devices/cpu/plan/reference_kernel.h"
#include "devices/cpu/plan/register_kernels.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/passes/fusions/rewrite.h"

namespace het::cpu {
namespace {

/// Tensor descs of the core count bytes of plain memory.
TensorSpec plain_spec(const TensorDesc& desc) {
  return {desc.type, desc.shape, Format::Plain};
}

/// Lets the heap of this thread grow by a large step at once. glibc makes the heaps of all threads
/// but the first usable page by page, with a system call each: hundreds for a small model.
void grow_heap() {
  constexpr size_t kStepBytes = size_t{96} << 10;  // less than what malloc maps by itself
  void* volatile step = std::malloc(kStepBytes);   // volatile: the pair is not optimised away
  std::free(step);
}

}  // namespace

bool PlanBuilder::is_static(const Node& node) {
  const auto known = [](const Value* value) { return !value || value->desc().is_static(); };
  return std::all_of(node.inputs().begin(), node.inputs().end(), known) &&
         std::all_of(node.outputs().begin(), node.outputs().end(), known);
}

bool PlanBuilder::has_elements(const Node& node) {
  const auto filled = [](const Value* value) {
    return !value || element_count(value->desc().shape) > 0;
  };
  return std::all_of(node.outputs().begin(), node.outputs().end(), filled) &&
         (node.input(0) == nullptr || filled(node.input(0)));
}

std::optional<std::string> PlanBuilder::choice(const std::string& key) const {
  const auto found = options_.choices.find(key);
  return found == options_.choices.end() ? std::nullopt : std::optional(found->second);
}

ElementType PlanBuilder::kept_type(const Value& value) const {
  return bfloat16_values_.count(&value) > 0 ? ElementType::BFloat16 : value.desc().type;
}

ElementType PlanBuilder::moved_type(const Value& src, const Value& dst) {
  return home(src).type == ElementType::BFloat16 ? kept_type(dst) : dst.desc().type;
}

TensorId PlanBuilder::add_tensor(PlanTensor tensor) {
  plan_.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

const TensorSpec& PlanBuilder::home(const Value& value) {
  const auto found = versions_.find(&value);
  if (found != versions_.end()) return tensor(found->second.front()).spec;
  // Only constants have no producer and no port; they exist once somebody asks.
  PlanTensor constant;
  constant.spec = plain_spec(value.desc());
  constant.storage = Storage::Constant;
  constant.constant = value.constant();
  versions_[&value] = {add_tensor(std::move(constant))};
  return tensor(versions_[&value].front()).spec;
}

Result<TensorId> PlanBuilder::read_home(const Value& value) {
  home(value);
  return versions_.at(&value).front();
}

Result<TensorId> PlanBuilder::read(const Value& value, Format format, ElementType type) {
  TensorSpec wanted = home(value);
  wanted.format = wanted.shape.size() < 3 ? Format::Plain : format;
  if (type != ElementType::Undefined) wanted.type = type;
  const std::vector<TensorId> ids = versions_.at(&value);
  for (const TensorId id : ids) {
    if (tensor(id).spec == wanted) return id;
  }
  for (const TensorId id : ids) {
    if (!same_bytes(tensor(id).spec, wanted) || tensor(id).storage == Storage::Constant) continue;
    versions_[&value].push_back(view(wanted, id, 0));
    return versions_[&value].back();
  }
  return reorder(value, ids.front(), wanted);
}

Result<TensorId> PlanBuilder::reorder(const Value& value, TensorId source,
                                      const TensorSpec& wanted) {
  if (value.is_constant()) {
    HET_ASSIGN(Tensor content, convert_constant(value.constant(), wanted));
    const TensorId id = constant(std::move(content), wanted);
    versions_[&value].push_back(id);
    return id;
  }
  Step step;
  step.alone = alone_ || is_small_reorder(size_bytes(tensor(source).spec) + size_bytes(wanted));
  std::optional<AloneScope> alone;
  if (step.alone) alone.emplace();
  step.kernel = make_picture_reorder(tensor(source).spec, wanted);
  if (step.kernel == nullptr) {
    step.kernel = make_transposed_reorder(tensor(source).spec, wanted);
  }
  if (step.kernel == nullptr) step.kernel = make_block_reorder(tensor(source).spec, wanted);
  if (step.kernel == nullptr) {
    HET_ASSIGN(Primitive primitive, make_reorder(tensor(source).spec, wanted));
    step.kernel = make_primitive_kernel(std::move(primitive),
                                        {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
                                         {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}});
  }
  PlanTensor target;
  target.spec = wanted;
  const TensorId id = add_tensor(std::move(target));
  step.node_name = value.name() + "/reorder";
  step.layer_type = "Reorder";
  step.inputs = {source};
  step.outputs = {id};
  plan_.steps.push_back(std::move(step));
  versions_[&value].push_back(id);
  return id;
}

TensorId PlanBuilder::temporary(TensorSpec spec) {
  PlanTensor made;
  made.spec = std::move(spec);
  return add_tensor(std::move(made));
}

TensorId PlanBuilder::write(const Value& value, TensorSpec spec) {
  const TensorId id = temporary(std::move(spec));
  versions_[&value] = {id};
  return id;
}

TensorId PlanBuilder::view(TensorSpec spec, TensorId source, size_t offset_bytes) {
  PlanTensor made;
  made.spec = std::move(spec);
  made.parent = source;
  made.offset = offset_bytes;
  made.storage = tensor(source).storage;
  return add_tensor(std::move(made));
}

void PlanBuilder::write_view(const Value& value, TensorSpec spec, TensorId source,
                             size_t offset_bytes) {
  versions_[&value] = {view(std::move(spec), source, offset_bytes)};
}

TensorId PlanBuilder::constant(Tensor content, TensorSpec spec) {
  PlanTensor made;
  made.spec = std::move(spec);
  made.storage = Storage::Constant;
  made.constant = std::move(content);
  return add_tensor(std::move(made));
}

Step& PlanBuilder::add_step(const Node& node, std::unique_ptr<Kernel> kernel,
                            std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Step step{step_name(node)};
  step.kernel = std::move(kernel);
  step.inputs = std::move(inputs);
  step.outputs = std::move(outputs);
  step.alone = alone_;
  plan_.steps.push_back(std::move(step));
  return plan_.steps.back();
}

Status PlanBuilder::plan_reference(const Node& node) {
  if (node.op() == nullptr) return error(StatusCode::NotSupported, "{}", node.unsupported_reason());
  std::vector<ReferenceOperand> inputs;
  std::vector<TensorId> input_ids;
  for (const Value* value : node.inputs()) {
    ReferenceOperand operand;
    if (value != nullptr) {
      operand.desc = value->desc();
      operand.desc.layout = Layout::Plain;
      if (value->is_constant()) {
        operand.constant = value->constant();
      } else if (value->desc().is_static()) {
        HET_ASSIGN(operand.id, read(*value, Format::Plain, value->desc().type));
      } else {
        HET_ASSIGN(operand.id, read_home(*value));
      }
    }
    input_ids.push_back(operand.id);
    inputs.push_back(std::move(operand));
  }
  std::vector<ReferenceOperand> outputs;
  std::vector<TensorId> output_ids;
  for (const Value* value : node.outputs()) {
    ReferenceOperand operand;
    operand.desc = value->desc();
    operand.desc.layout = Layout::Plain;
    operand.id = write(*value, plain_spec(value->desc()));
    if (!value->desc().is_static()) {
      plan_.tensors[static_cast<size_t>(operand.id)].storage = Storage::Dynamic;
    }
    output_ids.push_back(operand.id);
    outputs.push_back(std::move(operand));
  }
  add_step(node, make_reference_kernel(node, std::move(inputs), std::move(outputs)),
           std::move(input_ids), std::move(output_ids));
  return {};
}

Status PlanBuilder::plan_node(const Node& node) {
  // Kernels need not think of tensors without elements.
  if (is_static(node) && (node.op() == nullptr || has_elements(node))) {
    HET_ASSIGN(const bool custom, plan_custom(*this, node));
    if (custom) return {};
    if (const PlanKernel plan = kernel_registry().find(node.domain(), node.op_type())) {
      // oneDNN decides by the size of the team while a primitive is made.
      std::optional<AloneScope> alone;
      alone_ = is_small_convolution(node);
      if (alone_) alone.emplace();
      Result<bool> planned = plan(*this, node);
      alone_ = false;
      if (!planned) return std::move(planned).error();
      if (*planned) return {};
    }
  }
  return plan_reference(node);
}

bool PlanBuilder::constants_are_finite(const Node& node) const {
  return std::ranges::all_of(node.inputs(), [](const Value* value) {
    if (value == nullptr || !value->is_constant()) return true;
    const Tensor& content = value->constant();
    return all_finite(content.type(), content.bytes(), content.element_count());
  });
}

void PlanBuilder::note_non_finite(const Node& node, bool finite_constants, size_t first) {
  const auto is_open = [&](const Value* value) { return open_.count(value) > 0; };
  const auto is_read_as = [&](const Value* value, TensorId id) {
    const auto found = versions_.find(value);
    return found != versions_.end() && std::ranges::count(found->second, id) > 0;
  };
  bool open = std::ranges::any_of(node.inputs(), is_open);
  bool spoils = false;
  for (size_t i = first; i < plan_.steps.size(); ++i) {
    Step& step = plan_.steps[i];
    if (step.kernel->keeps_non_finite()) continue;
    spoils = true;
    for (size_t k = 0; open && k < step.inputs.size(); ++k) {
      const TensorId id = step.inputs[k];
      if (id == kNoTensor || tensor(id).storage == Storage::Constant) continue;
      const bool is_checked = std::ranges::any_of(node.inputs(), [&](const Value* value) {
        return value != nullptr && !is_open(value) && is_read_as(value, id);
      });
      const TensorSpec& spec = tensor(id).spec;
      if (!is_checked) step.to_be_finite.push_back({k, spec.type, physical_count(spec)});
    }
  }
  if (spoils) {
    plan_.spoils_constants |= !finite_constants;
    for (const Value* value : node.inputs()) open_.erase(value);
    open = false;
  }
  if (!open && finite_constants && !may_leave_finite(node)) return;
  for (const Value* output : node.outputs()) {
    if (is_float(output->desc().type)) open_.insert(output);
  }
}

void PlanBuilder::drop_constants(const Node& node) {
  for (Value* value : node.inputs()) {
    if (value == nullptr || !value->is_constant()) continue;
    if (++planned_reads_[value] < value->consumers().size()) continue;
    const bool is_output = std::ranges::any_of(
        model_.outputs(), [&](const ModelOutput& output) { return output.value == value; });
    // What was made of them for this model alone is packed by now: its memory serves the next one.
    if (!is_output) model_.make_constant(value, {});
  }
}

void PlanBuilder::drop_unread_constants() {
  std::vector<bool> is_read(plan_.tensors.size());
  const auto read = [&](TensorId id) {
    if (id != kNoTensor) is_read[static_cast<size_t>(plan_.locate(id).root)] = true;
  };
  for (const Step& step : plan_.steps) std::ranges::for_each(step.inputs, read);
  std::ranges::for_each(plan_.outputs, read);
  // The others were only the origin of converted ones.
  for (size_t id = 0; id < is_read.size(); ++id) {
    if (!is_read[id]) plan_.tensors[id].constant = {};
  }
}

bool PlanBuilder::is_read(const Value& value) const {
  return het::is_read(model_, value);
}

Status PlanBuilder::finish_outputs() {
  for (size_t port = 0; port < model_.outputs().size(); ++port) {
    const Value& value = *model_.outputs()[port].value;
    if (!value.desc().is_static()) {
      HET_ASSIGN(const TensorId id, read_home(value));
      plan_.outputs.push_back(id);
      continue;
    }
    HET_ASSIGN(const TensorId id, read(value, Format::Plain, value.desc().type));
    plan_.outputs.push_back(id);
    // Written straight into the request's output; parts and second uses are copied at the end.
    const Plan::Location location = plan_.locate(id);
    PlanTensor& root = plan_.tensors[static_cast<size_t>(location.root)];
    if (root.storage == Storage::Arena &&
        size_bytes(root.spec) == size_bytes(plan_.tensors[static_cast<size_t>(id)].spec)) {
      root.storage = Storage::Output;
      root.port = port;
    }
  }
  return {};
}

Result<Plan> PlanBuilder::build() {
  if (options_.precision == ElementType::BFloat16) bfloat16_values_ = bfloat16_values(model_);
  for (size_t port = 0; port < model_.inputs().size(); ++port) {
    PlanTensor input;
    input.spec = plain_spec(model_.inputs()[port].value->desc());
    input.storage = Storage::Input;
    input.port = port;
    versions_[model_.inputs()[port].value] = {add_tensor(std::move(input))};
    if (is_float(model_.inputs()[port].value->desc().type)) {
      open_.insert(model_.inputs()[port].value);
    }
  }
  std::string refused;
  for (const auto& node : model_.nodes()) {
    grow_heap();
    const bool notes = options_.non_finite == NonFinite::Noted;
    const bool finite_constants = !notes || constants_are_finite(*node);
    const size_t first = plan_.steps.size();
    const Status status = plan_node(*node);
    if (status.ok()) {
      if (notes) note_non_finite(*node, finite_constants, first);
      drop_constants(*node);
      continue;
    }
    if (status.code() != StatusCode::NotSupported) {
      return Failure(
          status.with_context(fmt::format("node '{}' ({})", node->name(), node->qualified_type())));
    }
    refused += fmt::format("{}'{}' ({}): {}", refused.empty() ? "" : "; ", node->name(),
                           node->qualified_type(), status.message());
    // Later nodes are asked too, so that the message names all that is refused.
    for (const Value* output : node->outputs()) {
      if (versions_.count(output) == 0) write(*output, plain_spec(output->desc()));
    }
  }
  if (!refused.empty()) {
    return error(StatusCode::NotSupported, "device CPU cannot run model '{}': {}", model_.name(),
                 refused);
  }
  HET_TRY(finish_outputs());
  if (options_.packed != nullptr) {
    HET_TRY(options_.packed->check_end());
    plan_.packed = options_.packed->memory();
  }
  drop_unread_constants();
  plan_memory(plan_);
  return std::move(plan_);
}

const KernelRegistry& kernel_registry() {
  // Never destroyed: compiled models may outlive the end of main().
  static const KernelRegistry* const registry = [] {
    auto* made = new KernelRegistry;
    register_kernels(*made);
    return made;
  }();
  return *registry;
}

}  // namespace het::cpu
