/// The classes behind hetero.VisionModel: pictures in, results out.

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/register_devices.h"
#include "inference/inspection/inspection.h"
#include "inference/vision_model.h"
#include "python/bindings/classes.h"
#include "python/bindings/compiled_models.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/pictures.h"
#include "python/bindings/process_bound.h"
#include "python/bindings/property_values.h"
#include "python/bindings/requests.h"
#include "python/bindings/tensors.h"
#include "python/bindings/vision_results.h"

namespace het::python {
namespace {

/// What of a picture a request works on.
struct Region {
  int width = 0;
  int height = 0;
  Rect part;
};

/// The model, its core and, for each width of a reader of lines, the requests that are idle.
class PythonVisionModel {
 public:
  PythonVisionModel(std::shared_ptr<Core> core, VisionModelSettings settings)
      : core_(std::move(core)), settings_(std::move(settings)) {
    const std::shared_ptr<Core> own = core_.get();
    model_.emplace(take(without_gil([&] { return VisionModel::load(*own, settings_); })));
  }

  const VisionModel& model() const {
    check(model_->check());
    return **model_;
  }
  const VisionModelSettings& settings() const { return settings_; }
  std::shared_ptr<CompiledHandle> compiled() { return handle_of(model()); }

  std::shared_ptr<PythonRequest> borrow(const VisionModel& model) {
    std::vector<std::shared_ptr<PythonRequest>>& idle = idle_[&model];
    if (idle.empty()) return PythonRequest::create(handle_of(model));
    std::shared_ptr<PythonRequest> request = std::move(idle.back());
    idle.pop_back();
    return request;
  }
  void give_back(const VisionModel& model, std::shared_ptr<PythonRequest> request) {
    idle_[&model].push_back(std::move(request));
  }

 private:
  std::shared_ptr<CompiledHandle> handle_of(const VisionModel& model) {
    std::shared_ptr<CompiledHandle>& handle = handles_[&model];
    if (!handle) {
      handle = std::make_shared<CompiledHandle>(core_.get(), model.compiled().shared_from_this());
    }
    return handle;
  }

  ProcessBound<std::shared_ptr<Core>> core_;  // goes last
  VisionModelSettings settings_;
  std::optional<ProcessBound<std::shared_ptr<VisionModel>>> model_;
  std::map<const VisionModel*, std::shared_ptr<CompiledHandle>> handles_;
  std::map<const VisionModel*, std::vector<std::shared_ptr<PythonRequest>>> idle_;
};

/// One picture on its way. Let go of before the end, it ends the execution.
class Pending {
 public:
  Pending(std::shared_ptr<PythonVisionModel> owner, const Image& image, const Rect& part,
          float threshold)
      : owner_(std::move(owner)),
        model_(&owner_->model().for_region(part)),
        request_(owner_->borrow(*model_)),
        region_{image.width, image.height, part},
        threshold_(threshold) {
    check(model_->set_picture(request_->idle_request("set a picture"), image, part));
  }
  ~Pending() {
    if (request_ != nullptr && !request_->is_running()) {
      owner_->give_back(*model_, std::move(request_));
    }
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  void start() { request_->start(); }
  std::shared_ptr<PythonResults> infer() {
    request_->infer();
    return finish();
  }
  std::shared_ptr<PythonResults> wait() {
    if (result_ == nullptr) {
      request_->wait();
      result_ = finish();
    }
    return result_;
  }
  bool is_done() const { return request_ == nullptr || !request_->is_running(); }

 private:
  std::shared_ptr<PythonResults> finish() {
    const InferRequest& done = request_->idle_request("read results");
    Results found = take(without_gil([&] {
      return model_->results(done, region_.width, region_.height, region_.part, 0, threshold_);
    }));
    owner_->give_back(*model_, std::move(request_));
    request_.reset();
    return std::make_shared<PythonResults>(
        PythonResults{std::move(found), region_.width, region_.height});
  }

  std::shared_ptr<PythonVisionModel> owner_;
  const VisionModel* model_;
  std::shared_ptr<PythonRequest> request_;
  Region region_;
  float threshold_;
  std::shared_ptr<PythonResults> result_;
};

VisionModelSettings settings_of(py::object model, const std::string& device, py::object config,
                                py::object labels, py::object model_proc, py::object preparation,
                                py::object reshape, int width, int height,
                                py::object custom_library, bool raw) {
  VisionModelSettings settings;
  settings.model = path_text(model);
  settings.model_proc = path_text(model_proc);
  settings.device = device;
  settings.properties = to_properties(config);
  settings.picture_preparation = to_properties(preparation);
  settings.custom_library = path_text(custom_library);
  settings.picture_width = width;
  settings.picture_height = height;
  settings.copy_outputs = raw;
  if (py::isinstance<py::list>(labels) || py::isinstance<py::tuple>(labels)) {
    for (const py::handle label : labels) settings.labels.push_back(label.cast<std::string>());
  } else {
    settings.labels_file = path_text(labels);
  }
  if (!reshape.is_none()) {
    for (const auto& [name, shape] : reshape.cast<py::dict>()) {
      settings.reshape[name.cast<std::string>()] = to_shape(shape);
    }
  }
  return settings;
}

Rect region_of(py::handle region, const Image& image) {
  if (region.is_none()) return image.full();
  const auto sides = region.cast<std::vector<double>>();
  if (sides.size() != 4) {
    raise(Status(StatusCode::InvalidArgument,
                 "a region is (x, y, width, height) in pixels of the picture"));
  }
  for (const double side : sides) {
    if (!(side > -1e9 && side < 1e9)) {
      raise(Status(StatusCode::InvalidArgument, "a region has finite sides"));
    }
  }
  return {static_cast<int>(sides[0]), static_cast<int>(sides[1]), static_cast<int>(sides[2]),
          static_cast<int>(sides[3])};
}

std::unique_ptr<Pending> pending(const std::shared_ptr<PythonVisionModel>& self, py::object picture,
                                 const PictureMeaning& meaning, py::object region,
                                 float threshold) {
  if (!(threshold >= 0.0f && threshold <= 1.0f)) {
    raise(Status(StatusCode::InvalidArgument,
                 fmt::format("threshold {} is not in 0..1; 0 leaves the model's own", threshold)));
  }
  const Image image = to_image(picture, meaning);
  return std::make_unique<Pending>(self, image, region_of(region, image), threshold);
}

std::string inspect(const VisionModelSettings& settings, bool as_json) {
  const std::shared_ptr<Core> core = het::core();
  return take(without_gil([&]() -> Result<std::string> {
    HET_ASSIGN(const Inspection inspection, inspect_model(*core, settings));
    return as_json ? to_json(inspection) : to_text(inspection);
  }));
}

}  // namespace

void define_vision(py::module_& module) {
  py::class_<VisionModelSettings>(module, "VisionSettings",
                                  "What hetero.VisionModel was told; made by it.")
      .def(py::init(&settings_of), py::arg("model"), py::arg("device"), py::arg("config"),
           py::arg("labels"), py::arg("model_proc"), py::arg("preparation"), py::arg("reshape"),
           py::arg("width"), py::arg("height"), py::arg("custom_library"), py::arg("raw"))
      .def("inspect", &inspect, kInPython, py::arg("as_json"),
           "How pictures get in and results are read, as text or JSON.");
  py::class_<Pending>(module, "PendingResult",
                      "A picture on its way through a VisionModel, from VisionModel.start().")
      .def("wait", &Pending::wait, kInPython, "Waits for the end and returns the raw results.")
      .def("is_done", &Pending::is_done, "Whether the end has come.");
  py::class_<PythonVisionModel, std::shared_ptr<PythonVisionModel>>(
      module, "VisionModelCore", "What hetero.VisionModel is made of.")
      .def(py::init([](const VisionModelSettings& settings) {
             return std::make_shared<PythonVisionModel>(het::core(), settings);
           }),
           kInPython, py::arg("settings"))
      .def(
          "infer",
          [](const std::shared_ptr<PythonVisionModel>& self, py::object picture,
             const std::string& format, const std::string& matrix, bool full_range,
             py::object region, float threshold) {
            return pending(self, picture, {format, matrix, full_range}, region, threshold)->infer();
          },
          kInPython)
      .def(
          "start",
          [](const std::shared_ptr<PythonVisionModel>& self, py::object picture,
             const std::string& format, const std::string& matrix, bool full_range,
             py::object region, float threshold) {
            auto started = pending(self, picture, {format, matrix, full_range}, region, threshold);
            started->start();
            return started;
          },
          kInPython)
      .def_property_readonly(
          "compiled_model",
          [](PythonVisionModel& self) { return PythonCompiledModel(self.compiled()); })
      .def_property_readonly("labels",
                             [](const PythonVisionModel& self) { return self.model().labels(); })
      .def_property_readonly("input_size", [](const PythonVisionModel& self) {
        return py::make_tuple(self.model().input_width(), self.model().input_height());
      });
}

}  // namespace het::python
