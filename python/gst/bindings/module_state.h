#pragma once

#include <Python.h>

#include <memory>

#include "frame_handle.h"

namespace het::python {

/// What the module has in one interpreter.
struct ModuleState {
  PyTypeObject* frame_type = nullptr;
  PyTypeObject* region_type = nullptr;
  PyTypeObject* tensor_type = nullptr;
  PyTypeObject* plane_type = nullptr;
  /// Classes of the package hetero.gst that derive from these, once it is imported.
  PyTypeObject* frame_class = nullptr;
  PyTypeObject* region_class = nullptr;
  PyTypeObject* tensor_class = nullptr;
  PyTypeObject* rect_class = nullptr;  ///< a named tuple x, y, w, h
  std::shared_ptr<FrameTable> frames;
  /// The caps that a VideoFrame was told last (owned), and what they say.
  GstCaps* last_caps = nullptr;
  GstVideoInfo last_info = {};
  bool is_last_video = false;
};

ModuleState& state_of(PyObject* module);
/// Of the module that a class, or one of those that it derives from, belongs to.
ModuleState& state_of(PyTypeObject* type);

/// Rect(x, y, w, h), whose items are taken over; null where one of them is null.
PyObject* new_rect(const ModuleState& state, PyObject* x, PyObject* y, PyObject* w, PyObject* h);

}  // namespace het::python
