#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "devices/gpu/memory/context.h"
#include "inference/devices/device.h"
#include "inference/preprocess/conversion.h"
#include "inference/preprocess/mapped_picture.h"

namespace het::gpu {

/// preprocess() on the device, for one input of a request: the same levels, normalised in float.
/// Surfaces that the context imports are read where they are; so are pictures that the host reaches
/// when memory is unified, else they are sent, planes whose content is numbered once for all who
/// read them. One thread at a time.
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
  /// What runs for pictures that the host reaches, for the cache of programs.
  KernelUse use() const;
  /// Lets go of the pictures; to be called when the enqueued commands have ended.
  void release();

 private:
  /// One picture whose conversion is enqueued.
  struct Conversion {
    ImageRegion region;
    preprocess_internal::MappedPicture mapped;
    std::optional<ImportedPicture> imported;
    std::array<Memory, 3> planes;
    std::array<size_t, 3> offsets{};  ///< bytes at which the planes begin in their memory
    int first_row = 0;                ///< of the picture, at the planes' beginning
  };
  struct Variant {
    ProgramPtr program;
    KernelHandle kernel;
  };
  /// Memory that pictures are sent to, kept for the next one.
  using Staging = std::array<Memory, 3>;

  PictureKernel(std::shared_ptr<Context> context, PreprocessDesc desc)
      : context_(std::move(context)), desc_(desc) {}
  static Result<Variant> make_variant(Context& context, const Port& port, bool reads_images,
                                      const std::string& folder);
  Result<Memory> plane(cl_command_queue queue, const BufferPtr& buffer, const uint8_t* address,
                       size_t bytes, Memory& staging);
  Status send_planes(cl_command_queue queue, const preprocess_internal::Conversion& conversion,
                     Conversion& running, Staging& staging);
  Status launch(cl_command_queue queue, const preprocess_internal::Conversion& conversion,
                const Conversion& running, cl_mem memory, cl_event* event);
  Result<cl_mem> samples(const PictureGeometry& geometry);

  std::shared_ptr<Context> context_;
  PreprocessDesc desc_;
  Variant of_bytes_;
  Variant of_images_;  ///< where the context imports VA surfaces
  std::vector<std::unique_ptr<Conversion>> running_;
  std::vector<Staging> staging_;  ///< per conversion of an execution
  /// Tables of source and destination sizes; few, as a stream's pictures have one size.
  std::map<std::array<int, 4>, Memory> samples_;
};

}  // namespace het::gpu
