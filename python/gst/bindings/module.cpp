/// The extension hetero.gst._gst: metadata and pixels of GStreamer's buffers, for the package
/// hetero.gst and the plugin heteropython. It is made for interpreters beside each other, so it is
/// written on Python's C interface, which pybind11 before 3.0 does not allow.

#include <Python.h>

#include <new>

#include "frame_class.h"
#include "gi_objects.h"
#include "module_state.h"
#include "pixels.h"
#include "python/gst/frame_loan.h"
#include "region_class.h"
#include "tensor_class.h"

namespace het::python {
namespace {

extern PyModuleDef definition;

const FrameLoans kLoans = {HET_GST_VERSION, lend_frame, end_frame};

PyTypeObject* add_type(PyObject* module, PyType_Spec& spec) {
  PyObject* type = PyType_FromModuleAndSpec(module, &spec, nullptr);
  if (type != nullptr && PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) != 0) {
    Py_DECREF(type);
    return nullptr;
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

/// _set_classes(frame, region, tensor, rect): the classes whose objects are made from now on.
PyObject* set_classes(PyObject* module, PyObject* arguments) {
  ModuleState& state = state_of(module);
  PyObject* classes[4] = {};
  if (!PyArg_ParseTuple(arguments, "O!O!O!O!:_set_classes", &PyType_Type, &classes[0], &PyType_Type,
                        &classes[1], &PyType_Type, &classes[2], &PyType_Type, &classes[3]))
    return nullptr;
  PyTypeObject** const places[] = {&state.frame_class, &state.region_class, &state.tensor_class,
                                   &state.rect_class};
  PyTypeObject* const bases[] = {state.frame_type, state.region_type, state.tensor_type,
                                 &PyTuple_Type};
  for (size_t i = 0; i < 4; ++i) {
    auto* type = reinterpret_cast<PyTypeObject*>(classes[i]);
    if (!PyType_IsSubtype(type, bases[i])) {
      PyErr_Format(PyExc_TypeError, "%.100s does not derive from %.100s", type->tp_name,
                   bases[i]->tp_name);
      return nullptr;
    }
    PyTypeObject* old = *places[i];
    *places[i] = reinterpret_cast<PyTypeObject*>(Py_NewRef(classes[i]));
    Py_XDECREF(old);
  }
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"_set_classes", set_classes, METH_VARARGS, "For the package hetero.gst."},
    {"lend_buffer", lend_buffer, METH_O, "For hetero.gst.TRANSFORM_IP_BUFFER."},
    {"give_buffer_back", give_buffer_back, METH_O, "For hetero.gst.TRANSFORM_IP_BUFFER."},
    {"probe_buffer", probe_buffer, METH_O, "For hetero.gst.GST_PAD_PROBE_INFO_BUFFER."},
    {nullptr, nullptr, 0, nullptr}};

int execute(PyObject* module) {
  auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
  new (state) ModuleState();
  state->frames = std::make_shared<FrameTable>();
  state->frame_type = add_type(module, frame_spec);
  state->region_type = add_type(module, region_spec);
  state->tensor_type = add_type(module, tensor_spec);
  state->plane_type = add_type(module, plane_spec);
  if (state->frame_type == nullptr || state->region_type == nullptr ||
      state->tensor_type == nullptr || state->plane_type == nullptr)
    return -1;
  const auto keep = [](PyTypeObject* type) {
    Py_INCREF(type);
    return type;
  };
  state->frame_class = keep(state->frame_type);
  state->region_class = keep(state->region_type);
  state->tensor_class = keep(state->tensor_type);
  state->rect_class = keep(&PyTuple_Type);
  PyObject* loans = PyCapsule_New(const_cast<FrameLoans*>(&kLoans), kFrameLoans, nullptr);
  if (loans == nullptr || PyModule_AddObject(module, "_frame_loans", loans) != 0) {
    Py_XDECREF(loans);
    return -1;
  }
  return PyModule_AddStringConstant(module, "__version__", HET_GST_VERSION);
}

int traverse(PyObject* module, visitproc visit, void* arg) {
  const auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
  if (state == nullptr) return 0;
  for (PyTypeObject* type :
       {state->frame_type, state->region_type, state->tensor_type, state->plane_type,
        state->frame_class, state->region_class, state->tensor_class, state->rect_class}) {
    Py_VISIT(type);
  }
  return 0;
}

int clear(PyObject* module) {
  auto* state = static_cast<ModuleState*>(PyModule_GetState(module));
  if (state == nullptr) return 0;
  Py_CLEAR(state->frame_type);
  Py_CLEAR(state->region_type);
  Py_CLEAR(state->tensor_type);
  Py_CLEAR(state->plane_type);
  Py_CLEAR(state->frame_class);
  Py_CLEAR(state->region_class);
  Py_CLEAR(state->tensor_class);
  Py_CLEAR(state->rect_class);
  return 0;
}

void free_module(void* module) {
  clear(static_cast<PyObject*>(module));
  auto* state = static_cast<ModuleState*>(PyModule_GetState(static_cast<PyObject*>(module)));
  if (state == nullptr) return;
  gst_caps_replace(&state->last_caps, nullptr);
  state->~ModuleState();
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
    {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_gst",
                          "Metadata and pixels of GStreamer's buffers, for hetero.gst.",
                          sizeof(ModuleState),
                          functions,
                          module_slots,
                          traverse,
                          clear,
                          free_module};

}  // namespace

ModuleState& state_of(PyObject* module) {
  return *static_cast<ModuleState*>(PyModule_GetState(module));
}

ModuleState& state_of(PyTypeObject* type) {
  return state_of(PyType_GetModuleByDef(type, &definition));
}

PyObject* new_rect(const ModuleState& state, PyObject* x, PyObject* y, PyObject* w, PyObject* h) {
  PyObject* rect = state.rect_class->tp_alloc(state.rect_class, 4);
  PyObject* items[] = {x, y, w, h};
  bool complete = rect != nullptr;
  for (Py_ssize_t i = 0; i < 4; ++i) {
    complete = complete && items[i] != nullptr;
    if (rect != nullptr) {
      PyTuple_SET_ITEM(rect, i, items[i]);
    } else {
      Py_XDECREF(items[i]);
    }
  }
  if (complete) return rect;
  Py_XDECREF(rect);
  return nullptr;
}

}  // namespace het::python

PyMODINIT_FUNC PyInit__gst() {
  return PyModuleDef_Init(&het::python::definition);
}
