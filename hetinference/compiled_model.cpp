/// Functions of HetCompiledModel.

#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/sized_struct.h"
#include "inference/base/new_file.h"
#include "inference/tensors/custom_type_numbers.h"

using namespace het;
using namespace het::c_interface;

namespace {

Status write_port(const std::vector<Port>& ports, size_t index, HetPort* out, const char* kind) {
  HET_TRY(check_size(out, "port"));
  if (index >= ports.size()) {
    return error(StatusCode::NotFound, "there is no {} {}; the model has {}", kind, index,
                 ports.size());
  }
  const Port& port = ports[index];
  HetPort result{};
  result.type = custom_type_number(port.desc.type);
  result.name = port.name.c_str();
  result.rank = static_cast<uint32_t>(port.desc.shape.size());
  result.shape = port.desc.shape.data();
  write_struct(result, out);
  return {};
}

}  // namespace

void het_compiled_model_release(HetCompiledModel* model) {
  delete model;
}

HetStatus het_compiled_model_name(const HetCompiledModel* model, char** name) {
  if (name) *name = nullptr;
  return call("het_compiled_model_name", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(name, "name"));
    HET_ASSIGN(*name, new_text(model->model->name()));
    return {};
  });
}

HetStatus het_compiled_model_port_counts(const HetCompiledModel* model, size_t* inputs,
                                         size_t* outputs) {
  if (inputs) *inputs = 0;
  if (outputs) *outputs = 0;
  return call("het_compiled_model_port_counts", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(inputs, "inputs"));
    HET_TRY(not_null(outputs, "outputs"));
    *inputs = model->model->inputs().size();
    *outputs = model->model->outputs().size();
    return {};
  });
}

HetStatus het_compiled_model_input(const HetCompiledModel* model, size_t index, HetPort* port) {
  return call("het_compiled_model_input", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    return write_port(model->model->inputs(), index, port, "input");
  });
}

HetStatus het_compiled_model_output(const HetCompiledModel* model, size_t index, HetPort* port) {
  return call("het_compiled_model_output", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    return write_port(model->model->outputs(), index, port, "output");
  });
}

HetStatus het_compiled_model_set_properties(HetCompiledModel* model, const HetProperty* properties,
                                            size_t count) {
  return call("het_compiled_model_set_properties", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_ASSIGN(const Properties values, to_properties(properties, count));
    return model->model->set_property(values);
  });
}

HetStatus het_compiled_model_get_property(const HetCompiledModel* model, const char* name,
                                          char** value) {
  if (value) *value = nullptr;
  return call("het_compiled_model_get_property", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(name, "name"));
    HET_TRY(not_null(value, "value"));
    HET_ASSIGN(const std::string text, model->model->get_property(name));
    HET_ASSIGN(*value, new_text(text));
    return {};
  });
}

HetStatus het_compiled_model_export(const HetCompiledModel* model, const char* path) {
  return call("het_compiled_model_export", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(path, "path"));
    HET_ASSIGN(NewFile file, NewFile::create(path));
    HET_TRY(model->model->export_model(file.stream()));
    return file.keep();
  });
}

HetStatus het_compiled_model_reset_state(HetCompiledModel* model, const char* stream) {
  return call("het_compiled_model_reset_state", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(stream, "stream"));
    return model->model->reset_state(stream);
  });
}

HetStatus het_compiled_model_create_request(HetCompiledModel* model, HetRequest** request) {
  if (request) *request = nullptr;
  return call("het_compiled_model_create_request", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(request, "request"));
    HET_ASSIGN(auto made, model->model->create_infer_request());
    *request = new HetRequest{model->core, {}, std::move(made)};
    return {};
  });
}
