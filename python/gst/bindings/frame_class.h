#pragma once

#include <Python.h>
#include <gst/video/video.h>

namespace het::python {

extern PyType_Spec frame_spec;

/// As frame_loan.h says.
PyObject* lend_frame(PyObject* module, GstBuffer* buffer, GstCaps* caps, const GstVideoInfo* info);
bool end_frame(PyObject* frame);

}  // namespace het::python
