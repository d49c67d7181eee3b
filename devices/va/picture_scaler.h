#pragma once

#include <va/va.h>

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "devices/va/surface_image.h"
#include "inference/base/status.h"
#include "inference/tensors/image.h"
#include "inference/tensors/surface_access.h"

namespace het::va {

/// RGBP surfaces of the scaler's own, used again and again. Thread-safe.
class SurfacePool : public std::enable_shared_from_this<SurfacePool> {
 public:
  explicit SurfacePool(std::shared_ptr<Display> display) : display_(std::move(display)) {}
  ~SurfacePool();
  SurfacePool(const SurfacePool&) = delete;
  SurfacePool& operator=(const SurfacePool&) = delete;

  Result<VASurfaceID> take(int width, int height);
  void give_back(int width, int height, VASurfaceID surface);

 private:
  std::shared_ptr<Display> display_;
  std::mutex mutex_;  ///< protects idle_; taken alone
  std::map<std::pair<int, int>, std::vector<VASurfaceID>> idle_;
};

/// The video processor of a display: crops, scales and converts surfaces to RGBP. Thread-safe; the
/// calls of one scaler go to the driver one after the other, different scalers' do not wait for
/// each other.
class PictureScaler {
 public:
  /// Fails with NotSupported where the driver has no video processor or it writes no RGBP.
  static Result<std::unique_ptr<PictureScaler>> create(std::shared_ptr<SurfaceImages> images);
  ~PictureScaler();
  PictureScaler(const PictureScaler&) = delete;
  PictureScaler& operator=(const PictureScaler&) = delete;

  /// As SurfaceAccess::scale().
  Result<Image> scale(const Image& image, const Rect& part, int width, int height,
                      ScaleQuality quality);

 private:
  PictureScaler(std::shared_ptr<SurfaceImages> images, VAConfigID config, VAContextID context);
  Status run(const Image& image, const Rect& part, VASurfaceID target, int width, int height,
             ScaleQuality quality);

  std::shared_ptr<SurfaceImages> images_;
  std::shared_ptr<SurfacePool> pool_;
  VAConfigID config_;
  std::mutex mutex_;  ///< protects the context, which is not thread-safe; taken alone
  VAContextID context_;
};

}  // namespace het::va
