#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "python/bindings/compiled_handle.h"
#include "python/bindings/requests.h"

namespace het::python {

namespace py = pybind11;

/// The class CompiledModel.
class PythonCompiledModel {
 public:
  explicit PythonCompiledModel(std::shared_ptr<CompiledHandle> handle)
      : handle_(std::move(handle)) {}

  const std::shared_ptr<CompiledHandle>& handle() const { return handle_; }
  /// The model, in the process that compiled it.
  CompiledModel& model() const;
  /// A request that nobody uses; give it back afterwards. With the GIL.
  std::shared_ptr<PythonRequest> borrow();
  void give_back(std::shared_ptr<PythonRequest> request) { idle_.push_back(std::move(request)); }

 private:
  std::shared_ptr<CompiledHandle> handle_;
  std::vector<std::shared_ptr<PythonRequest>> idle_;
};

void define_compiled_models(py::module_& module);

/// The variables of a stateful model as VariableState.
py::list state_variables(const std::shared_ptr<CompiledHandle>& model, const std::string& stream);

}  // namespace het::python
