#pragma once

#include <gst/gst.h>

#include <memory>

#include "frame_map.h"
#include "inference/base/status.h"

namespace het::gst {

/// Whether frames are DMA-BUFs in a layout that only their driver knows: drm-format with a modifier
/// other than linear (from GStreamer 1.24).
bool needs_import(const GstCaps* caps);

/// Makes VA surfaces of such frames, without a copy. One thread at a time.
class DmaBufImport {
 public:
  /// Fails with NotSupported without a display and for formats that Image lacks.
  static Result<std::unique_ptr<DmaBufImport>> create(const GstCaps* caps,
                                                      const SharedDisplay& display);
  virtual ~DmaBufImport() = default;
  DmaBufImport(const DmaBufImport&) = delete;
  DmaBufImport& operator=(const DmaBufImport&) = delete;

  /// The surface of a frame; it is made once and stays with the frame's memory. Fails with
  /// NotSupported where the driver does not take the layout.
  virtual Result<FrameSurface> surface(GstBuffer* buffer) = 0;

 protected:
  DmaBufImport() = default;
};

}  // namespace het::gst
