#include "tests/devices/gpu/gpu_child_surfaces.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <random>

#include "devices/gpu/opencl/opencl.h"
#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "inference/requests/infer_request.h"
#include "tests/opencl_layer/surface_table.h"

namespace het {
namespace {

constexpr int kWidth = 46;
constexpr int kHeight = 34;
constexpr int kStrideAlignment = 16;
constexpr cl_context_properties kContextVaDisplay = 0x4097;

/// Memory that the host reaches by mapping only, with the content of a host picture.
class ContentBuffer final : public Buffer {
 public:
  ContentBuffer(MemoryKind kind, BufferPtr content, MemoryHandle handle, int& maps)
      : Buffer(kind, content->size_bytes(), nullptr, std::move(handle)),
        content_(std::move(content)),
        maps_(maps) {}
  Result<std::byte*> map(MapAccess) override {
    ++maps_;
    return content_->host();
  }
  void unmap() override {}

 private:
  BufferPtr content_;
  int& maps_;
};

/// The host picture `image` as surface `id` of the tests' display.
HetTestSurface surface_of(const Image& image, unsigned id) {
  HetTestSurface surface{};
  surface.id = id;
  surface.plane_count = static_cast<unsigned>(image.plane_count);
  for (int p = 0; p < image.plane_count; ++p) {
    const auto i = static_cast<size_t>(p);
    const bool has_pairs = image.format == PixelFormat::NV12 && p == 1;
    const auto components =
        has_pairs ? 2u : static_cast<unsigned>(plane_row_bytes(image.format, p, 1));
    surface.planes[i] = {
        static_cast<unsigned>(plane_row_bytes(image.format, p, image.width)) / components,
        static_cast<unsigned>(plane_rows(image.format, p, image.height)),
        components,
        image.format == PixelFormat::BGRx || image.format == PixelFormat::BGRA,
        reinterpret_cast<const unsigned char*>(image.plane(p)),
        static_cast<size_t>(image.planes[i].stride_bytes)};
  }
  return surface;
}

void fill_with_noise(const Image& image, unsigned seed) {
  std::mt19937 generator(seed);
  std::byte* const bytes = image.planes[0].buffer->host();
  for (size_t i = 0; i < image.planes[0].buffer->size_bytes(); ++i) {
    bytes[i] = static_cast<std::byte>(generator());
  }
}

/// An application's context of the first device of all, made for the display.
Result<cl_context> application_context(HetTestDisplay& display) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int code = clGetPlatformIDs(1, &platform, nullptr);
  if (code == CL_SUCCESS) code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  if (code != CL_SUCCESS) return error(StatusCode::NotFound, "no OpenCL device");
  const cl_context_properties properties[] = {
      kContextVaDisplay, reinterpret_cast<cl_context_properties>(&display), CL_CONTEXT_PLATFORM,
      reinterpret_cast<cl_context_properties>(platform), 0};
  const cl_context made = clCreateContext(properties, 1, &device, nullptr, nullptr, &code);
  if (made == nullptr) return error(StatusCode::Internal, "no context: {}", code);
  return made;
}

std::string device_of(const std::string& how) {
  return how.starts_with("hetero") ? "HETERO:GPU,CPU" : "GPU";
}

/// Where the model runs: in a context for the display, or just on the GPU.
Result<std::shared_ptr<CompiledModel>> compile(const Model& model, const std::string& kind,
                                               const std::string& how, HetTestDisplay& display) {
  const std::shared_ptr<Core> core = het::core();
  if (kind != "va" || how == "no-context") return core->compile_model(model, "GPU", {});
  ContextParams params{{"VADisplay", &display}};
  cl_context own = nullptr;
  if (how == "application") {
    HET_ASSIGN(own, application_context(display));
    params = {{"cl_context", own}};
  }
  Result<std::shared_ptr<DeviceContext>> context = core->create_context(device_of(how), params);
  if (own != nullptr) clReleaseContext(own);
  if (!context) return Failure(context.error());
  return core->compile_model(model, device_of(how), {}, *context);
}

Status run(const std::string& kind, PixelFormat format, const std::string& how, int& maps) {
  // A DMA-BUF is shared memory that two addresses lead to.
  HET_ASSIGN(Image picture, make_host_image(format, kWidth, kHeight, nullptr, kStrideAlignment));
  const size_t bytes = picture.planes[0].buffer->size_bytes();
  const int fd = memfd_create("picture", 0);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    return error(StatusCode::Internal, "no memfd");
  }
  void* const shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  HET_ASSIGN(picture, make_host_image(format, kWidth, kHeight, wrap_host_memory(shared, bytes),
                                      kStrideAlignment));

  HetTestDisplay display{};
  display.magic = HET_TEST_DISPLAY_MAGIC;
  display.is_foreign = how == "foreign";
  display.surface_count = 1;
  display.surfaces[0] = surface_of(picture, 77);
  HetTestDisplay other = display;

  Model model("picture");
  const PreprocessDesc desc;
  const TensorDesc input{ElementType::Float32, {1, 3, 24, 20}};
  Value* x = model.add_input("x", input);
  // HETERO has no subgraph for an Identity; pixels are positive.
  const bool is_split = how.starts_with("hetero");
  model.add_output(
      "y", model.add_node("y", is_split ? "Relu" : "Identity", "", {x}, {"y_value"})->output());
  if (how == "hetero-both") {
    Node* const on_cpu = model.add_node("z", "Abs", "", {x}, {"z_value"});
    on_cpu->set_affinity("CPU");
    model.add_output("z", on_cpu->output());
  }
  model.set_preprocess(0, desc);
  HET_ASSIGN(const auto compiled, compile(model, kind, how, display));

  Image surface = picture;
  MemoryHandle handle =
      VaSurfaceHandle{how == "other-display" ? &other : &display, how == "no-surface" ? 78u : 77u};
  if (kind == "dmabuf") handle = DmaBufHandle{{fd}, how == "tiled" ? 1u : 0u};
  const auto memory =
      std::make_shared<ContentBuffer>(kind == "va" ? MemoryKind::VaSurface : MemoryKind::DmaBuf,
                                      picture.planes[0].buffer, handle, maps);
  for (ImagePlane& plane : surface.planes) plane.buffer = memory;
  if (how == "too-wide") surface.width += 16;

  HET_ASSIGN(const auto request, compiled->create_infer_request());
  for (const Rect roi : {picture.full(), Rect{3, 5, 30, 21}, Rect{0, 0, 20, 24}}) {
    fill_with_noise(picture, static_cast<unsigned>(roi.x + 1));
    HET_TRY(request->set_image(0, surface, roi));
    HET_TRY(request->infer());
    HET_ASSIGN(Tensor wanted, Tensor::allocate(input));
    HET_TRY(preprocess_reference(picture, roi, desc, wanted));
    for (size_t output = 0; output < compiled->outputs().size(); ++output) {
      for (int64_t i = 0; i < element_count(input.shape); ++i) {
        const float got = request->output(output).data<float>()[i];
        if (std::abs(got - wanted.data<float>()[i]) <= 1e-5f) continue;
        return error(StatusCode::Internal, "element {} of output {} is {} instead of {}", i, output,
                     got, wanted.data<float>()[i]);
      }
    }
  }
  close(fd);
  return {};
}

}  // namespace

int surfaces(const std::vector<std::string>& arguments) {
  set_log_sink(
      [](LogLevel, std::string_view message) {
        std::printf("log %s\n", std::string(message).c_str());
      },
      LogLevel::Info);
  const auto format = parse_pixel_format(arguments.at(1));
  if (!format) return fail(format.error());
  int maps = 0;
  const Status status = run(arguments[0], *format, arguments.size() > 2 ? arguments[2] : "", maps);
  const auto ways = het::core()->get_property("GPU", "GPU_SURFACE_IMPORT");
  if (ways) std::printf("ways %s\n", ways->c_str());
  std::printf("maps %d\n", maps);
  return status.ok() ? 0 : fail(status);
}

}  // namespace het
