#include "tools/model_source.h"

namespace het {

Result<std::map<std::string, Shape>> parse_named_shapes(const std::string& text) {
  std::map<std::string, Shape> shapes;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ',' || text[at] == ' ') {
      ++at;
      continue;
    }
    const size_t open = text.find('[', at);
    const size_t close = text.find(']', at);
    if (open == std::string::npos || close == std::string::npos || close < open) {
      return error(StatusCode::InvalidArgument,
                   "'{}' is not a list of shapes; write [1,3,224,224] or name[1,3,224,224]", text);
    }
    HET_ASSIGN(shapes[text.substr(at, open - at)],
               parse_shape(text.substr(open, close - open + 1)));
    at = close + 1;
  }
  return shapes;
}

Status bind_batch(Model& model, int64_t batch) {
  std::map<std::string, Shape> bound;
  for (const ModelInput& input : model.inputs()) {
    Shape shape = input.value->desc().shape;
    if (shape.empty() || shape[0] != kUnknownDim) continue;
    shape[0] = batch;
    bound[input.value->name()] = shape;
  }
  return model.reshape(bound);
}

Result<std::unique_ptr<Model>> load_model(Core& core, const std::string& path,
                                          const std::string& shapes) {
  HET_ASSIGN(std::unique_ptr<Model> model, core.read_model(path));
  HET_ASSIGN(auto named, parse_named_shapes(shapes));
  const auto unnamed = named.find("");
  if (unnamed != named.end()) {
    if (model->inputs().size() != 1) {
      return error(StatusCode::InvalidArgument,
                   "model '{}' has {} inputs: say which one gets shape {}, as name[...]", path,
                   model->inputs().size(), to_string(unnamed->second));
    }
    named[model->inputs()[0].value->name()] = unnamed->second;
    named.erase("");
  }
  HET_TRY(model->reshape(named));
  HET_TRY(bind_batch(*model, 1));
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
