#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "devices/gpu/context.h"
#include "inference/device.h"
#include "inference/preprocess/conversion.h"
#include "inference/preprocess/mapped_picture.h"

namespace het::gpu {

/// preprocess() on the device, for one input of a request: the same levels, normalised in float.
/// Pictures in host memory are read where they are when memory is unified, else sent. One thread
/// at a time.
class PictureKernel {
 public:
  /// True for inputs whose elements the kernel writes: float32, float16 and uint8.
  static bool can_fill(const TensorDesc& input);
  /// Builds the kernel for an input with this description. `folder` as for programs.
  static Result<std::unique_ptr<PictureKernel>> create(std::shared_ptr<Context> context,
                                                       const Port& port, const std::string& folder);

  /// Enqueues the conversion of `region` into batch item `batch_index` of `memory`, which has the
  /// description of `input` (its bytes are not touched). The picture is used until release();
  /// `event` may be null.
  Status enqueue(cl_command_queue queue, ImageRegion region, const Tensor& input,
                 int64_t batch_index, cl_mem memory, cl_event* event);
  /// Lets go of the pictures; to be called when the enqueued commands have ended.
  void release();

 private:
  /// One picture whose conversion is enqueued.
  struct Conversion {
    ImageRegion region;
    preprocess_internal::MappedPicture mapped;
    std::array<Memory, 3> planes;
  };
  /// Memory that pictures are sent to, kept for the next one.
  using Staging = std::array<Memory, 3>;

  PictureKernel(std::shared_ptr<Context> context, PreprocessDesc desc)
      : context_(std::move(context)), desc_(desc) {}
  Result<Memory> plane(cl_command_queue queue, const uint8_t* address, size_t bytes,
                       Memory& staging);
  Result<cl_mem> samples(const PictureGeometry& geometry);

  std::shared_ptr<Context> context_;
  PreprocessDesc desc_;
  ProgramPtr program_;
  KernelHandle kernel_;
  std::vector<std::unique_ptr<Conversion>> running_;
  std::vector<Staging> staging_;  ///< per conversion of an execution
  /// Tables of source and destination sizes; few, as a stream's pictures have one size.
  std::map<std::array<int, 4>, Memory> samples_;
};

}  // namespace het::gpu
