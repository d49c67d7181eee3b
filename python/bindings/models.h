#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "python/bindings/graph.h"

namespace het::python {

namespace py = pybind11;

/// The class Model. What removes nodes makes a new graph and leaves the old one to those who hold
/// it.
class PythonModel {
 public:
  explicit PythonModel(std::unique_ptr<Model> model)
      : graph_(std::make_shared<Graph>(std::move(model))) {}

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  Model& model() const { return graph_->model(); }
  void replace(std::unique_ptr<Model> model) { graph_ = std::make_shared<Graph>(std::move(model)); }

 private:
  std::shared_ptr<Graph> graph_;
};

void define_nodes(py::module_& module);
py::list graph_nodes(const std::shared_ptr<Graph>& graph);
void define_models(py::module_& module);
/// What hetero.preprocess does to a model.
void define_model_steps(py::module_& module);

}  // namespace het::python
