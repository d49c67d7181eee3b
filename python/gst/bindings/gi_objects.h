#pragma once

#include <Python.h>
#include <gst/video/video.h>

/// Objects of PyGObject and what they stand for. PyGObject works in a process's first interpreter
/// only; functions fail with its ImportError elsewhere.
namespace het::python {

/// The buffer of a Gst.Buffer; null with a TypeError for other objects.
GstBuffer* gst_buffer_of(PyObject* object);
/// The caps of a Gst.Caps; null, without an exception, for other objects.
GstCaps* gst_caps_of(PyObject* object);
/// Of a GstVideo.VideoInfo; null, without an exception, for other objects.
const GstVideoInfo* gst_video_info_of(PyObject* object);
/// Of a Gst.Structure; null, without an exception, for other objects.
const GstStructure* gst_structure_of(PyObject* object);

/// A Gst.Buffer, with a reference of its own or without one.
PyObject* new_gst_buffer(GstBuffer* buffer, bool with_reference);
/// Gives a Gst.Buffer that was made without a reference one.
void give_reference(PyObject* buffer);
PyObject* new_gst_caps(GstCaps* caps);
PyObject* new_gst_video_info(const GstVideoInfo& info);

/// lend_buffer(buffer): takes the reference of a Gst.Buffer away, so that the buffer is writable
/// while somebody else keeps it; False where there was nothing to do. give_buffer_back(buffer):
/// undoes it.
PyObject* lend_buffer(PyObject* module, PyObject* buffer);
PyObject* give_buffer_back(PyObject* module, PyObject* buffer);
/// probe_buffer(info): the writable buffer of a Gst.PadProbeInfo as a Gst.Buffer without a
/// reference; give_buffer_back() has to follow.
PyObject* probe_buffer(PyObject* module, PyObject* info);

/// A value of any type as PyGObject has it.
PyObject* new_gi_value(const GValue* value);

}  // namespace het::python
