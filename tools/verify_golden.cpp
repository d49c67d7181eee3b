#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "inference/infer_request.h"
#include "tools/compare.h"
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

/// Value v in 0..255 of the golden README's formula for flat index i.
int formula_value(const Shape& shape, int64_t i) {
  const uint32_t noise = static_cast<uint32_t>(static_cast<uint64_t>(i) * 2654435761u) >> 24;
  if (shape.size() != 4) return static_cast<int>(noise);
  const int64_t d = i % shape[3];
  const int64_t c = i / shape[3] % shape[2];
  const int64_t b = i / (shape[3] * shape[2]) % shape[1];
  const int64_t p = (40 * b + 3 * c + 5 * d + ((c * d) >> 5)) & 255;
  return static_cast<int>((3 * p + noise) >> 2);
}

template <class T>
void store(Tensor& tensor, int64_t i, float value) {
  tensor.data<T>()[i] = static_cast<T>(value);
}

Result<Tensor> make_input(const nlohmann::json& input, const Port& port) {
  HET_ASSIGN(const ElementType type, parse_element_type(input.at("type").get<std::string>()));
  if (type != port.desc.type) {
    return error(StatusCode::ShapeMismatch, "input '{}' is {} in the model and {} in golden.json",
                 port.name, to_string(port.desc.type), to_string(type));
  }
  HET_ASSIGN(Tensor tensor, Tensor::allocate(port.desc));
  const float lo = input.value("lo", 0.0f);
  const float hi = input.value("hi", 0.0f);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const float value =
        input.contains("fill")
            ? input.at("fill").get<float>()
            : lo + (hi - lo) * static_cast<float>(formula_value(port.desc.shape, i)) / 255.0f;
    switch (type) {
      case ElementType::Float32:
        store<float>(tensor, i, value);
        break;
      case ElementType::Float64:
        store<double>(tensor, i, value);
        break;
      case ElementType::Float16:
        store<Float16>(tensor, i, value);
        break;
      case ElementType::Int64:
        store<int64_t>(tensor, i, value);
        break;
      case ElementType::Int32:
        store<int32_t>(tensor, i, value);
        break;
      case ElementType::UInt8:
        store<uint8_t>(tensor, i, value);
        break;
      case ElementType::Int8:
        store<int8_t>(tensor, i, value);
        break;
      default:
        return error(StatusCode::NotSupported, "golden inputs of type {}", to_string(type));
    }
  }
  return tensor;
}

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
  std::ifstream stream(folder / "golden.json");
  const nlohmann::json golden = nlohmann::json::parse(stream);
  const std::filesystem::path root =
      context.root.empty() ? std::filesystem::path(".") : std::filesystem::path(context.root);
  HET_ASSIGN(const auto model,
             context.core.read_model((root / golden.at("model").get<std::string>()).string()));
  std::map<std::string, Shape> shapes;
  for (const nlohmann::json& input : golden.at("inputs")) {
    shapes[input.at("name").get<std::string>()] = input.at("shape").get<Shape>();
  }
  HET_TRY(model->reshape(shapes));
  HET_ASSIGN(const auto compiled,
             context.core.compile_model(*model, context.device, context.properties));
  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (const nlohmann::json& input : golden.at("inputs")) {
    HET_ASSIGN(const size_t index, compiled->input_index(input.at("name").get<std::string>()));
    HET_ASSIGN(Tensor tensor, make_input(input, compiled->inputs()[index]));
    HET_TRY(request->set_input(index, std::move(tensor)));
  }
  HET_TRY(request->infer());
  std::vector<OutputValues> outputs;
  for (const nlohmann::json& output : golden.at("outputs")) {
    const auto name = output.at("name").get<std::string>();
    size_t index = outputs.size();  // outputs without a name are told apart by their place
    if (!name.empty() || index >= compiled->outputs().size()) {
      HET_ASSIGN(index, compiled->output_index(name));
    }
    auto values = read_output(folder, output, request->output(index));
    if (!values) return values.error().with_context(fmt::format("output '{}'", name));
    outputs.push_back(std::move(*values));
  }
  align_tied_rows(outputs);
  const bool quantised = is_quantised(*model);
  for (size_t k = 0; k < outputs.size(); ++k) {
    const nlohmann::json& output = golden.at("outputs").at(k);
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
