#include "tools/model_source.h"

namespace het {
namespace {

Status bind_batch(Model& model) {
  std::map<std::string, Shape> bound;
  for (const ModelInput& input : model.inputs()) {
    Shape shape = input.value->desc().shape;
    if (shape.empty() || shape[0] != kUnknownDim) continue;
    shape[0] = 1;
    bound[input.value->name()] = shape;
  }
  return model.reshape(bound);
}

}  // namespace

Result<std::unique_ptr<Model>> load_model(Core& core, const std::string& path,
                                          const PreparationOptions& options) {
  HET_ASSIGN(std::unique_ptr<Model> model, core.read_model(path));
  HET_TRY(prepare(options, *model).with_context(fmt::format("cannot prepare model '{}'", path)));
  HET_TRY(bind_batch(*model));
  for (const ModelInput& input : model->inputs()) {
    if (!is_static(input.value->desc().shape)) {
      return error(StatusCode::InvalidArgument,
                   "input '{}' of model '{}' has unknown dimensions {}: give them with "
                   "-shape '{}[...]'",
                   input.value->name(), path, to_string(input.value->desc().shape),
                   input.value->name());
    }
  }
  return model;
}

}  // namespace het
