/// What hetero.preprocess does to a model.

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inference/passes/convert_ports.h"
#include "inference/passes/fold_preprocess.h"
#include "inference/passes/resize_input.h"
#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"
#include "python/bindings/models.h"
#include "python/bindings/ports.h"

namespace het::python {
namespace {

/// Changes a copy of a model; each step goes between the input and what was put there before.
class Preparation {
 public:
  explicit Preparation(const PythonModel& model) : model_(model.model().clone()) {}

  void set_input_type(size_t input, py::object type) {
    check(het::set_input_type(graph(), input, to_element_type(type)));
  }
  void set_input_layout(size_t input, const std::string& layout) {
    check(het::set_input_layout(graph(), input, layout));
  }
  void normalise(size_t input, const std::vector<float>& mean, const std::vector<float>& scale) {
    check(add_normalisation(graph(), input, mean, scale));
  }
  void reverse(size_t input) { check(reverse_channels(graph(), input)); }
  void resize(size_t input, int64_t height, int64_t width, const std::string& mode) {
    check(resize_input(graph(), input, height, width, mode));
  }
  void set_output_type(size_t output, py::object type) {
    check(het::set_output_type(graph(), output, to_element_type(type)));
  }
  void build(PythonModel& into) {
    fold_preprocess(graph());
    check(graph().sort());
    into.replace(std::move(model_));
  }

 private:
  Model& graph() {
    if (!model_) raise(Status(StatusCode::InvalidArgument, "the model has been built already"));
    return *model_;
  }

  std::unique_ptr<Model> model_;
};

}  // namespace

void define_model_steps(py::module_& module) {
  py::class_<Preparation>(module, "ModelSteps", "What hetero.preprocess.PrePostProcessor calls.")
      .def(py::init<const PythonModel&>(), py::arg("model"))
      .def("set_input_type", &Preparation::set_input_type)
      .def("set_input_layout", &Preparation::set_input_layout)
      .def("normalise", &Preparation::normalise)
      .def("reverse", &Preparation::reverse)
      .def("resize", &Preparation::resize)
      .def("set_output_type", &Preparation::set_output_type)
      .def("build", &Preparation::build);
}

}  // namespace het::python
