#include "inference/ops/movement/pad.h"
#include "inference/ops/products/conv.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// The widths of a Pad that a convolution can do: zeros, which a byte of 0 stands for as well,
/// spatial, none negative.
std::optional<PadWidths> foldable_widths(const Node& pad) {
  for (size_t i = 1; i < pad.inputs().size(); ++i) {
    if (pad.input(i) != nullptr && !pad.input(i)->is_constant()) return std::nullopt;
  }
  const Result<PadMode> mode = pad_mode(pad.attributes());
  if (!mode || *mode != PadMode::Constant || pad.input(1) == nullptr) return std::nullopt;
  if (const Value* fill = pad.input(2); fill != nullptr && fill->constant().element_count() > 0) {
    const auto values = to_float_vector(fill->constant());
    if (!values || (*values)[0] != 0.0f) return std::nullopt;
  }
  const auto pads = to_int64_vector(pad.input(1)->constant());
  std::vector<int64_t> axes;
  if (pad.input(3) != nullptr) {
    const auto given = to_int64_vector(pad.input(3)->constant());
    if (!given) return std::nullopt;
    axes = *given;
  }
  if (!pads) return std::nullopt;
  Result<PadWidths> widths = pad_widths(pad.input(0)->desc().shape, *pads, axes);
  if (!widths) return std::nullopt;
  for (size_t d = 0; d < widths->begin.size(); ++d) {
    if (widths->begin[d] < 0 || widths->end[d] < 0) return std::nullopt;
    if (d < 2 && (widths->begin[d] != 0 || widths->end[d] != 0)) return std::nullopt;
  }
  return *widths;
}

/// The convolution that alone reads what was padded, perhaps as bytes whose zero point is 0, where
/// padding costs nothing in int8; else null. `between`: the DequantizeLinear that is there then.
Node* convolution_behind(const Model& model, const Node& pad, Node*& between) {
  Node* reader = only_reader(model, *pad.output());
  if (is_op(reader, "DequantizeLinear")) {
    const auto stored = stored_behind(*reader->output(), Steps::PerTensorOrChannel);
    if (!stored || stored->zero != 0 || !stored->channel_zeros.empty()) return nullptr;
    between = reader;
    reader = only_reader(model, *reader->output());
  }
  const Value* read = between != nullptr ? between->output() : pad.output();
  const bool found =
      is_op(reader, "Conv") && reader->input(0) == read && reader->input(1)->desc().is_static();
  return found ? reader : nullptr;
}

/// What the DequantizeLinear makes of the bytes in front of the Pad.
Value* dequantised_before(Model& model, const Node& pad, const Node& dequantise) {
  Value* stored = pad.input(0);
  Node* made = model.add_node(dequantise.name(), "DequantizeLinear", "",
                              {stored, dequantise.input(1), dequantise.input(2)},
                              {stored->name() + "/real"}, dequantise.attributes());
  model.set_desc(made->output(),
                 {dequantise.output()->desc().type, stored->desc().shape, Layout::Plain});
  return made->output();
}

}  // namespace

Status fold_padding(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node* pad = model.nodes()[k].get();
    if (pad->op_type() != "Pad" || !pad->domain().empty() || is_detached(*pad)) continue;
    if (!pad->input(0)->desc().is_static() || !pad->output()->desc().is_static()) continue;
    Node* dequantise = nullptr;
    Node* conv = convolution_behind(model, *pad, dequantise);
    if (conv == nullptr) continue;
    const std::optional<PadWidths> widths = foldable_widths(*pad);
    if (!widths) continue;
    HET_ASSIGN(const ConvAttributes window,
               conv_attributes(*conv, pad->output()->desc().shape, conv->input(1)->desc().shape));
    std::vector<int64_t> pads;
    const size_t spatial = window.pads_begin.size();
    for (size_t d = 0; d < spatial; ++d) {
      pads.push_back(window.pads_begin[d] + widths->begin[d + 2]);
    }
    for (size_t d = 0; d < spatial; ++d) pads.push_back(window.pads_end[d] + widths->end[d + 2]);
    Attributes attributes = conv->attributes();
    attributes.erase("auto_pad");
    attributes.set("pads", std::move(pads));
    std::vector<Value*> inputs = conv->inputs();
    inputs[0] =
        dequantise != nullptr ? dequantised_before(model, *pad, *dequantise) : pad->input(0);
    Node* made = replace(model, {conv, conv, "Conv", "", std::move(inputs), std::move(attributes)});
    made->add_original_names(pad->original_names());
    if (dequantise != nullptr) detach(model, *dequantise);
    detach(model, *pad);
  }
  return {};
}

}  // namespace het
