/// Functions of HetCompiledModel.

#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/ports.h"
#include "hetinference/sized_struct.h"
#include "inference/base/new_file.h"

using namespace het;
using namespace het::c_interface;

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
    return write_port_of(model->model->inputs(), index, "input", port);
  });
}

HetStatus het_compiled_model_output(const HetCompiledModel* model, size_t index, HetPort* port) {
  return call("het_compiled_model_output", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    return write_port_of(model->model->outputs(), index, "output", port);
  });
}

HetStatus het_compiled_model_subgraphs(const HetCompiledModel* model, HetSubgraphs** subgraphs) {
  if (subgraphs) *subgraphs = nullptr;
  return call("het_compiled_model_subgraphs", [&]() -> Status {
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(subgraphs, "subgraphs"));
    auto made = std::make_unique<HetSubgraphs>();
    made->rows = model->model->subgraphs();
    const auto pointers = [](const std::vector<std::string>& texts) {
      std::vector<const char*> all;
      for (const std::string& text : texts) all.push_back(text.c_str());
      return all;
    };
    for (const SubgraphInfo& row : made->rows) {
      made->texts.push_back({pointers(row.nodes), pointers(row.inputs), pointers(row.outputs)});
    }
    *subgraphs = made.release();
    return {};
  });
}

HetStatus het_subgraphs_count(const HetSubgraphs* subgraphs, size_t* count) {
  if (count) *count = 0;
  return call("het_subgraphs_count", [&]() -> Status {
    HET_TRY(not_null(subgraphs, "subgraphs"));
    HET_TRY(not_null(count, "count"));
    *count = subgraphs->rows.size();
    return {};
  });
}

HetStatus het_subgraphs_get(const HetSubgraphs* subgraphs, size_t index, HetSubgraph* subgraph) {
  return call("het_subgraphs_get", [&]() -> Status {
    HET_TRY(not_null(subgraphs, "subgraphs"));
    HET_TRY(check_size(subgraph, "subgraph"));
    if (index >= subgraphs->rows.size()) {
      return error(StatusCode::NotFound, "there is no subgraph {} of {}", index,
                   subgraphs->rows.size());
    }
    const SubgraphInfo& row = subgraphs->rows[index];
    const HetSubgraphs::Texts& texts = subgraphs->texts[index];
    HetSubgraph result{};
    result.name = row.name.c_str();
    result.device = row.device.c_str();
    result.node_count = texts.nodes.size();
    result.nodes = texts.nodes.data();
    result.input_count = texts.inputs.size();
    result.inputs = texts.inputs.data();
    result.output_count = texts.outputs.size();
    result.outputs = texts.outputs.data();
    result.dependency_count = row.dependencies.size();
    result.dependencies = row.dependencies.data();
    write_struct(result, subgraph);
    return {};
  });
}

void het_subgraphs_release(HetSubgraphs* subgraphs) {
  delete subgraphs;
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
