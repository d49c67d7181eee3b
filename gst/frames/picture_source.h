#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "frame_map.h"
#include "frame_map_import.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/tensors/surface_access.h"
#include "inference/vision_model.h"

namespace het::gst {

/// Values of the property pre-process-backend; DL Streamer's names.
enum PreProcessBackend {
  kPreProcessAuto,
  kPreProcessCpu,
  kPreProcessIe,
  kPreProcessOpenCv,
  kPreProcessOpenCl,
  kPreProcessVa,
  kPreProcessVaSurfaceSharing,
  kPreProcessVaapi,
  kPreProcessVaapiSurfaceSharing,
};

/// Values of the property scale-method.
enum ScaleMethod { kScaleDefault, kScaleFast };

GType pre_process_type();
/// What a value stands for: itself, or the one it is another name of.
PreProcessBackend without_alias(int backend);
const char* backend_nick(PreProcessBackend backend);

/// A frame as the model may see it.
struct FramePicture {
  Image image;
  Rect visible;  ///< the part that counts, in pixels of `image`; regions are relative to it
};

/// From frames to what requests are given: maps them, or has the video processor scale them, as
/// pre-process-backend says. From start to stop of an element; open() and region() belong to the
/// streaming thread, the counters are read by any.
class PictureSource {
 public:
  /// Fails with NotSupported where the model's devices lack what `backend` needs.
  static Result<std::unique_ptr<PictureSource>> create(int backend, const VisionModel& model,
                                                       int scale_method);

  /// Before the first frame of these caps; `element` is asked for a display where one is needed.
  /// Fails with NotSupported where there is none.
  Status take_caps(const GstCaps* caps, GstElement* element);
  /// The frame is kept until the last copy of the picture is gone.
  Result<FramePicture> open(GstBuffer* buffer, const GstVideoInfo& info);
  /// What a request is given for a region (in pixels of the visible part).
  Result<ImageRegion> region(const FramePicture& picture, const Rect& rect);

  /// The element copied a whole frame.
  void count_copy() { ++copied_frames_; }
  /// Adds the backend in use ("pre-process-backend") and the counters to the element's statistics.
  void add_statistics(GstStructure* structure) const;

 private:
  PictureSource(PreProcessBackend wanted, const VisionModel& model, int scale_method);
  Status choose(const FrameSurface* surface, const GstVideoInfo& info);
  Result<std::shared_ptr<SurfaceAccess>> access_of(const FrameSurface& surface);
  void note(PreProcessBackend chosen, const std::string& why);

  const PreProcessBackend wanted_;
  const VisionModel& model_;
  const ScaleQuality quality_;
  const bool device_converts_;  ///< a kernel of the model's GPU turns pictures into tensors
  bool is_chosen_ = false;
  bool of_surfaces_ = false;  ///< for what memory it was chosen
  std::atomic<PreProcessBackend> chosen_ = kPreProcessAuto;
  std::unique_ptr<DmaBufImport> import_;  ///< where frames have to be imported
  void* va_display_ = nullptr;            ///< of access_
  std::atomic<uint64_t> frames_ = 0;
  std::atomic<uint64_t> copied_frames_ = 0;
  /// Replaced where frames come from another display; readers take a copy of the pointer.
  std::atomic<std::shared_ptr<SurfaceAccess>> access_;
};

}  // namespace het::gst
