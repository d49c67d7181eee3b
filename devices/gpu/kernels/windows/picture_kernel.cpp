#include "devices/gpu/kernels/windows/picture_kernel.h"

#include <algorithm>

#include "devices/gpu/memory/device_copy.h"
#include "devices/gpu/plan/launches.h"
#include "inference/preprocess/axis_sample.h"

namespace het::gpu {
namespace {

using preprocess_internal::axis_sample;
using preprocess_internal::AxisSample;
using preprocess_internal::rgb_placement;
using preprocess_internal::RgbPlacement;

/// As in kernels/windows/preprocess.cl.
enum SourceKind : cl_int {
  kPacked = 0,
  kPlanar = 1,
  kSemiPlanarYuv = 2,
  kPlanarYuv = 3,
  kSemiPlanarWords = 4,
  kPackedYuv = 5
};

/// ROIs of detected objects have all sizes: then the tables are made anew now and then.
constexpr size_t kMostTables = 64;

SourceKind kind_of(PixelFormat format) {
  if (format == PixelFormat::NV12) return kSemiPlanarYuv;
  if (format == PixelFormat::I420) return kPlanarYuv;
  if (format == PixelFormat::P010) return kSemiPlanarWords;
  if (preprocess_internal::is_packed_yuv(format)) return kPackedYuv;
  return rgb_placement(format).planar ? kPlanar : kPacked;
}

/// Where the kernel finds red, green and blue, or Y, U and V of packed YUV.
std::array<int, 3> positions_of(PixelFormat format) {
  if (format == PixelFormat::YUY2) return {0, 1, 3};
  if (format == PixelFormat::UYVY) return {1, 0, 2};
  return rgb_placement(format).position;
}

/// Sets arguments one after the other; keeps the first error.
class Arguments {
 public:
  explicit Arguments(cl_kernel kernel) : kernel_(kernel) {}
  template <class T>
  void add(const T& value) {
    const cl_int code = clSetKernelArg(kernel_, index_++, sizeof value, &value);
    if (code_ == CL_SUCCESS) code_ = code;
  }
  cl_int code() const { return code_; }

 private:
  cl_kernel kernel_;
  cl_uint index_ = 0;
  cl_int code_ = CL_SUCCESS;
};

cl_int4 four(int64_t a, int64_t b, int64_t c, int64_t d) {
  return cl_int4{{as_int(a), as_int(b), as_int(c), as_int(d)}};
}

cl_float4 four(const std::array<float, 3>& values) {
  return cl_float4{{values[0], values[1], values[2], 0.0f}};
}

}  // namespace

bool PictureKernel::can_fill(const TensorDesc& input) {
  return input.type == ElementType::Float32 || input.type == ElementType::Float16 ||
         input.type == ElementType::UInt8;
}

Result<PictureKernel::Variant> PictureKernel::make_variant(Context& context, const Port& port,
                                                           bool reads_images,
                                                           const std::string& folder) {
  ProgramText text;
  text.file = "preprocess";
  text.options = fmt::format("-DTO={}", c_type(port.desc.type));
  if (port.desc.type == ElementType::Float16) text.options += " -DTO_HALF";
  if (port.desc.type == ElementType::UInt8) text.options += " -DTO_BYTES";
  if (reads_images) text.options += " -DIMAGES";
  Variant made;
  HET_ASSIGN(made.program, context.programs().get(text, folder));
  cl_int code = CL_SUCCESS;
  made.kernel = KernelHandle(clCreateKernel(made.program->handle.get(), "preprocess", &code));
  HET_TRY(cl_status(code, "make kernel 'preprocess'"));
  return made;
}

Result<std::unique_ptr<PictureKernel>> PictureKernel::create(std::shared_ptr<Context> context,
                                                             const Port& port,
                                                             const std::string& folder) {
  std::unique_ptr<PictureKernel> made(new PictureKernel(context, *port.preprocess));
  HET_ASSIGN(made->of_bytes_, make_variant(*context, port, false, folder));
  if (context->surfaces().takes(MemoryKind::VaSurface)) {
    HET_ASSIGN(made->of_images_, make_variant(*context, port, true, folder));
  }
  return made;
}

KernelUse PictureKernel::use() const {
  return {of_bytes_.program, fmt::format("preprocess {}x1x1", context_->hardware().group_size())};
}

Result<Memory> PictureKernel::plane(cl_command_queue queue, const BufferPtr& buffer,
                                    const uint8_t* address, size_t bytes, Memory& staging) {
  if (context_->hardware().unified_memory) {
    return context_->share(const_cast<uint8_t*>(address), bytes);
  }
  if (const NumberedBuffer* const numbered = numbered_buffer(buffer)) {
    if (const auto copy = DeviceCopy::of(*context_, *numbered)) {
      return copy->send(*context_, queue, {numbered->content().number(), address, address, bytes});
    }
  }
  size_t has = 0;
  if (staging != nullptr) {
    clGetMemObjectInfo(staging->get(), CL_MEM_SIZE, sizeof has, &has, nullptr);
  }
  if (has < bytes) {
    HET_ASSIGN(staging, context_->allocate(bytes, CL_MEM_READ_ONLY));
  }
  HET_TRY(cl_status(
      clEnqueueWriteBuffer(queue, staging->get(), CL_FALSE, 0, bytes, address, 0, nullptr, nullptr),
      fmt::format("send a plane of {} bytes to the device", bytes)));
  return staging;
}

Result<cl_mem> PictureKernel::samples(const PictureGeometry& geometry) {
  const std::array<int, 4> sizes{geometry.source.width, geometry.source.height,
                                 geometry.destination.width, geometry.destination.height};
  const auto known = samples_.find(sizes);
  if (known != samples_.end()) return known->second->get();
  // Enqueued commands keep the memory of a table that leaves.
  if (samples_.size() >= kMostTables) samples_.clear();
  std::vector<cl_int> table;
  const auto add = [&](int target, int source) {
    for (int i = 0; i < target; ++i) {
      const AxisSample sample = axis_sample(i, target, source);
      table.insert(table.end(), {sample.first, sample.second, sample.weight});
    }
  };
  add(sizes[2], sizes[0]);
  add(sizes[3], sizes[1]);
  HET_ASSIGN(Memory memory, context_->upload(table.data(), table.size() * sizeof(cl_int)));
  return (samples_[sizes] = std::move(memory))->get();
}

/// Host memory becomes the device's. Only the rows of the ROI travel; from an even one on, where
/// chroma begins.
Status PictureKernel::send_planes(cl_command_queue queue,
                                  const preprocess_internal::Conversion& conversion,
                                  Conversion& running, Staging& staging) {
  const Image& image = running.region.image;
  const Rect& source = conversion.geometry.source;
  running.first_row = source.y / 2 * 2;
  for (size_t p = 0; p < static_cast<size_t>(image.plane_count); ++p) {
    const preprocess_internal::SourcePlane& rows = conversion.planes[p];
    const int shrink = preprocess_internal::is_yuv(image.format) && p > 0 ? 2 : 1;
    const int begin = running.first_row / shrink;
    const int last = (source.y + source.height - 1) / shrink;
    const int64_t bytes = (last - begin) * rows.stride_bytes + rows.row_bytes;
    HET_ASSIGN(running.planes[p], plane(queue, image.planes[p].buffer, rows.row(begin),
                                        static_cast<size_t>(bytes), staging[p]));
  }
  return {};
}

Status PictureKernel::enqueue(cl_command_queue queue, ImageRegion region, const Tensor& input,
                              int64_t batch_index, cl_mem memory, cl_event* event) {
  running_.push_back(std::make_unique<Conversion>());
  Conversion& running = *running_.back();
  if (staging_.size() < running_.size()) staging_.emplace_back();
  running.region = std::move(region);
  const Image& image = running.region.image;
  HET_ASSIGN(
      preprocess_internal::Conversion conversion,
      preprocess_internal::plan_conversion(image, running.region.roi, desc_, input, batch_index));
  running.imported = context_->surfaces().import(image);
  if (running.imported) {
    running.planes = running.imported->planes;
    for (size_t p = 0; p < running.imported->plane_count; ++p) {
      running.offsets[p] = image.planes[p].offset;
    }
    HET_TRY(context_->surfaces().acquire(queue, *running.imported));
  } else {
    HET_TRY(preprocess_internal::open_planes(conversion, image, running.mapped));
    HET_TRY(send_planes(queue, conversion, running, staging_[running_.size() - 1]));
  }
  const Status launched = launch(queue, conversion, running, memory, event);
  if (!running.imported) return launched;
  const Status released = context_->surfaces().release(queue, *running.imported);
  return launched.ok() ? released : launched;
}

Status PictureKernel::launch(cl_command_queue queue,
                             const preprocess_internal::Conversion& conversion,
                             const Conversion& running, cl_mem memory, cl_event* event) {
  const Image& image = running.region.image;
  HET_ASSIGN(const cl_mem table, samples(conversion.geometry));
  const RgbPlacement placement = rgb_placement(image.format);
  const Rect& destination = conversion.geometry.destination;
  const preprocess_internal::TargetElements& target = conversion.target;
  const Rect& source = conversion.geometry.source;
  const auto item = static_cast<int64_t>(byte_width(target.type));
  const bool reads_images = running.imported && running.imported->are_images;
  const cl_kernel kernel = (reads_images ? of_images_ : of_bytes_).kernel.get();
  Arguments arguments(kernel);
  // Planes that the format does not have are never read.
  for (size_t p = 0; p < 3; ++p) {
    const auto last = static_cast<size_t>(image.plane_count) - 1;
    arguments.add(running.planes[std::min(p, last)]->get());
  }
  arguments.add(four(conversion.planes[0].stride_bytes, conversion.planes[1].stride_bytes,
                     conversion.planes[2].stride_bytes, placement.pixel_bytes));
  arguments.add(
      cl_uint4{{static_cast<cl_uint>(running.offsets[0]), static_cast<cl_uint>(running.offsets[1]),
                static_cast<cl_uint>(running.offsets[2]), 0}});
  const std::array<int, 3> positions = positions_of(image.format);
  arguments.add(four(positions[0], positions[1], positions[2], kind_of(image.format)));
  const preprocess_internal::YuvToRgb& k = conversion.yuv;
  arguments.add(cl_int8{
      {k.luma_scale, k.luma_bias, k.v_to_red, k.u_to_green, k.v_to_green, k.u_to_blue, 0, 0}});
  arguments.add(cl_int{conversion.gray});
  arguments.add(table);
  arguments.add(four(source.x, source.y - running.first_row, source.width, source.height));
  arguments.add(four(destination.x, destination.y, destination.width, destination.height));
  arguments.add(four(target.width, target.height, target.channels, target.offset_bytes / item));
  arguments.add(four(target.channel_stride_bytes / item, target.row_stride_bytes / item,
                     target.pixel_stride_bytes / item, 0));
  const auto& colors = conversion.color_of_channel;
  arguments.add(conversion.gray ? four(0, 0, 0, 0) : four(colors[0], colors[1], colors[2], 0));
  arguments.add(four(conversion.gain));
  arguments.add(four(conversion.bias));
  arguments.add(four(desc_.pad_value));
  arguments.add(memory);
  HET_TRY(cl_status(arguments.code(), "set the arguments of kernel 'preprocess'"));
  const size_t group = context_->hardware().group_size();
  const size_t local[2] = {group, 1};
  const size_t global[2] = {(static_cast<size_t>(target.width) + group - 1) / group * group,
                            static_cast<size_t>(target.height)};
  return cl_status(
      clEnqueueNDRangeKernel(queue, kernel, 2, nullptr, global, local, 0, nullptr, event),
      "convert a picture");
}

void PictureKernel::release() {
  running_.clear();
}

}  // namespace het::gpu
