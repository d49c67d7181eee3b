// Objects in a VA surface of the application's own VADisplay: what a decoder would have written
// there is read in place. Arguments: a model, its model-proc, a picture, which is put into the
// surface first, and (optional) a device.
#include <fcntl.h>
#include <hetinference/cpp.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drm.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <stdexcept>
#include <string>

namespace {

void check(VAStatus status, const char* what) {
  if (status != VA_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + vaErrorStr(status));
}

/// The application's display: of the first render node.
class Display {
 public:
  Display() : node_(open("/dev/dri/renderD128", O_RDWR)), display_(vaGetDisplayDRM(node_)) {
    int major = 0;
    int minor = 0;
    check(vaInitialize(display_, &major, &minor), "no driver for /dev/dri/renderD128");
  }
  ~Display() {
    vaTerminate(display_);
    close(node_);
  }
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  VADisplay get() const { return display_; }

 private:
  int node_;
  VADisplay display_;
};

/// A NV12 surface with this picture, whose sides are even.
VASurfaceID make_surface(VADisplay display, const cv::Mat& bgr) {
  const int width = bgr.cols;
  const int height = bgr.rows;
  VASurfaceID surface = VA_INVALID_SURFACE;
  check(vaCreateSurfaces(display, VA_RT_FORMAT_YUV420, static_cast<unsigned>(width),
                         static_cast<unsigned>(height), &surface, 1, nullptr, 0),
        "make a surface");
  VAImageFormat format{};
  format.fourcc = VA_FOURCC_NV12;
  format.byte_order = VA_LSB_FIRST;
  format.bits_per_pixel = 12;
  VAImage image;
  check(vaCreateImage(display, &format, width, height, &image), "make an image");
  void* address = nullptr;
  check(vaMapBuffer(display, image.buf, &address), "map the image");
  cv::Mat planes;
  cv::cvtColor(bgr, planes, cv::COLOR_BGR2YUV_I420);
  auto* bytes = static_cast<unsigned char*>(address);
  for (int y = 0; y < height; ++y) {
    std::copy_n(planes.ptr(y), width,
                bytes + image.offsets[0] + static_cast<size_t>(y) * image.pitches[0]);
  }
  const unsigned char* u = planes.ptr(height);
  const unsigned char* v = u + width / 2 * (height / 2);
  for (int y = 0; y < height / 2; ++y) {
    unsigned char* row = bytes + image.offsets[1] + static_cast<size_t>(y) * image.pitches[1];
    for (int x = 0; x < width; x += 2) {
      row[x] = *u++;
      row[x + 1] = *v++;
    }
  }
  vaUnmapBuffer(display, image.buf);
  const auto w = static_cast<unsigned>(width);
  const auto h = static_cast<unsigned>(height);
  check(vaPutImage(display, surface, image.image_id, 0, 0, w, h, 0, 0, w, h), "fill the surface");
  vaDestroyImage(display, image.image_id);
  return surface;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s MODEL MODEL_PROC PICTURE [DEVICE]\n", argv[0]);
    return 2;
  }
  cv::Mat picture = cv::imread(argv[3]);
  if (picture.empty())
    throw std::runtime_error(std::string(argv[3]) + " is no picture that OpenCV reads");
  picture = picture(cv::Rect(0, 0, picture.cols & ~1, picture.rows & ~1)).clone();
  const Display va;
  VASurfaceID surface = make_surface(va.get(), picture);
  {
    hetinference::Core core;
    const hetinference::Display display(va.get());
    auto settings = hetinference::make_struct<HetVisionSettings>();
    settings.model = argv[1];
    settings.model_proc = argv[2];
    settings.device = argc > 4 ? argv[4] : "CPU";
    auto model = core.load_vision_model(settings);
    auto request = model.create_request();
    model.set_picture(request,
                      display.picture(surface, HET_PIXEL_NV12, picture.cols, picture.rows));
    request.infer();
    const auto results = model.results(request, picture.cols, picture.rows);
    for (const HetFoundObject& object : results.objects()) {
      std::printf("%s %.2f at %.0f,%.0f to %.0f,%.0f\n", object.label, object.confidence,
                  object.x_min, object.y_min, object.x_max, object.y_max);
    }
    const HetSurfaceCounts counts = display.counts();
    std::printf("surfaces mapped %llu, copied %llu, imported %llu\n",
                static_cast<unsigned long long>(counts.mapped),
                static_cast<unsigned long long>(counts.copied),
                static_cast<unsigned long long>(counts.imported));
  }
  vaDestroySurfaces(va.get(), &surface, 1);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
