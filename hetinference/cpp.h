/// The C interface as C++17: handles that release themselves, failures as exceptions. Header only,
/// so a program depends on the C functions and not on the C++ types of the library, whose layout
/// may change between versions. For what has no method here, call the C function with get() and
/// hand its status to check().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hetinference/c.h"

namespace hetinference {

/// A call that failed: what() is the library's text, status() the number.
class Error : public std::runtime_error {
 public:
  explicit Error(HetStatus status) : std::runtime_error(het_last_error()), status_(status) {}
  HetStatus status() const { return status_; }

 private:
  HetStatus status_;
};

inline void check(HetStatus status) {
  if (status != HET_OK) throw Error(status);
}

/// A struct of the C interface with its size set and the rest zero.
template <class T>
T make_struct() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

/// A handle that releases itself; movable. Threads: as the C functions say.
template <class T, void (*release)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* handle) : handle_(handle, release) {}
  T* get() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  std::unique_ptr<T, void (*)(T*)> handle_{nullptr, release};
};

using Properties = std::vector<std::pair<std::string, std::string>>;

namespace internal {
/// Points into `properties`.
std::vector<HetProperty> c_properties(Properties&&) = delete;
inline std::vector<HetProperty> c_properties(const Properties& properties) {
  std::vector<HetProperty> result;
  for (const auto& [name, value] : properties) {
    result.push_back({sizeof(HetProperty), name.c_str(), value.c_str()});
  }
  return result;
}
inline std::vector<std::string> texts(const char* const* first, size_t count) {
  return std::vector<std::string>(first, first + count);
}
inline std::string take_text(char* text) {
  const std::unique_ptr<char, void (*)(char*)> owner(text, het_text_free);
  return text;
}
}  // namespace internal

/// An application's VADisplay, which must stay open until this and all pictures of it are gone.
class Display : public Handle<HetDisplay, het_display_release> {
 public:
  explicit Display(void* va_display, HetRelease release = nullptr, void* user = nullptr)
      : Handle(open(va_display, release, user)) {}
  HetSurfaceCounts counts() const {
    auto counts = make_struct<HetSurfaceCounts>();
    check(het_display_counts(get(), &counts));
    return counts;
  }
  /// For set_picture(); `format` and what else describes the surface is the caller's.
  HetPicture picture(uint32_t surface, int32_t format, int width, int height) const {
    auto picture = make_struct<HetPicture>();
    picture.format = format;
    picture.width = width;
    picture.height = height;
    picture.memory = HET_MEMORY_SURFACE;
    picture.surface = surface;
    picture.display = get();
    return picture;
  }

 private:
  static HetDisplay* open(void* va_display, HetRelease release, void* user) {
    HetDisplay* display = nullptr;
    check(het_display_open(va_display, release, user, &display));
    return display;
  }
};

/// What one execution found in a picture. Pointers in the structs live as long as this.
class Results : public Handle<HetResults, het_results_release> {
 public:
  using Handle::Handle;
  std::vector<HetFoundObject> objects() const {
    std::vector<HetFoundObject> all(counts().objects, make_struct<HetFoundObject>());
    for (size_t i = 0; i < all.size(); ++i) check(het_results_object(get(), i, &all[i]));
    return all;
  }
  std::vector<HetFoundClass> classes() const {
    std::vector<HetFoundClass> all(counts().classes, make_struct<HetFoundClass>());
    for (size_t i = 0; i < all.size(); ++i) check(het_results_class(get(), i, &all[i]));
    return all;
  }
  HetResultCounts counts() const {
    auto counts = make_struct<HetResultCounts>();
    check(het_results_counts(get(), &counts));
    return counts;
  }
};

class Request : public Handle<HetRequest, het_request_release> {
 public:
  using Handle::Handle;
  void set_tensor(const std::string& port, const HetTensor& tensor) {
    check(het_request_set_tensor(get(), port.c_str(), &tensor));
  }
  HetTensor tensor(const std::string& port) const {
    auto tensor = make_struct<HetTensor>();
    check(het_request_get_tensor(get(), port.c_str(), &tensor));
    return tensor;
  }
  /// Requests of one stream share the state of a stateful model.
  void set_stream(const std::string& stream) {
    check(het_request_set_stream(get(), stream.c_str()));
  }
  void infer() { check(het_request_infer(get())); }
  void start_async() { check(het_request_start_async(get())); }
  void wait() { check(het_request_wait(get(), -1)); }
  /// False when the limit is over and the execution still runs.
  bool wait_for(int64_t timeout_ms) {
    const HetStatus status = het_request_wait(get(), timeout_ms);
    if (status == HET_TIMED_OUT) return false;
    check(status);
    return true;
  }
  void cancel() { check(het_request_cancel(get())); }
  void set_callback(HetCompletion callback, void* user) {
    check(het_request_set_callback(get(), callback, user));
  }
};

/// A part of a split model that one device runs: names of nodes and of the values that it reads and
/// gives; `dependencies` are subgraphs that must have run before.
struct Subgraph {
  std::string name;
  std::string device;
  std::vector<std::string> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<size_t> dependencies;
};

class CompiledModel : public Handle<HetCompiledModel, het_compiled_model_release> {
 public:
  using Handle::Handle;
  std::string property(const std::string& name) const {
    char* text = nullptr;
    check(het_compiled_model_get_property(get(), name.c_str(), &text));
    return internal::take_text(text);
  }
  void set_property(const Properties& properties) {
    const auto values = internal::c_properties(properties);
    check(het_compiled_model_set_properties(get(), values.data(), values.size()));
  }
  /// How executions that begin now are split, in an order in which they can run; empty for models
  /// that are not.
  std::vector<Subgraph> subgraphs() const {
    HetSubgraphs* handle = nullptr;
    check(het_compiled_model_subgraphs(get(), &handle));
    const Handle<HetSubgraphs, het_subgraphs_release> rows(handle);
    size_t count = 0;
    check(het_subgraphs_count(rows.get(), &count));
    std::vector<Subgraph> all;
    for (size_t i = 0; i < count; ++i) {
      auto row = make_struct<HetSubgraph>();
      check(het_subgraphs_get(rows.get(), i, &row));
      all.push_back(
          {row.name, row.device, internal::texts(row.nodes, row.node_count),
           internal::texts(row.inputs, row.input_count),
           internal::texts(row.outputs, row.output_count),
           std::vector<size_t>(row.dependencies, row.dependencies + row.dependency_count)});
    }
    return all;
  }
  void reset_state(const std::string& stream = "") {
    check(het_compiled_model_reset_state(get(), stream.c_str()));
  }
  Request create_request() {
    HetRequest* request = nullptr;
    check(het_compiled_model_create_request(get(), &request));
    return Request(request);
  }
};

/// Where the nodes of a model would run. Texts in the structs live as long as this.
class ModelQuery : public Handle<HetModelQuery, het_model_query_release> {
 public:
  using Handle::Handle;
  std::vector<HetNodeSupport> nodes() const {
    size_t count = 0;
    check(het_model_query_count(get(), &count));
    std::vector<HetNodeSupport> all(count, make_struct<HetNodeSupport>());
    for (size_t i = 0; i < count; ++i) check(het_model_query_node(get(), i, &all[i]));
    return all;
  }
  /// Node to device, "" where none runs it: what Model::set_affinities() takes, once entries are
  /// changed.
  std::map<std::string, std::string> devices() const {
    std::map<std::string, std::string> devices;
    for (const HetNodeSupport& node : nodes()) devices[node.name] = node.device;
    return devices;
  }
};

/// A node of a model, which must live longer. What it tells is read anew each time.
class Node {
 public:
  Node(HetModel* model, size_t index) : model_(model), index_(index) {}
  size_t index() const { return index_; }
  std::string friendly_name() const { return row().name; }
  std::string type_name() const { return row().type; }
  /// "" for ONNX' own.
  std::string domain() const { return row().domain; }
  /// In the operator's order; `kind` tells nodes from inputs of the model, constants and omitted
  /// ones. Pointers are borrowed from the model.
  std::vector<HetValue> inputs() const {
    std::vector<HetValue> all(row().input_count, make_struct<HetValue>());
    for (size_t i = 0; i < all.size(); ++i) {
      check(het_model_node_input(model_, index_, i, &all[i]));
    }
    return all;
  }
  std::vector<HetValue> outputs() const {
    std::vector<HetValue> all(row().output_count, make_struct<HetValue>());
    for (size_t i = 0; i < all.size(); ++i) {
      check(het_model_node_output(model_, index_, i, &all[i]));
    }
    return all;
  }
  /// A copy; set_rt_info() changes the model.
  std::map<std::string, std::string> rt_info() const {
    std::map<std::string, std::string> info;
    for (size_t i = 0; i < row().rt_info_count; ++i) {
      auto pair = make_struct<HetPair>();
      check(het_model_node_rt_info(model_, index_, i, &pair));
      info[pair.name] = pair.value;
    }
    return info;
  }
  /// An empty value removes the key. "affinity" is the device that HETERO gives the node.
  void set_rt_info(const std::string& key, const std::string& value) {
    check(het_model_set_node_rt_info(model_, index_, key.c_str(), value.c_str()));
  }
  std::string affinity() const { return row().affinity; }
  void set_affinity(const std::string& device) { set_rt_info("affinity", device); }

 private:
  HetNode row() const {
    auto row = make_struct<HetNode>();
    check(het_model_node(model_, index_, &row));
    return row;
  }

  HetModel* model_;
  size_t index_;
};

class Model : public Handle<HetModel, het_model_release> {
 public:
  using Handle::Handle;
  /// In an order in which they can run.
  std::vector<Node> nodes() const {
    size_t count = 0;
    check(het_model_node_count(get(), &count));
    std::vector<Node> all;
    for (size_t i = 0; i < count; ++i) all.emplace_back(get(), i);
    return all;
  }
  Node node(const std::string& name) const {
    size_t index = 0;
    check(het_model_find_node(get(), name.c_str(), &index));
    return Node(get(), index);
  }
  /// Pointers are borrowed from the model.
  std::vector<HetPort> inputs() const {
    std::vector<HetPort> all(port_counts().first, make_struct<HetPort>());
    for (size_t i = 0; i < all.size(); ++i) check(het_model_input(get(), i, &all[i]));
    return all;
  }
  std::vector<HetPort> outputs() const {
    std::vector<HetPort> all(port_counts().second, make_struct<HetPort>());
    for (size_t i = 0; i < all.size(); ++i) check(het_model_output(get(), i, &all[i]));
    return all;
  }
  void reshape(const std::string& shapes) { check(het_model_reshape(get(), shapes.c_str())); }
  /// By name, "" takes a wish away; fails, changing nothing, when no node has one of the names.
  void set_affinities(const std::map<std::string, std::string>& devices) {
    const Properties wishes(devices.begin(), devices.end());
    const auto pairs = internal::c_properties(wishes);
    check(het_model_set_affinities(get(), pairs.data(), pairs.size()));
  }

 private:
  std::pair<size_t, size_t> port_counts() const {
    std::pair<size_t, size_t> counts;
    check(het_model_port_counts(get(), &counts.first, &counts.second));
    return counts;
  }
};

using Context = Handle<HetContext, het_context_release>;

class VisionModel : public Handle<HetVisionModel, het_vision_model_release> {
 public:
  using Handle::Handle;
  Request create_request() {
    HetRequest* request = nullptr;
    check(het_vision_model_create_request(get(), &request));
    return Request(request);
  }
  void set_picture(Request& request, const HetPicture& picture, size_t batch_index = 0) const {
    check(het_vision_model_set_picture(get(), request.get(), &picture, nullptr, batch_index));
  }
  /// A part of the picture.
  void set_picture(Request& request, const HetPicture& picture, const HetRegion& region,
                   size_t batch_index = 0) const {
    check(het_vision_model_set_picture(get(), request.get(), &picture, &region, batch_index));
  }
  Results results(const Request& request, int width, int height, size_t batch_index = 0,
                  float threshold = 0.0f) const {
    HetResults* results = nullptr;
    check(het_vision_model_results(get(), request.get(), width, height, nullptr, batch_index,
                                   threshold, &results));
    return Results(results);
  }
};

class Core : public Handle<HetCore, het_core_release> {
 public:
  Core() : Handle(open()) {}
  std::string available_devices() const {
    char* names = nullptr;
    check(het_core_available_devices(get(), &names));
    return internal::take_text(names);
  }
  void add_device_library(const std::string& path) {
    check(het_core_add_device_library(get(), path.c_str()));
  }
  /// `overridden`: as in het_core_read_model_overriding().
  Model read_model(const std::string& path, const std::vector<std::string>& overridden = {}) {
    std::vector<const char*> names;
    for (const std::string& name : overridden) names.push_back(name.c_str());
    HetModel* model = nullptr;
    check(het_core_read_model_overriding(get(), path.c_str(), names.data(), names.size(), &model));
    return Model(model);
  }
  /// Defaults of a device for later compiles.
  void set_property(const std::string& device, const Properties& properties) {
    const auto values = internal::c_properties(properties);
    check(het_core_set_properties(get(), device.c_str(), values.data(), values.size()));
  }
  std::string property(const std::string& device, const std::string& name) const {
    char* text = nullptr;
    check(het_core_get_property(get(), device.c_str(), name.c_str(), &text));
    return internal::take_text(text);
  }
  ModelQuery query_model(const Model& model, const std::string& device,
                         const Properties& properties = {}) {
    const auto values = internal::c_properties(properties);
    HetModelQuery* query = nullptr;
    check(het_core_query_model(get(), model.get(), device.c_str(), values.data(), values.size(),
                               &query));
    return ModelQuery(query);
  }
  CompiledModel compile_model(const Model& model, const std::string& device,
                              const Properties& properties = {}, HetContext* context = nullptr) {
    const auto values = internal::c_properties(properties);
    HetCompiledModel* compiled = nullptr;
    check(het_core_compile_model(get(), model.get(), device.c_str(), values.data(), values.size(),
                                 context, &compiled));
    return CompiledModel(compiled);
  }
  VisionModel load_vision_model(const HetVisionSettings& settings) {
    HetVisionModel* model = nullptr;
    check(het_vision_model_load(get(), &settings, &model));
    return VisionModel(model);
  }

 private:
  static HetCore* open() {
    HetCore* core = nullptr;
    check(het_core_open(&core));
    return core;
  }
};

}  // namespace hetinference
