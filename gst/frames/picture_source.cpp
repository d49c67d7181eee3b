#include "picture_source.h"

#include <fmt/format.h>

#include <utility>

#include "devices/register_devices.h"
#include "inference/base/log.h"

namespace het::gst {
namespace {

const GEnumValue kBackends[] = {
    {kPreProcessAuto, "The best one for the memory that frames are in and the device", "auto"},
    {kPreProcessCpu, "The CPU, in the request's stream thread", "cpu"},
    {kPreProcessIe, "Another name of cpu", "ie"},
    {kPreProcessOpenCv, "Another name of cpu", "opencv"},
    {kPreProcessOpenCl, "A kernel of the GPU that runs the model", "opencl"},
    {kPreProcessVa, "The video processor scales VA surfaces, the result is mapped", "va"},
    {kPreProcessVaSurfaceSharing,
     "The video processor scales VA surfaces, the result is imported into the device where it can "
     "be",
     "va-surface-sharing"},
    {kPreProcessVaapi, "Another name of va", "vaapi"},
    {kPreProcessVaapiSurfaceSharing, "Another name of va-surface-sharing", "vaapi-surface-sharing"},
    {0, nullptr, nullptr}};

bool scales(PreProcessBackend backend) {
  return backend == kPreProcessVa || backend == kPreProcessVaSurfaceSharing;
}

/// Whether a GPU with its kernel runs a part of the model.
bool has_device_conversion(const CompiledModel& model) {
  const auto devices = model.get_property("EXECUTION_DEVICES");
  if (!devices || devices->find("GPU") == std::string::npos) return false;
  const auto conversion = model.get_property("GPU_PICTURE_CONVERSION");
  return !conversion || *conversion != "HOST";
}

}  // namespace

GType pre_process_type() {
  static const GType type = g_enum_register_static("GstHeteroPreProcessBackend", kBackends);
  return type;
}

PreProcessBackend without_alias(int backend) {
  switch (backend) {
    case kPreProcessIe:
    case kPreProcessOpenCv:
      return kPreProcessCpu;
    case kPreProcessVaapi:
      return kPreProcessVa;
    case kPreProcessVaapiSurfaceSharing:
      return kPreProcessVaSurfaceSharing;
    default:
      return static_cast<PreProcessBackend>(backend);
  }
}

const char* backend_nick(PreProcessBackend backend) {
  return kBackends[backend].value_nick;
}

Result<std::unique_ptr<PictureSource>> PictureSource::create(int backend, const VisionModel& model,
                                                             int scale_method) {
  std::unique_ptr<PictureSource> source(
      new PictureSource(without_alias(backend), model, scale_method));
  if (source->wanted_ == kPreProcessOpenCl && !source->device_converts_) {
    return error(StatusCode::NotSupported,
                 "pre-process-backend=opencl needs a GPU that runs the beginning of the model, and "
                 "it runs on {}; choose device=GPU, or pre-process-backend=cpu",
                 model.compiled().get_property("EXECUTION_DEVICES").value_or("other devices"));
  }
  if (model.has_own_preprocess() && source->wanted_ != kPreProcessAuto &&
      source->wanted_ != kPreProcessCpu) {
    return error(StatusCode::InvalidArgument,
                 "pre-process-backend={} and custom-preproc-lib both say what prepares pictures; "
                 "choose auto or cpu with a library",
                 backend_nick(source->wanted_));
  }
  return source;
}

PictureSource::PictureSource(PreProcessBackend wanted, const VisionModel& model, int scale_method)
    : wanted_(wanted),
      model_(model),
      quality_(scale_method == kScaleFast ? ScaleQuality::Fast : ScaleQuality::Normal),
      device_converts_(has_device_conversion(model.compiled())) {}

Status PictureSource::take_caps(const GstCaps* caps, GstElement* element) {
  import_ = nullptr;
  if (!needs_import(caps)) return {};
  SharedDisplay display = shared_display(element);
  auto import = DmaBufImport::create(caps, display);
  gst_clear_object(&display.display);
  if (!import) return import.error();
  import_ = std::move(*import);
  return {};
}

Result<FramePicture> PictureSource::open(GstBuffer* buffer, const GstVideoInfo& info) {
  std::optional<FrameSurface> surface;
  if (import_) {
    HET_ASSIGN(surface, import_->surface(buffer));
  } else {
    surface = frame_surface(buffer);
  }
  if (!is_chosen_ || of_surfaces_ != surface.has_value()) {
    HET_TRY(choose(surface ? &*surface : nullptr, info));
  }
  FramePicture picture;
  if (surface) {
    HET_ASSIGN(const std::shared_ptr<SurfaceAccess> access, access_of(*surface));
    HET_ASSIGN(picture.image, map_surface(buffer, info, *surface, *access));
  } else {
    HET_ASSIGN(picture.image, map_frame(buffer, info));
  }
  picture.visible = visible_part(buffer, picture.image);
  ++frames_;
  return picture;
}

Status PictureSource::choose(const FrameSurface* surface, const GstVideoInfo& info) {
  const char* const conversion = device_converts_ ? "opencl" : "cpu";
  const PreProcessBackend converter = device_converts_ ? kPreProcessOpenCl : kPreProcessCpu;
  is_chosen_ = true;
  of_surfaces_ = surface != nullptr;
  if (model_.has_own_preprocess()) {
    note(kPreProcessCpu, "custom-preproc-lib is given");
    return {};
  }
  if (!surface) {
    if (scales(wanted_)) {
      return error(
          StatusCode::InvalidArgument,
          "pre-process-backend={} needs frames in VA surfaces, and these are {} pictures in "
          "system memory; put vapostproc before the element, or choose auto",
          backend_nick(wanted_), gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)));
    }
    if (wanted_ == kPreProcessAuto) {
      note(converter, fmt::format("frames are in system memory and the device has {}", conversion));
    } else {
      note(wanted_, "it was asked for");
    }
    return {};
  }
  HET_ASSIGN(const std::shared_ptr<SurfaceAccess> access, access_of(*surface));
  if (wanted_ != kPreProcessAuto) {
    if (scales(wanted_)) {
      HET_TRY(access->can_scale().with_context(
          fmt::format("pre-process-backend={}", backend_nick(wanted_))));
    }
    note(wanted_, "it was asked for");
    return {};
  }
  const Status scalable = access->can_scale();
  if (scalable.ok()) {
    note(device_converts_ ? kPreProcessVaSurfaceSharing : kPreProcessVa,
         "frames are VA surfaces and the video processor writes RGBP");
  } else {
    note(converter, fmt::format("frames are VA surfaces, but {}", scalable.message()));
  }
  return {};
}

Result<std::shared_ptr<SurfaceAccess>> PictureSource::access_of(const FrameSurface& surface) {
  std::shared_ptr<SurfaceAccess> access = access_.load();
  if (access && va_display_ == surface.va_display) return access;
  GstObject* display = GST_OBJECT(gst_object_ref(surface.display));
  HET_ASSIGN(access, surface_access(surface.va_display, [display] { gst_object_unref(display); }));
  va_display_ = surface.va_display;
  access_ = access;
  return access;
}

Result<ImageRegion> PictureSource::region(const FramePicture& picture, const Rect& rect) {
  Rect part = clip(rect, picture.visible.width, picture.visible.height);
  part.x += picture.visible.x;
  part.y += picture.visible.y;
  if (!of_surfaces_ || !scales(chosen_)) return ImageRegion{picture.image, part};
  HET_ASSIGN(const PictureGeometry geometry, model_.shown_part(part));
  const Rect& to = geometry.destination;
  // A picture that has the size already needs no video processor.
  if (picture.image.format == PixelFormat::RGBP && geometry.source.width == to.width &&
      geometry.source.height == to.height) {
    return ImageRegion{picture.image, part};
  }
  HET_ASSIGN(Image scaled,
             access_.load()->scale(picture.image, geometry.source, to.width, to.height, quality_));
  const Rect all = scaled.full();
  return ImageRegion{std::move(scaled), all};
}

void PictureSource::note(PreProcessBackend chosen, const std::string& why) {
  chosen_ = chosen;
  log(LogLevel::Info, "model '{}': pictures are prepared by {} because {}",
      model_.compiled().name(), backend_nick(chosen), why);
}

void PictureSource::add_statistics(GstStructure* structure) const {
  const std::shared_ptr<SurfaceAccess> access = access_.load();
  const auto count = [&](std::atomic<uint64_t> SurfaceCounts::*which) -> guint64 {
    return access ? (access->counts().*which).load() : 0;
  };
  const guint64 copies = copied_frames_ + count(&SurfaceCounts::copied);
  const guint64 frames = frames_;
  gst_structure_set(structure, "pre-process-backend", G_TYPE_STRING, backend_nick(chosen_),
                    "picture-copies", G_TYPE_UINT64, copies, "copies-per-frame", G_TYPE_DOUBLE,
                    frames > 0 ? static_cast<double>(copies) / static_cast<double>(frames) : 0.0,
                    "surfaces-mapped", G_TYPE_UINT64, count(&SurfaceCounts::mapped),
                    "surfaces-copied", G_TYPE_UINT64, count(&SurfaceCounts::copied),
                    "surfaces-imported", G_TYPE_UINT64, count(&SurfaceCounts::imported),
                    "pictures-scaled", G_TYPE_UINT64, count(&SurfaceCounts::scaled), nullptr);
}

}  // namespace het::gst
