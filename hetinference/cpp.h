/// The C interface as C++17: handles that release themselves, failures as exceptions. Header only,
/// so a program depends on the C functions and not on the C++ types of the library, whose layout
/// may change between versions. For what has no method here, call the C function with get() and
/// hand its status to check().
#pragma once

#include <cstdint>
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
inline std::vector<HetProperty> c_properties(const Properties& properties) {
  std::vector<HetProperty> result;
  for (const auto& [name, value] : properties) {
    result.push_back({sizeof(HetProperty), name.c_str(), value.c_str()});
  }
  return result;
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

class CompiledModel : public Handle<HetCompiledModel, het_compiled_model_release> {
 public:
  using Handle::Handle;
  std::string property(const std::string& name) const {
    char* text = nullptr;
    check(het_compiled_model_get_property(get(), name.c_str(), &text));
    return internal::take_text(text);
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
};

using Model = Handle<HetModel, het_model_release>;
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
