#pragma once

#include <Python.h>

#include <memory>

#include "frame_handle.h"
#include "module_state.h"

namespace het::python {

extern PyType_Spec plane_spec;

/// A tuple of planes, each an object with the buffer protocol: uint8 or uint16 [rows, columns,
/// values of a pixel], strides as the frame has them, only its visible part. The frame stays mapped
/// as long as one of them lives. The format must be known. Null with an exception where the memory
/// cannot be mapped, or may not be written.
PyObject* map_pixels(const ModuleState& state, const std::shared_ptr<FrameHandle>& frame,
                     bool writable);

}  // namespace het::python
