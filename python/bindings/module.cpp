/// The extension hetero._hetero.

#include <pybind11/pybind11.h>

#include <string>

#include "inference/base/version.h"
#include "python/bindings/classes.h"
#include "python/bindings/compiled_models.h"
#include "python/bindings/element_types.h"
#include "python/bindings/interpreter_end.h"
#include "python/bindings/models.h"
#include "python/bindings/ports.h"
#include "python/bindings/process_bound.h"
#include "python/bindings/requests.h"
#include "python/bindings/tensors.h"
#include "python/bindings/vision_results.h"

PYBIND11_MODULE(_hetero, module) {
  using namespace het::python;
  module.doc() = "The compiled part of hetero; import hetero instead.";
  note_forks();
  watch_interpreter_end();
  module.attr("__version__") = std::string(het::version());
  // Classes come before those whose signatures name them.
  define_type(module);
  define_tensor(module);
  define_ports(module);
  define_nodes(module);
  define_models(module);
  define_model_steps(module);
  define_requests(module);
  define_compiled_models(module);
  define_queues(module);
  define_cores(module);
  define_vision_results(module);
  define_vision(module);
  define_trackers(module);
}
