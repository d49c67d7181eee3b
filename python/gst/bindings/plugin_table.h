#pragma once

#include <Python.h>

#include "gst/bindings/frame_access.h"

namespace het::python {

/// Loads the plugin hetero, once in a process, as types of metas belong to it. False with an
/// ImportError where it is missing or of another version, with a RuntimeError before Gst.init().
bool load_frame_access();

/// Its table; only after load_frame_access().
const gst::FrameAccess& frame_access();

}  // namespace het::python
