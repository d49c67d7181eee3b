#include <fmt/format.h>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/body.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

constexpr std::string_view kScanBody = "body";

/// Attributes with their defaults filled in.
struct ScanForm {
  size_t states = 0;
  size_t scanned = 0;    ///< inputs that are taken apart
  size_t collected = 0;  ///< outputs that are put together
  std::vector<int64_t> input_axes;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> input_directions;  ///< 1: from the end to the start
  std::vector<int64_t> output_directions;
};

Result<std::vector<int64_t>> per_value(const Attributes& attributes, std::string_view name,
                                       size_t count, bool direction) {
  std::vector<int64_t> values = attributes.get_ints(name);
  if (values.empty()) values.assign(count, 0);
  if (values.size() != count) {
    return error(StatusCode::ParseError, "attribute {} must have {} values, not {}", name, count,
                 values.size());
  }
  for (const int64_t value : values) {
    if (!direction || value == 0 || value == 1) continue;
    return error(StatusCode::ParseError, "attribute {} holds {}; 0 and 1 are the directions", name,
                 value);
  }
  return values;
}

Result<ScanForm> scan_form(const Node& node) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"num_scan_inputs", AttributeType::Int, true},
                                        {"scan_input_axes", AttributeType::Ints},
                                        {"scan_output_axes", AttributeType::Ints},
                                        {"scan_input_directions", AttributeType::Ints},
                                        {"scan_output_directions", AttributeType::Ints}}));
  HET_ASSIGN(const size_t formal, formal_input_count(node));
  const int64_t scanned = attributes.get_int("num_scan_inputs", 0);
  if (scanned < 1 || scanned > static_cast<int64_t>(formal)) {
    return error(StatusCode::ParseError, "num_scan_inputs = {} is not in 1 to {}, its inputs",
                 scanned, formal);
  }
  ScanForm form;
  form.scanned = static_cast<size_t>(scanned);
  form.states = formal - form.scanned;
  HET_TRY(check_body(node, kScanBody, formal));
  const size_t outputs = body_of(node, kScanBody).outputs().size();
  if (outputs < form.states || outputs < node.outputs().size()) {
    return error(StatusCode::ParseError,
                 "its body has {} outputs: {} states and further outputs of the node, which has "
                 "{}, are expected",
                 outputs, form.states, node.outputs().size());
  }
  form.collected = outputs - form.states;
  HET_ASSIGN(form.input_axes, per_value(attributes, "scan_input_axes", form.scanned, false));
  HET_ASSIGN(form.output_axes, per_value(attributes, "scan_output_axes", form.collected, false));
  HET_ASSIGN(form.input_directions,
             per_value(attributes, "scan_input_directions", form.scanned, true));
  HET_ASSIGN(form.output_directions,
             per_value(attributes, "scan_output_directions", form.collected, true));
  return form;
}

/// What the body gets of one element of scan input `i`.
Result<TensorDesc> slice_of(const ScanForm& form, size_t i, const TensorDesc& whole) {
  HET_ASSIGN(const int64_t axis,
             normalize_axis(form.input_axes[i], static_cast<int64_t>(whole.shape.size())));
  TensorDesc slice{whole.type, whole.shape, Layout::Plain};
  slice.shape.erase(slice.shape.begin() + axis);
  return slice;
}

/// Elements along the scanned axes, which all inputs share.
template <class DescOf>
Result<int64_t> scan_length(const ScanForm& form, const DescOf& desc_of) {
  int64_t length = -1;
  for (size_t i = 0; i < form.scanned; ++i) {
    const TensorDesc& desc = desc_of(form.states + i);
    if (!kWholeByteTypes.contains(desc.type)) {
      return error(StatusCode::NotSupported, "scan input {} of type {} is not supported", i,
                   to_string(desc.type));
    }
    HET_ASSIGN(const int64_t axis,
               normalize_axis(form.input_axes[i], static_cast<int64_t>(desc.shape.size()),
                              "scan_input_axes"));
    const int64_t found = desc.shape[static_cast<size_t>(axis)];
    if (length >= 0 && found != length) {
      return error(StatusCode::ShapeMismatch,
                   "scan inputs 0 and {} have {} and {} elements along their axes", i, length,
                   found);
    }
    length = found;
  }
  return length;
}

Result<std::unique_ptr<Model>> inferred_body(const InferContext& context, const ScanForm& form) {
  std::vector<BodyInput> inputs;
  for (size_t i = 0; i < form.states; ++i) inputs.push_back({context.input(i), {}});
  for (size_t i = 0; i < form.scanned; ++i) {
    HET_ASSIGN(inputs.emplace_back().desc, slice_of(form, i, context.input(form.states + i)));
  }
  return infer_body(context, kScanBody, inputs);
}

Status infer_scan(InferContext& context) {
  HET_ASSIGN(const ScanForm form, scan_form(context.node()));
  for (size_t i = 0; i < form.states + form.scanned; ++i) {
    if (context.has_input(i)) continue;
    return error(StatusCode::ParseError, "input {} is missing", i);
  }
  HET_ASSIGN(const int64_t length,
             scan_length(form, [&](size_t i) -> const TensorDesc& { return context.input(i); }));
  for (size_t i = 0; i < context.output_count(); ++i) context.leave_open(i);
  if (context.evaluates()) return {};
  HET_ASSIGN(const std::unique_ptr<Model> body, inferred_body(context, form));
  for (size_t i = 0; i < form.states; ++i) {
    const TensorDesc& after = body->outputs()[i].value->desc();
    if (after.type != context.type(i) || after.shape != context.shape(i)) return {};
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    const TensorDesc& desc = body->outputs()[i].value->desc();
    if (i < form.states) {
      context.set_output(i, desc.type, desc.shape);
    } else if (desc.is_static()) {
      HET_ASSIGN(Shape shape,
                 insert_dimension(desc.shape, form.output_axes[i - form.states], length));
      context.set_output(i, desc.type, std::move(shape));
    }
  }
  return {};
}

/// Element `position` of a dense tensor along an axis.
Result<Tensor> take_slice(const Tensor& whole, int64_t axis, int64_t position) {
  TensorDesc desc{whole.type(), whole.shape(), Layout::Plain};
  desc.shape.erase(desc.shape.begin() + axis);
  HET_ASSIGN(Tensor slice, Tensor::allocate(desc));
  const auto width = static_cast<int64_t>(byte_width(whole.type()));
  std::vector<int64_t> src_strides = row_major_strides(whole.shape());
  const int64_t offset = position * src_strides[static_cast<size_t>(axis)] * width;
  src_strides.erase(src_strides.begin() + axis);
  strided_copy(desc.shape, static_cast<size_t>(width), whole.bytes() + offset, src_strides,
               slice.bytes(), row_major_strides(desc.shape));
  return slice;
}

Result<std::vector<TensorDesc>> absent_slices(const EvaluateContext& context,
                                              const ScanForm& form) {
  HET_ASSIGN(const std::unique_ptr<Model> body, inferred_body(inference_of(context), form));
  std::vector<TensorDesc> result;
  for (size_t i = form.states; i < form.states + form.collected; ++i) {
    HET_ASSIGN(result.emplace_back(),
               absent_slice(context.node(), i, body->outputs()[i].value->desc()));
  }
  return result;
}

Status evaluate_scan(EvaluateContext& context) {
  HET_ASSIGN(const ScanForm form, scan_form(context.node()));
  HET_ASSIGN(const int64_t length, scan_length(form, [&](size_t i) -> const TensorDesc& {
               return context.input(i).desc();
             }));
  HET_ASSIGN(BodyRunner body, BodyRunner::create(context, kScanBody));
  std::vector<Tensor> values;
  for (size_t i = 0; i < form.states; ++i) values.push_back(context.input(i));
  values.resize(form.states + form.scanned);
  std::vector<SliceStack> collected(form.collected);
  for (int64_t step = 0; step < length; ++step) {
    HET_TRY(check_cancelled(context));
    for (size_t i = 0; i < form.scanned; ++i) {
      const Tensor& whole = context.input(form.states + i);
      HET_ASSIGN(const int64_t axis, normalize_axis(form.input_axes[i], whole.rank()));
      const int64_t position = form.input_directions[i] == 1 ? length - 1 - step : step;
      HET_ASSIGN(values[form.states + i], take_slice(whole, axis, position));
    }
    auto results = body.run(values);
    if (!results) return results.error().with_context(fmt::format("element {}", step));
    for (size_t i = 0; i < form.states; ++i) values[i] = (*results)[i];
    for (size_t i = 0; i < form.collected; ++i) {
      HET_TRY(collected[i].push((*results)[form.states + i]));
    }
  }
  std::vector<TensorDesc> absent(form.collected);
  if (length == 0) {
    HET_ASSIGN(absent, absent_slices(context, form));
  }
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (i < form.states) {
      HET_TRY(deliver_output(context, i, values[i]));
      continue;
    }
    const size_t k = i - form.states;
    HET_TRY(collected[k].deliver(context, i, form.output_axes[k], form.output_directions[k] == 1,
                                 absent[k]));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_scan(OpRegistry& registry) {
  registry.add({"Scan", "", 25, 1, kVariadic, infer_scan, evaluate_scan});
}

}  // namespace het
