#pragma once

#include <Python.h>

#include <memory>

#include "frame_handle.h"
#include "module_state.h"

namespace het::python {

/// RegionOfInterest of Python. `content` is what was read when regions() was called.
struct RegionObject {
  PyObject ob_base;
  std::shared_ptr<FrameHandle> frame;
  gst::RegionMeta meta;
  gst::RegionContent content;
  size_t index;  ///< among all regions of the frame
  bool is_removed;
};

extern PyType_Spec region_spec;

/// A new object for a region of a frame.
PyObject* new_region(const ModuleState& state, const std::shared_ptr<FrameHandle>& frame,
                     const gst::RegionMeta& meta, size_t index);
/// False with an exception where it was taken off its frame.
bool check_there(const RegionObject& region);
/// Tensors of a region are its params but the object's id, and what other elements attached.
/// Appends them to a list; false with an exception.
bool append_tensors(const ModuleState& state, RegionObject& region, PyObject* list);
/// Takes the params over. A new Tensor for them.
PyObject* add_params(const ModuleState& state, RegionObject& region, GstStructure* params);

inline RegionObject& as_region(PyObject* object) {
  return *reinterpret_cast<RegionObject*>(object);
}

}  // namespace het::python
