#include "tools/model_source.h"

#include <algorithm>

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

Result<std::unique_ptr<Model>> read_model(Core& core, const std::string& path,
                                          const PreparationOptions& options,
                                          const std::vector<std::string>& inputs) {
  for (const std::string& library : options.extensions) HET_TRY(core.add_extension(library));
  HET_ASSIGN(std::unique_ptr<Model> model, core.read_model(path));
  std::vector<std::string> overridden;
  for (const std::string& name : model->overridable_constants()) {
    if (std::ranges::find(inputs, name) != inputs.end()) overridden.push_back(name);
  }
  if (overridden.empty()) return model;
  return core.read_model(path, overridden);
}

Result<std::unique_ptr<Model>> load_unbound_model(Core& core, const std::string& path,
                                                  const PreparationOptions& options) {
  HET_ASSIGN(std::unique_ptr<Model> model, read_model(core, path, options));
  HET_TRY(prepare(options, *model).with_context(fmt::format("cannot prepare model '{}'", path)));
  HET_TRY(bind_batch(*model));
  return model;
}

std::string unbound_input(const Model& model) {
  for (const ModelInput& input : model.inputs()) {
    const TensorDesc& desc = input.value->desc();
    if (is_static(desc.shape)) continue;
    return fmt::format("input '{0}' has unknown dimensions {1}: give them with -shape '{0}[...]'",
                       input.value->name(), to_string(desc.shape));
  }
  return {};
}

Result<std::unique_ptr<Model>> load_model(Core& core, const std::string& path,
                                          const PreparationOptions& options) {
  HET_ASSIGN(std::unique_ptr<Model> model, load_unbound_model(core, path, options));
  const std::string unbound = unbound_input(*model);
  if (unbound.empty()) return model;
  return error(StatusCode::InvalidArgument, "model '{}': {}", path, unbound);
}

}  // namespace het
