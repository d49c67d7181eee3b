/// The class behind hetero.Tracker.

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/tracking/tracker.h"
#include "python/bindings/arrays.h"
#include "python/bindings/classes.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"

namespace het::python {
namespace {

/// Instead of an id: the object is none, as its score is low and no track stands for it.
constexpr int kRejected = -1;

class PythonTracker {
 public:
  PythonTracker(const std::string& type, const std::string& config, const std::string& deep_sort) {
    tracking::TrackerSettings settings;
    settings.type = take(tracking::tracker_type(type));
    check(tracking::read_tracker_config(config, deep_sort, settings));
    tracker_ = tracking::create_tracker(settings);
  }

  std::vector<int> update(py::object boxes, py::object scores, py::object label_ids,
                          const std::vector<std::string>& labels, py::object features) {
    const Tensor corners = view_array_as(boxes, ElementType::Float32, "boxes").tensor;
    const Tensor confidences = view_array_as(scores, ElementType::Float32, "scores").tensor;
    const Tensor ids = view_array_as(label_ids, ElementType::Int32, "label_ids").tensor;
    const auto count = static_cast<int64_t>(labels.size());
    if (corners.shape() != Shape{count, 4} || confidences.shape() != Shape{count} ||
        ids.shape() != Shape{count}) {
      raise(Status(StatusCode::ShapeMismatch,
                   fmt::format("{} objects have boxes {}, scores {} and label ids {}", count,
                               to_string(corners.desc()), to_string(confidences.desc()),
                               to_string(ids.desc()))));
    }
    std::vector<std::vector<float>> looks(labels.size());
    if (!features.is_none()) looks = features.cast<std::vector<std::vector<float>>>();
    if (looks.size() != labels.size()) {
      raise(Status(StatusCode::ShapeMismatch, "there is one feature vector per object"));
    }
    std::vector<tracking::Observation> observations;
    const std::span<const float> xy = corners.values<float>();
    for (size_t i = 0; i < labels.size(); ++i) {
      tracking::Observation& one = observations.emplace_back();
      one.box = {xy[4 * i], xy[4 * i + 1], xy[4 * i + 2], xy[4 * i + 3]};
      one.label = labels[i];
      one.confidence = confidences.values<float>()[i];
      one.feature = std::move(looks[i]);
      one.label_id = ids.values<int32_t>()[i];
    }
    tracking::TrackedFrame frame = tracker_->update(observations);
    for (size_t i : frame.rejected) frame.ids[i] = kRejected;
    return std::move(frame.ids);
  }
  void reset() { tracker_->reset(); }

 private:
  std::unique_ptr<tracking::Tracker> tracker_;
};

}  // namespace

void define_trackers(py::module_& module) {
  py::class_<PythonTracker>(module, "TrackerCore", "What hetero.Tracker is made of.")
      .def(py::init<const std::string&, const std::string&, const std::string&>(), py::arg("type"),
           py::arg("config"), py::arg("deep_sort"))
      .def("update", &PythonTracker::update, kInPython, py::arg("boxes"), py::arg("scores"),
           py::arg("label_ids"), py::arg("labels"), py::arg("features"))
      .def("reset", &PythonTracker::reset);
}

}  // namespace het::python
