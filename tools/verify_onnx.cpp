#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/ops/generators/random.h"
#include "inference/readers/onnx_reader.h"
#include "inference/requests/infer_request.h"
#include "tools/compare.h"
#include "tools/verify_case.h"

namespace het {
namespace {

constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

/// Two units in the last place of a half type, where that is more than the general tolerance:
/// ONNX' own runner allows them for bfloat16, and a chain of float16 operators needs them too.
double relative_tolerance(ElementType type) {
  if (type == ElementType::BFloat16) return 0x1p-6;
  return type == ElementType::Float16 ? 0x1p-9 : kRelative;
}

std::vector<std::filesystem::path> data_sets(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> sets;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind("test_data_set_", 0) == 0) {
      sets.push_back(entry.path());
    }
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

/// input_0.pb, input_1.pb ... or output_0.pb ...; NotSupported for sequences, strings and the like.
Result<std::vector<Tensor>> read_tensors(const std::filesystem::path& set,
                                         const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (size_t k = 0;; ++k) {
    const std::filesystem::path file = set / fmt::format("{}_{}.pb", prefix, k);
    if (!std::filesystem::exists(file)) return tensors;
    HET_ASSIGN(tensors.emplace_back(), read_onnx_tensor(file.string()));
  }
}

/// The backend tests' files keep bfloat16 as uint16 bits; the model says what they are.
Result<Tensor> as_declared(const Tensor& tensor, ElementType declared) {
  if (tensor.type() != ElementType::UInt16 || declared != ElementType::BFloat16) return tensor;
  return Tensor::view({declared, tensor.shape(), Layout::Plain}, tensor.buffer(), tensor.offset());
}

/// Fails as a skip when a node draws its values: there is nothing to compare.
Status check_deterministic(const Model& model) {
  for (const auto& node : model.nodes()) {
    if (!is_random(*node)) continue;
    return error(StatusCode::NotSupported,
                 "node '{}' ({}) is random: ONNX leaves its values to the implementation",
                 node->name(), node->qualified_type());
  }
  return {};
}

/// Fails as a skip when a file's tensor has another rank than the model declares for it.
Status check_declared_rank(const Tensor& tensor, const Value& declared) {
  const Shape& shape = declared.desc().shape;
  if (tensor.shape().size() == shape.size()) return {};
  return error(StatusCode::NotSupported,
               "the test contradicts its model: input '{}' is {} in the file, {} in the model",
               declared.name(), to_string(tensor.shape()), to_string(shape));
}

/// Fails as a skip for a test of ONNX 1.12 whose results do not come from its model; newer versions
/// of the data give the node the attribute that it lacks there.
Status check_results_fit_model(const Model& model, const std::filesystem::path& folder) {
  if (folder.filename() != "test_adam_multiple") return {};
  for (const auto& node : model.nodes()) {
    if (node->op_type() != "Adam" || node->attributes().has("epsilon")) continue;
    return error(
        StatusCode::NotSupported,
        "the test contradicts its model: its results come from epsilon 0.01, but node '{}' "
        "(Adam) has no epsilon, which means 1e-6",
        node->name());
  }
  return {};
}

/// Fourier transforms sum large terms that cancel: the reference's own rounding, in float32, is one
/// of its largest element.
double absolute_tolerance(const Model& model, const std::vector<double>& wanted) {
  const bool transforms = std::any_of(
      model.nodes().begin(), model.nodes().end(),
      [](const auto& node) { return node->op_type() == "DFT" || node->op_type() == "STFT"; });
  if (!transforms) return kAbsolute;
  double largest = 0;
  for (const double value : wanted) largest = std::max(largest, std::abs(value));
  return kAbsolute + 0x1p-23 * largest;
}

Status check_output(const Model& model, const Tensor& actual, const Tensor& expected) {
  if (actual.type() != expected.type() || actual.shape() != expected.shape()) {
    return error(StatusCode::Internal, "{}, {} is wanted", to_string(actual.desc()),
                 to_string(expected.desc()));
  }
  HET_ASSIGN(const std::vector<double> values, to_doubles(actual));
  HET_ASSIGN(const std::vector<double> wanted, to_doubles(expected));
  Comparison worst;
  if (all_close(values, wanted, relative_tolerance(actual.type()),
                absolute_tolerance(model, wanted), worst))
    return {};
  return error(StatusCode::Internal, "error {:.6g} at flat index {}: {} instead of {}",
               worst.maximum_error, worst.position, worst.actual, worst.expected);
}

Status verify_set(const VerifyContext& context, const std::filesystem::path& model_file,
                  const std::filesystem::path& set) {
  HET_ASSIGN(const auto model, context.core.read_model(model_file.string()));
  HET_ASSIGN(std::vector<Tensor> inputs, read_tensors(set, "input"));
  HET_ASSIGN(const std::vector<Tensor> expected, read_tensors(set, "output"));
  if (inputs.size() > model->inputs().size()) {
    return error(StatusCode::ParseError, "{} input files for a model with {} inputs", inputs.size(),
                 model->inputs().size());
  }
  std::map<std::string, Shape> shapes;
  for (size_t k = 0; k < inputs.size(); ++k) {
    HET_TRY(check_declared_rank(inputs[k], *model->inputs()[k].value));
    shapes[model->inputs()[k].value->name()] = inputs[k].shape();
  }
  HET_TRY(model->reshape(shapes));
  HET_ASSIGN(const auto compiled,
             context.core.compile_model(*model, context.device, context.properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (size_t k = 0; k < inputs.size(); ++k) {
    HET_ASSIGN(Tensor tensor, as_declared(inputs[k], compiled->inputs()[k].desc.type));
    HET_TRY(request->set_input(k, std::move(tensor)));
  }
  HET_TRY(request->infer());
  HET_TRY(check_deterministic(*model));
  HET_TRY(check_results_fit_model(*model, model_file.parent_path()));
  for (size_t k = 0; k < expected.size() && k < compiled->outputs().size(); ++k) {
    HET_ASSIGN(const Tensor wanted, as_declared(expected[k], request->output(k).type()));
    const Status status = check_output(*model, request->output(k), wanted);
    if (!status.ok()) {
      return status.with_context(
          fmt::format("{}, output '{}'", set.filename().string(), compiled->outputs()[k].name));
    }
  }
  return {};
}

}  // namespace

CaseResult verify_onnx_folder(const VerifyContext& context, const std::filesystem::path& folder) {
  for (const std::filesystem::path& set : data_sets(folder)) {
    const Status status = verify_set(context, folder / "model.onnx", set);
    if (!status.ok()) return case_result(folder.string(), status);
  }
  return case_result(folder.string(), {});
}

}  // namespace het
