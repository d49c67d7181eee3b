#include "tools/golden_outputs.h"

#include <algorithm>
#include <cmath>

#include "tools/certain_rows.h"
#include "tools/compare.h"
#include "tools/npy.h"
#include "tools/ranked_rows.h"

namespace het {
namespace {

constexpr double kFloatCosine = 0.99999;
constexpr double kFloatError = 1e-3;
constexpr double kQuantisedCosine = 0.99;
/// Detections that less precise devices have to find, too.
constexpr double kCertainScore = 0.1;
/// Two units in the last place of 1.0f. ONNX Runtime computes Sigmoid as 0.5 + x, so its outputs
/// near zero are multiples of 2^-24 with an error of their own: below this nothing can be compared.
constexpr double kReferenceResolution = 0x1p-22;

/// Of a single value, or of equal ones, the magnitude.
double range_between(double least, double most) {
  return most > least ? most - least : std::abs(most);
}

/// Smallest distance between two different values: one step of a quantised output.
double quantisation_step(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double step = 0.0;
  for (size_t i = 1; i < values.size(); ++i) {
    const double gap = values[i] - values[i - 1];
    if (gap > 1e-6 && (step == 0.0 || gap < step)) step = gap;
  }
  return step;
}

Status check_quantised(size_t wanted, const std::vector<double>& all,
                       const std::vector<double>& expected, const Comparison& found) {
  if (found.cosine < kQuantisedCosine) {
    return error(StatusCode::Internal, "cosine similarity {:.6f}, at least {} is wanted",
                 found.cosine, kQuantisedCosine);
  }
  const auto top = static_cast<size_t>(std::max_element(all.begin(), all.end()) - all.begin());
  if (top == wanted || wanted >= all.size()) return {};
  const double gap = all[top] - all[wanted];
  const double step = quantisation_step(expected);
  if (gap <= step * 1.001) return {};
  return error(StatusCode::Internal,
               "argmax is {} ({}), {} is wanted ({}), which is more than one quantisation step "
               "({}) below",
               top, all[top], wanted, all[wanted], step);
}

Result<double> check_output(const ReferenceOutput& reference, const OutputValues& values,
                            bool quantised, double cosine) {
  std::vector<double> actual;
  for (size_t i = 0; i < values.actual.size(); i += reference.stride) {
    actual.push_back(values.actual[i]);
  }
  if (actual.size() != values.expected.size()) {
    return error(StatusCode::Internal, "{} values, {} are wanted", actual.size(),
                 values.expected.size());
  }
  const Comparison found = compare(actual, values.expected);
  const double part = reference.range > 0 ? found.maximum_error / reference.range : 0.0;
  if (cosine > 0) {
    // Nothing is found, as it should be.
    if (actual.empty()) return 0.0;
    if (found.cosine >= cosine || found.maximum_error <= kReferenceResolution) return part;
    return error(StatusCode::Internal, "cosine similarity {:.6f}, at least {} is wanted",
                 found.cosine, cosine);
  }
  if (quantised) {
    HET_TRY(check_quantised(reference.argmax, values.actual, values.expected, found));
    return part;
  }
  const double allowed = kFloatError * reference.range;
  const bool fits = found.cosine >= kFloatCosine && found.maximum_error <= allowed;
  if (!fits && found.maximum_error > kReferenceResolution) {
    return error(StatusCode::Internal,
                 "cosine similarity {:.7f} (at least {}), largest error {:.6g} (at most {:.6g}) at "
                 "flat index {}: {} instead of {}",
                 found.cosine, kFloatCosine, found.maximum_error, allowed,
                 found.position * reference.stride, found.actual, found.expected);
  }
  return part;
}

Result<OutputValues> values_beside(const ReferenceOutput& reference, const Tensor& tensor) {
  if (tensor.shape() != reference.shape) {
    return error(StatusCode::Internal, "shape {}, {} is wanted", to_string(tensor.shape()),
                 to_string(reference.shape));
  }
  OutputValues values{reference.shape, {}, reference.values};
  HET_ASSIGN(values.actual, to_doubles(tensor));
  return values;
}

}  // namespace

Result<std::vector<ReferenceOutput>> read_golden_outputs(const nlohmann::json& golden,
                                                         const std::filesystem::path& folder) {
  std::vector<ReferenceOutput> references;
  for (const nlohmann::json& output : golden.at("outputs")) {
    ReferenceOutput reference;
    reference.name = output.at("name").get<std::string>();
    reference.shape = output.at("shape").get<Shape>();
    reference.stride = std::max<size_t>(1, output.value("stride", size_t{1}));
    reference.range = range_between(output.at("min").get<double>(), output.at("max").get<double>());
    reference.argmax = output.at("argmax").get<size_t>();
    HET_ASSIGN(const Tensor tensor,
               read_npy((folder / output.at("file").get<std::string>()).string()));
    HET_ASSIGN(reference.values, to_doubles(tensor));
    references.push_back(std::move(reference));
  }
  return references;
}

Result<std::vector<ReferenceOutput>> reference_outputs(const InferRequest& request) {
  std::vector<ReferenceOutput> references;
  for (size_t i = 0; i < request.compiled_model().outputs().size(); ++i) {
    const Tensor& tensor = request.output(i);
    ReferenceOutput reference;
    reference.shape = tensor.shape();
    HET_ASSIGN(reference.values, to_doubles(tensor));
    if (!reference.values.empty()) {
      const auto [least, most] = std::ranges::minmax_element(reference.values);
      reference.range = range_between(*least, *most);
      reference.argmax = static_cast<size_t>(most - reference.values.begin());
    }
    references.push_back(std::move(reference));
  }
  return references;
}

bool is_quantised(const Model& model) {
  return std::any_of(model.nodes().begin(), model.nodes().end(), [](const auto& node) {
    return node->op_type().rfind("QLinear", 0) == 0 ||
           node->op_type().rfind("DynamicQuantize", 0) == 0 ||
           node->op_type() == "QuantizeLinear" || node->op_type() == "FakeQuantize";
  });
}

Result<double> check_outputs(const std::vector<ReferenceOutput>& references,
                             const InferRequest& request, bool quantised, double cosine) {
  const CompiledModel& compiled = request.compiled_model();
  std::vector<OutputValues> outputs;
  for (const ReferenceOutput& reference : references) {
    size_t index = outputs.size();  // outputs without a name are told apart by their place
    if (!reference.name.empty() || index >= compiled.outputs().size()) {
      HET_ASSIGN(index, compiled.output_index(reference.name));
    }
    auto values = values_beside(reference, request.output(index));
    if (!values) {
      return Failure(values.error().with_context(fmt::format("output '{}'", reference.name)));
    }
    outputs.push_back(std::move(*values));
  }
  align_tied_rows(outputs);
  if (cosine > 0) keep_certain_rows(outputs, kCertainScore);
  double worst = 0;
  for (size_t k = 0; k < outputs.size(); ++k) {
    const auto part = check_output(references[k], outputs[k], quantised, cosine);
    if (!part) {
      return Failure(part.error().with_context(fmt::format("output '{}'", references[k].name)));
    }
    worst = std::max(worst, *part);
  }
  return worst;
}

}  // namespace het
