#pragma once

#include <Python.h>
#include <gst/video/video.h>

/// What the plugin heteropython takes from the extension `hetero.gst._gst`, once in each
/// interpreter. Both are built from the same sources; of another version only `version` may be
/// read.
namespace het::python {

/// All functions need the GIL of the interpreter in which the extension was imported.
struct FrameLoans {
  const char* version;  ///< of gst-hetero; the first member in every version
  /// A new VideoFrame on a buffer that the caller owns alone (gst_buffer_is_writable()), without a
  /// reference to it: Python may change its metadata and its pixels. `caps` is the buffer's;
  /// `info` is null for what is no raw video. Null with an exception set.
  PyObject* (*lend)(PyObject* module, GstBuffer* buffer, GstCaps* caps, const GstVideoInfo* info);
  /// Gives the frame back, and takes the caller's reference to it over. What Python has kept of it
  /// (the frame, a region, a tensor, pixels) stays valid: the buffer gets a reference for it then.
  /// False with an exception where pixels that may be written were kept.
  bool (*end)(PyObject* frame);
};

/// The name of the capsule, which is the attribute `_frame_loans` of the module.
inline constexpr char kFrameLoans[] = "hetero.gst._gst._frame_loans";

}  // namespace het::python
