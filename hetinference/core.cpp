/// Functions of HetCore, HetModelQuery and HetContext.

#include "inference/core.h"

#include <fstream>

#include "devices/register_devices.h"
#include "hetinference/arguments.h"
#include "hetinference/handles.h"
#include "hetinference/sized_struct.h"

using namespace het;
using namespace het::c_interface;

HetStatus het_core_open(HetCore** core) {
  if (core) *core = nullptr;
  return call("het_core_open", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    *core = new HetCore{het::core()};
    return {};
  });
}

void het_core_release(HetCore* core) {
  delete core;
}

HetStatus het_core_available_devices(HetCore* core, char** names) {
  if (names) *names = nullptr;
  return call("het_core_available_devices", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(names, "names"));
    std::string joined;
    for (const std::string& name : core->core->available_devices()) {
      joined += (joined.empty() ? "" : ",") + name;
    }
    HET_ASSIGN(*names, new_text(joined));
    return {};
  });
}

HetStatus het_core_set_properties(HetCore* core, const char* device, const HetProperty* properties,
                                  size_t count) {
  return call("het_core_set_properties", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(device, "device"));
    HET_ASSIGN(const Properties values, to_properties(properties, count));
    return core->core->set_property(device, values);
  });
}

HetStatus het_core_get_property(HetCore* core, const char* device, const char* name, char** value) {
  if (value) *value = nullptr;
  return call("het_core_get_property", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(device, "device"));
    HET_TRY(not_null(name, "name"));
    HET_TRY(not_null(value, "value"));
    HET_ASSIGN(const std::string text, core->core->get_property(device, name));
    HET_ASSIGN(*value, new_text(text));
    return {};
  });
}

HetStatus het_core_add_extension(HetCore* core, const char* path) {
  return call("het_core_add_extension", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(path, "path"));
    return core->core->add_extension(path);
  });
}

HetStatus het_core_add_device_library(HetCore* core, const char* path) {
  return call("het_core_add_device_library", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(path, "path"));
    return core->core->add_device_library(path);
  });
}

HetStatus het_core_read_model(HetCore* core, const char* path, HetModel** model) {
  return het_core_read_model_overriding(core, path, nullptr, 0, model);
}

HetStatus het_core_read_model_overriding(HetCore* core, const char* path, const char* const* names,
                                         size_t count, HetModel** model) {
  if (model) *model = nullptr;
  return call("het_core_read_model", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(path, "path"));
    HET_TRY(not_null(model, "model"));
    std::vector<std::string> overridden;
    for (size_t i = 0; i < count; ++i) {
      HET_TRY(not_null(names, "names"));
      HET_TRY(not_null(names[i], "a name"));
      overridden.emplace_back(names[i]);
    }
    HET_ASSIGN(auto read, core->core->read_model(path, overridden));
    *model = new HetModel{std::move(read)};
    return {};
  });
}

HetStatus het_core_compile_model(HetCore* core, const HetModel* model, const char* device,
                                 const HetProperty* properties, size_t count, HetContext* context,
                                 HetCompiledModel** compiled) {
  if (compiled) *compiled = nullptr;
  return call("het_core_compile_model", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(device, "device"));
    HET_TRY(not_null(compiled, "compiled"));
    HET_ASSIGN(const Properties values, to_properties(properties, count));
    HET_ASSIGN(auto result, core->core->compile_model(*model->model, device, values,
                                                      context ? context->context : nullptr));
    *compiled = new HetCompiledModel{core->core, std::move(result)};
    return {};
  });
}

HetStatus het_core_query_model(HetCore* core, const HetModel* model, const char* device,
                               const HetProperty* properties, size_t count, HetModelQuery** query) {
  if (query) *query = nullptr;
  return call("het_core_query_model", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(model, "model"));
    HET_TRY(not_null(device, "device"));
    HET_TRY(not_null(query, "query"));
    HET_ASSIGN(const Properties values, to_properties(properties, count));
    HET_ASSIGN(auto nodes, core->core->query_model(*model->model, device, values));
    *query = new HetModelQuery{std::move(nodes)};
    return {};
  });
}

HetStatus het_model_query_count(const HetModelQuery* query, size_t* nodes) {
  if (nodes) *nodes = 0;
  return call("het_model_query_count", [&]() -> Status {
    HET_TRY(not_null(query, "query"));
    HET_TRY(not_null(nodes, "nodes"));
    *nodes = query->nodes.size();
    return {};
  });
}

HetStatus het_model_query_node(const HetModelQuery* query, size_t index, HetNodeSupport* node) {
  return call("het_model_query_node", [&]() -> Status {
    HET_TRY(not_null(query, "query"));
    HET_TRY(check_size(node, "node"));
    if (index >= query->nodes.size()) {
      return error(StatusCode::NotFound, "there is no node {} of {}", index, query->nodes.size());
    }
    const NodeSupport& from = query->nodes[index];
    HetNodeSupport result{};
    result.name = from.node_name.c_str();
    result.type = from.op_type.c_str();
    result.device = from.device.c_str();
    result.reason = from.reason.c_str();
    write_struct(result, node);
    return {};
  });
}

void het_model_query_release(HetModelQuery* query) {
  delete query;
}

HetStatus het_core_import_model(HetCore* core, const char* path, const char* device,
                                const HetProperty* properties, size_t count,
                                HetCompiledModel** compiled) {
  if (compiled) *compiled = nullptr;
  return call("het_core_import_model", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(path, "path"));
    HET_TRY(not_null(device, "device"));
    HET_TRY(not_null(compiled, "compiled"));
    HET_ASSIGN(const Properties values, to_properties(properties, count));
    std::ifstream file(path, std::ios::binary);
    if (!file) return error(StatusCode::NotFound, "cannot read the exported model '{}'", path);
    HET_ASSIGN(auto result, core->core->import_model(file, device, values));
    *compiled = new HetCompiledModel{core->core, std::move(result)};
    return {};
  });
}

HetStatus het_core_create_context(HetCore* core, const char* device,
                                  const HetContextObject* objects, size_t count,
                                  HetContext** context) {
  if (context) *context = nullptr;
  return call("het_core_create_context", [&]() -> Status {
    HET_TRY(not_null(core, "core"));
    HET_TRY(not_null(device, "device"));
    HET_TRY(not_null(context, "context"));
    ContextParams params;
    if (count > 0) HET_TRY(check_size(objects, "objects"));
    for (size_t i = 0; i < count; ++i) {
      const auto* element = reinterpret_cast<const HetContextObject*>(
          reinterpret_cast<const char*>(objects) + i * objects->struct_size);
      HET_ASSIGN(const HetContextObject object, read_struct(element, "an object"));
      HET_TRY(not_null(object.name, "the name of an object"));
      params[object.name] = object.object;
    }
    HET_ASSIGN(auto made, core->core->create_context(device, params));
    *context = new HetContext{core->core, std::move(made)};
    return {};
  });
}

HetStatus het_context_device(const HetContext* context, char** name) {
  if (name) *name = nullptr;
  return call("het_context_device", [&]() -> Status {
    HET_TRY(not_null(context, "context"));
    HET_TRY(not_null(name, "name"));
    HET_ASSIGN(*name, new_text(context->context->device_name()));
    return {};
  });
}

void het_context_release(HetContext* context) {
  delete context;
}
