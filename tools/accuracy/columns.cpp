#include "tools/accuracy/columns.h"

#include <algorithm>

#include "inference/devices/older_names.h"
#include "tools/golden_outputs.h"

namespace het {
namespace {

constexpr const char* kInt8 = "int8";

Properties with_type(Properties properties, const std::string& type, bool is_quantised_model) {
  // What is left of a quantised model computes in f32, so that int8 is told apart from the rest.
  replace_property(properties, "INFERENCE_PRECISION_HINT", type == kInt8 ? "f32" : type);
  if (is_quantised_model) {
    replace_property(properties, "EXECUTION_MODE_HINT", type == kInt8 ? "PERFORMANCE" : "ACCURACY");
  }
  return properties;
}

}  // namespace

Result<std::vector<AccuracyColumn>> make_columns(const Core& core,
                                                 const std::vector<std::string>& models,
                                                 const std::vector<std::string>& types,
                                                 const Properties& properties) {
  std::vector<AccuracyColumn> columns;
  if (types.empty()) {
    for (const std::string& model : models) columns.push_back({model, "", properties});
    return columns;
  }
  std::vector<std::string> plain;
  std::vector<std::string> quantised;
  for (const std::string& path : models) {
    HET_ASSIGN(const std::unique_ptr<Model> model, core.read_model(path));
    (is_quantised(*model) ? quantised : plain).push_back(path);
  }
  for (size_t t = 0; t < types.size(); ++t) {
    const std::string& type = types[t];
    if (type != "f32" && type != "bf16" && type != "f16" && type != kInt8) {
      return error(StatusCode::InvalidArgument, "--types takes f32, bf16, f16 and int8, not '{}'",
                   type);
    }
    if (std::find(types.begin(), types.begin() + static_cast<long>(t), type) !=
        types.begin() + static_cast<long>(t)) {
      return error(StatusCode::InvalidArgument, "--types has {} twice", type);
    }
    if (type == kInt8 && quantised.empty()) {
      return error(StatusCode::InvalidArgument,
                   "--types int8 needs a quantised model, and '{}' is not: give one beside it, as "
                   "ONNX Runtime's quantiser writes it ('hetero accuracy FLOAT.onnx INT8.onnx "
                   "DATASET')",
                   plain.front());
    }
    const bool takes_quantised = type == kInt8 || plain.empty();
    for (const std::string& path : takes_quantised ? quantised : plain) {
      columns.push_back({path, type, with_type(properties, type, takes_quantised)});
    }
  }
  return columns;
}

}  // namespace het
