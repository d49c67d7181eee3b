#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "inference/core.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op.h"
#include "inference/passes/print_model.h"
#include "inference/requests/infer_request.h"
#include "tests/oracle/random_case.h"

namespace het::oracle {
namespace {

/// Equal description and elements. What follows the last element in its byte may be anything.
bool same_bytes(const Tensor& a, const Tensor& b) {
  if (a.desc() != b.desc()) return false;
  if (a.size_bytes() == 0) return true;
  const size_t bits = static_cast<size_t>(a.element_count()) * bit_width(a.type());
  const size_t whole = bits / 8;
  const auto mask = static_cast<std::byte>((1u << (bits % 8)) - 1);
  return (whole == 0 || std::memcmp(a.bytes(), b.bytes(), whole) == 0) &&
         (bits % 8 == 0 || ((a.bytes()[whole] ^ b.bytes()[whole]) & mask) == std::byte{0});
}

Result<std::vector<Tensor>> copies(const InferRequest& request, size_t count) {
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < count; ++i) {
    HET_ASSIGN(Tensor copy, request.output(i).clone());
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

/// The outputs of the second of two executions, which must give the same and leave their inputs
/// alone. With `int8` a device that can compute quantised products in bytes does, else it chooses.
Result<std::vector<Tensor>> run(Core& core, const BuiltModel& built, const std::string& device,
                                int threads, bool int8 = false) {
  Properties properties{{"NUM_STREAMS", "1"}};
  if (int8 && core.get_property(device, "GPU_INT8")) properties["GPU_INT8"] = "YES";
  if (core.get_property(device, "INFERENCE_NUM_THREADS")) {
    properties["INFERENCE_NUM_THREADS"] = std::to_string(threads);
  }
  HET_ASSIGN(const auto compiled, core.compile_model(built.model, device, properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  std::vector<Tensor> given;
  for (size_t i = 0; i < built.inputs.size(); ++i) {
    HET_ASSIGN(given.emplace_back(), built.inputs[i].clone());
    HET_TRY(request->set_input(i, given[i]));
  }
  const size_t count = compiled->outputs().size();
  HET_TRY(request->infer());
  HET_ASSIGN(const std::vector<Tensor> first, copies(*request, count));
  HET_TRY(request->infer());
  HET_ASSIGN(std::vector<Tensor> second, copies(*request, count));
  for (size_t i = 0; i < count; ++i) {
    if (same_bytes(first[i], second[i])) continue;
    return error(StatusCode::Internal, "{}: the second execution changes output {}", device, i);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (same_bytes(given[i], built.inputs[i])) continue;
    return error(StatusCode::Internal, "{}: an execution changes input {}", device, i);
  }
  return second;
}

/// Of a float type: what one rounding, or another order of summation, may make.
double type_tolerance(ElementType type) {
  switch (type) {
    case ElementType::Float16:
      return 1.5e-3;
    case ElementType::BFloat16:
      return 1.2e-2;
    case ElementType::Float64:
      return 1e-9;
    default:
      return 2e-5;
  }
}

/// What REF gives, and what it gives when subnormal inputs are 0: devices may take them for it,
/// element by element.
struct Wanted {
  std::vector<Tensor> outputs;
  std::vector<Tensor> flushed;  ///< none where no input is subnormal
};

/// Whether the number of results depends on which numbers count as 0: nothing of one size can stand
/// behind them.
bool sizes_depend_on_subnormals(const Wanted& wanted) {
  return !wanted.flushed.empty() &&
         !std::ranges::equal(wanted.outputs, wanted.flushed, {}, &Tensor::desc, &Tensor::desc);
}

bool has_non_finite(const Tensor& tensor) {
  if (tensor.empty() || !is_float(tensor.type())) return false;
  const std::vector<double> values = *to_double_vector(tensor);
  return std::ranges::any_of(values, [](double value) { return !std::isfinite(value); });
}

/// Whether NaN may stand for a number. Convolutions on GPU take 0 * infinity: Winograd's
/// transforms of neighbouring pixels, and groups that are computed together with weights of 0
/// between them. Nothing else may be, and no NaN may be lost.
bool may_spread_nan(const BuiltModel& built, const std::string& device) {
  if (device.find("GPU") == std::string::npos) return false;
  const bool has_convolution = std::ranges::any_of(built.model.nodes(), [](const auto& node) {
    return node->op_type() == "Conv" || node->op_type() == "ConvTranspose";
  });
  const auto is_spoilt = [](const auto& value) {
    return value->is_constant() && has_non_finite(value->constant());
  };
  return has_convolution && (std::ranges::any_of(built.inputs, has_non_finite) ||
                             std::ranges::any_of(built.model.values(), is_spoilt));
}

/// Comparisons, indices and the like, and what gives other numbers for NaN: where a convolution has
/// spread one, nothing can be said of the results.
bool takes_nan_for_a_number(const Generator& generator, const std::vector<Tensor>& outputs) {
  constexpr std::array<std::string_view, 4> kTypes = {"Hardmax", "Shrink", "ThresholdedRelu",
                                                      "TopK"};
  return std::ranges::any_of(outputs, [](const Tensor& t) { return !is_float(t.type()); }) ||
         (generator.domain.empty() && std::ranges::find(kTypes, generator.type) != kTypes.end());
}

/// Within the tolerance of floats; infinities and NaN are themselves only.
bool is_near(double x, double y, double tolerance, bool spreads_nan) {
  if (x == y || (std::isnan(x) && (std::isnan(y) || spreads_nan))) return true;
  return std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= tolerance * (1 + std::abs(y));
}

/// Empty when equal. Integers, booleans and the narrow floats: bit by bit. Floats:
/// |a - b| <= tolerance (1 + |b|). Where the generator `rounds`, few elements may differ, integers
/// of them by 1.
std::string difference(const Tensor& got, const Tensor& wanted, const Tensor& flushed,
                       const Generator& generator, bool spreads_nan) {
  if (got.desc() != wanted.desc()) {
    // The count of what NonZero finds, say.
    if (!flushed.empty() && got.desc() == flushed.desc()) {
      return difference(got, flushed, Tensor(), generator, spreads_nan);
    }
    return to_string(got.desc()) + " instead of " + to_string(wanted.desc());
  }
  if (same_bytes(got, wanted)) return {};
  const bool has_other = !flushed.empty() && flushed.desc() == wanted.desc();
  if (has_other && same_bytes(got, flushed)) return {};
  const auto a = to_double_vector(got);
  const auto b = to_double_vector(wanted);
  if (!a || !b) return "other bits in " + to_string(got.desc());
  const std::vector<double> other = has_other ? *to_double_vector(flushed) : *b;
  const bool floats = is_float(got.type());
  const double tolerance = floats ? std::max(generator.tolerance, type_tolerance(got.type())) : 0.0;
  const size_t spared = generator.rounds ? std::max<size_t>(1, a->size() / 1000) : 0;
  size_t beside = 0;
  size_t differ = 0;
  std::string text;
  for (size_t i = 0; i < a->size(); ++i) {
    const double x = (*a)[i];
    const double y = (*b)[i];
    if (is_near(x, y, tolerance, spreads_nan) || is_near(x, other[i], tolerance, false)) continue;
    if ((floats || std::abs(x - y) == 1) && beside++ < spared) continue;
    if (differ++ == 0) text = fmt::format("element {} is {} instead of {}", i, x, y);
  }
  return differ == 0 ? "" : fmt::format("{} ({} of {} differ)", text, differ, a->size());
}

std::string difference(const std::vector<Tensor>& got, const Wanted& wanted,
                       const Generator& generator, bool spreads_nan) {
  if (got.size() != wanted.outputs.size()) return fmt::format("{} outputs", got.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string text = difference(got[i], wanted.outputs[i],
                                        i < wanted.flushed.size() ? wanted.flushed[i] : Tensor(),
                                        generator, spreads_nan);
    if (!text.empty()) return fmt::format("output {}: {}", i, text);
  }
  return {};
}

/// What inference of types and shapes says, with and without the content of the inputs, against
/// what came out.
std::string check_inference(const RandomCase& random_case, const std::vector<Tensor>& outputs) {
  const BuiltModel built = random_case.plain();
  const Node& node = *built.model.nodes().front();
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (const Argument& argument : random_case.call.inputs) {
    const bool omitted = argument.content.empty();
    descs.push_back(omitted ? nullptr : &argument.content.desc());
    contents.push_back(omitted ? nullptr : &argument.content);
  }
  for (const bool known : {true, false}) {
    const auto inferred =
        infer_node(node, descs, known ? contents : std::vector<const Tensor*>(contents.size()));
    const char* how = known ? "with all contents" : "without contents";
    if (!inferred) return fmt::format("inference {}: {}", how, inferred.error().message());
    for (size_t i = 0; i < outputs.size(); ++i) {
      const TensorDesc& desc = (*inferred)[i];
      if (desc.type == ElementType::Undefined) continue;
      bool fits = desc.type == outputs[i].type();
      // No shape at all is unknown; a scalar that REF gave is one.
      if (!desc.shape.empty() || desc.is_static()) {
        fits = fits && desc.shape.size() == outputs[i].shape().size();
        for (size_t d = 0; fits && d < desc.shape.size(); ++d) {
          fits = desc.shape[d] == kUnknownDim || desc.shape[d] == outputs[i].shape()[d];
        }
      }
      if (fits) continue;
      return fmt::format("inference {} says {} of output {}, REF gives {}", how, to_string(desc), i,
                         to_string(outputs[i].desc()));
    }
  }
  return {};
}

/// Accelerators leave operators to other devices; CPU runs everything.
bool may_refuse(const std::string& device) {
  return device != "CPU";
}

/// Why the device does not run all of the model; empty when it does.
Result<std::string> refusal(Core& core, const BuiltModel& built, const std::string& device) {
  HET_ASSIGN(const std::vector<NodeSupport> rows, core.query_model(built.model, device));
  for (const NodeSupport& row : rows) {
    if (!row.supported()) return row.reason;
  }
  return std::string();
}

}  // namespace

Verdict judge(Core& core, const RandomCase& random_case, bool accelerators) {
  const BuiltModel plain = random_case.plain();
  const auto reference = run(core, plain, "REF", 1);
  const bool is_refused = !reference;
  Wanted wanted;
  if (reference) wanted.outputs = *reference;
  if (is_refused && !random_case.has_zero_size) {
    return {"REF refuses the case: " + reference.error().message()};
  }
  Wanted wanted_embedded;
  if (!is_refused) {
    const std::string text = check_inference(random_case, wanted.outputs);
    if (!text.empty()) return {text};
    const auto embedded = run(core, random_case.embedded(wanted.outputs), "REF", 1);
    if (!embedded) return {"REF refuses the embedded case: " + embedded.error().message()};
    wanted_embedded.outputs = *embedded;
    if (const auto flushed = random_case.without_subnormals()) {
      const auto outputs = run(core, flushed->plain(), "REF", 1);
      if (outputs) wanted.flushed = *outputs;
      const auto around = run(core, flushed->embedded(wanted.outputs), "REF", 1);
      if (around) wanted_embedded.flushed = *around;
    }
  }
  const Generator& generator = random_case.generator;
  const int threads = random_case.threads;
  std::map<std::string, std::string> refusals;
  for (const std::string& device : core.available_devices()) {
    if (device == "REF" || (!accelerators && may_refuse(device))) continue;
    const auto reason = refusal(core, plain, device);
    if (!reason) return {device + " does not answer: " + reason.error().message()};
    if (!reason->empty()) {
      // REF refuses some sizes of 0 only once it runs; a device may know earlier.
      if (!is_refused && !may_refuse(device)) return {device + " says that it cannot: " + *reason};
      refusals[device] = *reason;
      continue;
    }
    const auto got = run(core, plain, device, threads, true);
    if (is_refused) {
      if (got) return {device + " runs what REF refuses: " + reference.error().message()};
      continue;
    }
    if (!got) return {device + ": " + got.error().message()};
    std::string text = difference(*got, wanted, generator, may_spread_nan(plain, device));
    if (!text.empty()) return {device + ": " + text};
    const BuiltModel embedding = random_case.embedded(wanted.outputs);
    if (takes_nan_for_a_number(generator, wanted.outputs) && may_spread_nan(embedding, device)) {
      continue;
    }
    if (sizes_depend_on_subnormals(wanted)) continue;
    const auto embedded_reason = refusal(core, embedding, device);
    if (may_refuse(device) && embedded_reason && !embedded_reason->empty()) {
      refusals[device] = *embedded_reason;
      continue;
    }
    const auto embedded = run(core, embedding, device, threads);
    text = embedded ? difference(*embedded, wanted_embedded, generator,
                                 may_spread_nan(embedding, device))
                    : embedded.error().message();
    if (!text.empty()) {
      return {device + ", embedded: " + text + "\n" + print_model(embedding.model)};
    }
  }
  return {{}, is_refused, std::move(refusals)};
}

}  // namespace het::oracle
