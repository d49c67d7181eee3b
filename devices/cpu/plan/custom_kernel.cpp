#include "devices/cpu/plan/custom_kernel.h"

#include <cstring>

#include "devices/cpu/formats/node_copy.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/ops/custom_operators.h"

namespace het::cpu {
namespace {

constexpr size_t kBlockedRank = 4;

void team_for(void*, int64_t count, int64_t grain, void (*body)(void*, int64_t, int64_t),
              void* user) {
  parallel_for(count, grain, [&](int64_t begin, int64_t end) { body(user, begin, end); });
}

int32_t format_number(Format format) {
  switch (format) {
    case Format::Plain:
      return HET_FORMAT_PLAIN;
    case Format::ChannelsLast:
      return HET_FORMAT_CHANNELS_LAST;
    case Format::Blocked8:
      return HET_FORMAT_BLOCKED8;
    case Format::Blocked16:
      return HET_FORMAT_BLOCKED16;
  }
  return HET_FORMAT_PLAIN;
}

/// Everybody who reads a blocked tensor may count on zeros in its padding.
void clear_padding(const TensorSpec& spec, std::byte* memory) {
  const int64_t block = block_of(spec.format);
  const int64_t rest = block > 1 ? spec.shape[1] % block : 0;
  if (rest == 0) return;
  const size_t element = byte_width(spec.type);
  const int64_t pixels = element_count(std::span(spec.shape).subspan(2));
  const int64_t blocks = (spec.shape[1] + block - 1) / block;
  const size_t used = static_cast<size_t>(rest) * element;
  const size_t step = static_cast<size_t>(block) * element;
  for (int64_t n = 0; n < spec.shape[0]; ++n) {
    std::byte* last = memory + static_cast<size_t>((n * blocks + blocks - 1) * pixels) * step;
    for (int64_t p = 0; p < pixels; ++p) {
      std::memset(last + static_cast<size_t>(p) * step + used, 0, step - used);
    }
  }
}

struct CustomState final : KernelState {
  std::vector<HetOperand> inputs;
  std::vector<HetOperand> outputs;
};

class CustomKernel final : public Kernel {
 public:
  CustomKernel(const Node& node, const std::vector<TensorDesc>& input_descs,
               std::vector<HetOperand> inputs, std::vector<HetOperand> outputs,
               std::vector<TensorSpec> output_specs)
      : node_(node, input_descs),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)),
        output_specs_(std::move(output_specs)) {}

  std::string_view implementation() const override { return "custom"; }

  Result<std::unique_ptr<KernelState>> create_state() const override {
    auto state = std::make_unique<CustomState>();
    state->inputs = inputs_;
    state->outputs = outputs_;
    return std::unique_ptr<KernelState>(std::move(state));
  }

  Status execute(const KernelArgs& args, KernelState* kernel_state) const override {
    auto& state = static_cast<CustomState&>(*kernel_state);
    for (size_t i = 0; i < state.inputs.size(); ++i) {
      if (inputs_[i].desc.type != 0) state.inputs[i].data = args.inputs[i];
    }
    for (size_t i = 0; i < state.outputs.size(); ++i) state.outputs[i].data = args.outputs[i];
    HET_TRY(run_custom(*node_, state.inputs, state.outputs, team_for));
    for (size_t i = 0; i < output_specs_.size(); ++i) {
      clear_padding(output_specs_[i], args.outputs[i]);
    }
    return {};
  }

 private:
  NodeCopy node_;
  std::vector<HetOperand> inputs_;
  std::vector<HetOperand> outputs_;
  std::vector<TensorSpec> output_specs_;
};

/// The format of all operands with four dimensions: the first input's where the library takes it.
Format choose_format(PlanBuilder& builder, const Node& node, uint32_t formats) {
  const auto taken = [&](Format format) {
    return (formats & static_cast<uint32_t>(format_number(format))) != 0;
  };
  for (const Value* input : node.inputs()) {
    if (input == nullptr || input->is_constant() || input->desc().shape.size() != kBlockedRank) {
      continue;
    }
    const Format home = builder.home(*input).format;
    if (taken(home)) return home;
    break;
  }
  for (const Format format :
       {Format::Plain, Format::ChannelsLast, Format::Blocked16, Format::Blocked8}) {
    if (taken(format)) return format;
  }
  return Format::Plain;
}

Result<HetOperand> make_operand(const TensorDesc& desc, const TensorSpec& spec) {
  HetOperand operand{};
  HET_ASSIGN(operand.desc, custom_desc(&desc));
  operand.format = format_number(spec.format);
  operand.size_bytes = size_bytes(spec);
  return operand;
}

}  // namespace

Result<bool> plan_custom(PlanBuilder& builder, const Node& node) {
  const HetCustomOperator* const functions = custom_operator_of(node);
  if (functions == nullptr) return false;
  const Format format = choose_format(builder, node, functions->formats);
  const auto spec_of = [&](const Value& value) {
    const TensorDesc& desc = value.desc();
    return TensorSpec{desc.type, desc.shape,
                      desc.shape.size() == kBlockedRank ? format : Format::Plain};
  };
  std::vector<TensorDesc> descs;
  std::vector<HetOperand> inputs;
  std::vector<HetOperand> outputs;
  std::vector<TensorId> input_ids;
  std::vector<TensorId> output_ids;
  std::vector<TensorSpec> output_specs;
  for (const Value* input : node.inputs()) {
    descs.push_back(input != nullptr ? input->desc() : TensorDesc{});
    inputs.push_back({});
    input_ids.push_back(kNoTensor);
    if (input == nullptr) continue;
    const TensorSpec spec = spec_of(*input);
    HET_ASSIGN(inputs.back(), make_operand(input->desc(), spec));
    // As the file says, whatever type the producer computed in.
    HET_ASSIGN(input_ids.back(), builder.read(*input, spec.format, spec.type));
  }
  for (const Value* output : node.outputs()) {
    output_specs.push_back(spec_of(*output));
    HET_ASSIGN(const HetOperand operand, make_operand(output->desc(), output_specs.back()));
    outputs.push_back(operand);
    output_ids.push_back(builder.write(*output, output_specs.back()));
  }
  builder.add_step(node,
                   std::make_unique<CustomKernel>(node, descs, std::move(inputs),
                                                  std::move(outputs), std::move(output_specs)),
                   std::move(input_ids), std::move(output_ids));
  return true;
}

}  // namespace het::cpu
