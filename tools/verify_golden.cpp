#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/compare.h"
#include "tools/golden_run.h"
#include "tools/npy.h"
#include "tools/ranked_rows.h"
#include "tools/verify_case.h"

namespace het {
namespace {

constexpr double kFloatCosine = 0.99999;
constexpr double kFloatError = 1e-3;
constexpr double kQuantisedCosine = 0.99;
/// Two units in the last place of 1.0f. ONNX Runtime computes Sigmoid as 0.5 + x, so its outputs
/// near zero are multiples of 2^-24 with an error of their own: below this nothing can be compared.
constexpr double kReferenceResolution = 0x1p-22;

bool is_quantised(const Model& model) {
  return std::any_of(model.nodes().begin(), model.nodes().end(), [](const auto& node) {
    return node->op_type().rfind("QLinear", 0) == 0 || node->op_type() == "QuantizeLinear" ||
           node->op_type() == "FakeQuantize";
  });
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

Status check_quantised(const nlohmann::json& output, const std::vector<double>& all,
                       const std::vector<double>& expected, const Comparison& found) {
  if (found.cosine < kQuantisedCosine) {
    return error(StatusCode::Internal, "cosine similarity {:.6f}, at least {} is wanted",
                 found.cosine, kQuantisedCosine);
  }
  const auto wanted = output.at("argmax").get<size_t>();
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

Status check_output(const nlohmann::json& output, const OutputValues& values, bool quantised) {
  const auto stride = std::max<size_t>(1, output.value("stride", size_t{1}));
  std::vector<double> actual;
  for (size_t i = 0; i < values.actual.size(); i += stride) actual.push_back(values.actual[i]);
  if (actual.size() != values.expected.size()) {
    return error(StatusCode::Internal, "{} values, {} are wanted", actual.size(),
                 values.expected.size());
  }
  const Comparison found = compare(actual, values.expected);
  if (quantised) return check_quantised(output, values.actual, values.expected, found);
  const double range = output.at("max").get<double>() - output.at("min").get<double>();
  const double allowed = kFloatError * range;
  const bool fits = found.cosine >= kFloatCosine && found.maximum_error <= allowed;
  if (!fits && found.maximum_error > kReferenceResolution) {
    return error(StatusCode::Internal,
                 "cosine similarity {:.7f} (at least {}), largest error {:.6g} (at most {:.6g}) at "
                 "flat index {}: {} instead of {}",
                 found.cosine, kFloatCosine, found.maximum_error, allowed, found.position * stride,
                 found.actual, found.expected);
  }
  return {};
}

Result<OutputValues> read_output(const std::filesystem::path& folder, const nlohmann::json& output,
                                 const Tensor& tensor) {
  OutputValues values;
  values.shape = output.at("shape").get<Shape>();
  if (tensor.shape() != values.shape) {
    return error(StatusCode::Internal, "shape {}, {} is wanted", to_string(tensor.shape()),
                 to_string(values.shape));
  }
  HET_ASSIGN(const Tensor reference,
             read_npy((folder / output.at("file").get<std::string>()).string()));
  HET_ASSIGN(values.expected, to_doubles(reference));
  HET_ASSIGN(values.actual, to_doubles(tensor));
  return values;
}

Status verify(const VerifyContext& context, const std::filesystem::path& folder) {
  HET_ASSIGN(const GoldenRun run, prepare_golden_run(context, folder));
  HET_TRY(run.request->infer());
  std::vector<OutputValues> outputs;
  for (const nlohmann::json& output : run.golden.at("outputs")) {
    const auto name = output.at("name").get<std::string>();
    size_t index = outputs.size();  // outputs without a name are told apart by their place
    if (!name.empty() || index >= run.compiled->outputs().size()) {
      HET_ASSIGN(index, run.compiled->output_index(name));
    }
    auto values = read_output(folder, output, run.request->output(index));
    if (!values) return values.error().with_context(fmt::format("output '{}'", name));
    outputs.push_back(std::move(*values));
  }
  align_tied_rows(outputs);
  const bool quantised = is_quantised(*run.model);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const nlohmann::json& output = run.golden.at("outputs").at(k);
    const Status status = check_output(output, outputs[k], quantised);
    if (!status.ok()) {
      return status.with_context(fmt::format("output '{}'", output.at("name").get<std::string>()));
    }
  }
  return {};
}

}  // namespace

CaseResult verify_golden_folder(const VerifyContext& context, const std::filesystem::path& folder) {
  Status status;
  try {
    status = verify(context, folder);
  } catch (const nlohmann::json::exception& exception) {
    status = Status(
        StatusCode::ParseError,
        fmt::format("cannot read '{}': {}", (folder / "golden.json").string(), exception.what()));
  }
  return case_result(folder.string(), status);
}

}  // namespace het
