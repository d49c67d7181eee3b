#include "tools/golden_run.h"

#include <fstream>
#include <map>

namespace het {
namespace {

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

}  // namespace

Result<GoldenRun> prepare_golden_run(const VerifyContext& context,
                                     const std::filesystem::path& folder) {
  GoldenRun run;
  std::ifstream stream(folder / "golden.json");
  run.golden = nlohmann::json::parse(stream);
  const std::filesystem::path root =
      context.root.empty() ? std::filesystem::path(".") : std::filesystem::path(context.root);
  HET_ASSIGN(run.model,
             context.core.read_model((root / run.golden.at("model").get<std::string>()).string()));
  std::map<std::string, Shape> shapes;
  for (const nlohmann::json& input : run.golden.at("inputs")) {
    shapes[input.at("name").get<std::string>()] = input.at("shape").get<Shape>();
  }
  HET_TRY(run.model->reshape(shapes));
  HET_ASSIGN(run.compiled,
             context.core.compile_model(*run.model, context.device, context.properties));
  HET_ASSIGN(run.request, run.compiled->create_infer_request());
  for (const nlohmann::json& input : run.golden.at("inputs")) {
    HET_ASSIGN(const size_t index, run.compiled->input_index(input.at("name").get<std::string>()));
    HET_ASSIGN(Tensor tensor, make_input(input, run.compiled->inputs()[index]));
    HET_TRY(run.request->set_input(index, std::move(tensor)));
  }
  return run;
}

}  // namespace het
