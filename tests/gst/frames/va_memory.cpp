/// Frames in VA surfaces (GStreamer's own allocator on the test driver) through the elements.

#include <gst/allocators/allocators.h>
#include <gst/va/gstva.h>
#include <gst/va/gstvaallocator.h>
#include <gst/va/gstvadisplay_wrapped.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <random>

#include "tests/devices/vpu/vpu_daemon.h"
#include "tests/gst/element_rig.h"
#include "tests/gst/test_files.h"
#include "tests/va/test_display.h"

namespace het::gst_test {
namespace {

using va_test::MappedSurface;
using va_test::TestDisplay;

// Not the size of the model's input, which is 320x192.
constexpr int kWidth = 448;
constexpr int kHeight = 272;

std::string caps_of(GstVideoFormat format, bool in_surfaces) {
  return std::string("video/x-raw") + (in_surfaces ? "(memory:VAMemory)" : "") +
         ",width=" + std::to_string(kWidth) + ",height=" + std::to_string(kHeight) +
         ",framerate=25/1,format=" + gst_video_format_to_string(format);
}

struct Box {
  std::string type;
  int x, y, w, h;
  double confidence;
};

/// Boxes on the frame, in a fixed order.
std::vector<Box> boxes_of(GstBuffer* buffer) {
  std::vector<Box> boxes;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    GstStructure* detection = gst_video_region_of_interest_meta_get_param(region, "detection");
    double confidence = 0.0;
    if (detection) gst_structure_get_double(detection, "confidence", &confidence);
    boxes.push_back({g_quark_to_string(region->roi_type), static_cast<int>(region->x),
                     static_cast<int>(region->y), static_cast<int>(region->w),
                     static_cast<int>(region->h), confidence});
  }
  return boxes;
}

/// A scene in which the demo's detector finds something: bright blocks on a dark ground.
void paint(int format, const std::function<guint8*(int plane, int y)>& row, int shift) {
  const auto block = [&](int x, int y) {
    const int bx = (x + shift) / 64;
    const int by = y / 48;
    return (bx * 7 + by * 5) % 3;
  };
  constexpr guint8 kRgb[3][3] = {{200, 40, 30}, {40, 60, 190}, {90, 120, 80}};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const guint8* color = kRgb[block(x, y)];
      if (format == GST_VIDEO_FORMAT_RGBP) {
        for (int c = 0; c < 3; ++c) row(c, y)[x] = color[c];
      } else if (format == GST_VIDEO_FORMAT_BGRx) {
        for (int c = 0; c < 3; ++c) row(0, y)[4 * x + c] = color[2 - c];
        row(0, y)[4 * x + 3] = 0;
      } else {
        row(0, y)[x] = static_cast<guint8>(40 + 60 * block(x, y));
        if (y % 2 == 0) row(1, y / 2)[x] = static_cast<guint8>(100 + 25 * block(x / 2 * 2, y));
      }
    }
  }
}

class VaMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!va_.problem().empty()) GTEST_SKIP() << va_.problem();
    display_ = gst_va_display_wrapped_new(va_.get());
    ASSERT_NE(display_, nullptr);
  }
  void TearDown() override { gst_clear_object(&display_); }

  static GstVideoInfo info_of(GstVideoFormat format) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, format, kWidth, kHeight);
    return info;
  }

  /// A buffer of GStreamer's VA allocator with the scene in it.
  GstBuffer* surface_frame(GstVideoFormat format, int number, int shift = 0) {
    const std::array<GstVideoFormat, 3> formats{GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBP,
                                                GST_VIDEO_FORMAT_BGRx};
    GArray* known = g_array_new(FALSE, FALSE, sizeof(GstVideoFormat));
    g_array_append_vals(known, formats.data(), static_cast<guint>(formats.size()));
    GstAllocator* allocator = gst_va_allocator_new(display_, known);
    GstVideoInfo info = info_of(format);
    EXPECT_TRUE(gst_va_allocator_set_format(allocator, &info, 0, GST_VA_FEATURE_AUTO));
    GstBuffer* buffer = gst_buffer_new();
    EXPECT_TRUE(gst_va_allocator_setup_buffer(allocator, buffer));
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, kWidth, kHeight,
                                   GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
    {
      const MappedSurface mapped(va_.get(), gst_va_buffer_get_surface(buffer));
      EXPECT_TRUE(mapped.ok());
      paint(
          format, [&](int plane, int y) { return mapped.row(plane, y); }, shift);
    }
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
    gst_object_unref(allocator);
    return buffer;
  }

  static GstBuffer* system_frame(GstVideoFormat format, int number, int shift = 0) {
    GstVideoInfo info = info_of(format);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    GstVideoFrame frame;
    gst_video_frame_map(&frame, &info, buffer, GST_MAP_WRITE);
    paint(
        format,
        [&](int plane, int y) {
          return static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, plane)) +
                 y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, plane);
        },
        shift);
    gst_video_frame_unmap(&frame);
    GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * 40 * GST_MSECOND;
    return buffer;
  }

  /// The scene in a DMA-BUF, for which a file in memory stands in; as the driver's own layout has
  /// it where `in_own_layout` says so.
  static GstBuffer* dma_buf_frame(GstVideoFormat format, int number, int shift,
                                  bool in_own_layout) {
    GstBuffer* plain = system_frame(format, number, shift);
    GstVideoInfo info = info_of(format);
    const gsize size = gst_buffer_get_size(plain);
    std::vector<guint8> content(size);
    gst_buffer_extract(plain, 0, content.data(), size);
    for (guint8& byte : content) byte = in_own_layout ? static_cast<guint8>(~byte) : byte;
    const int file = memfd_create("frame", MFD_CLOEXEC);
    EXPECT_EQ(write(file, content.data(), size), static_cast<ssize_t>(size));
    GstAllocator* allocator = gst_dmabuf_allocator_new();
    GstBuffer* buffer = gst_buffer_new();
    gst_buffer_append_memory(buffer, gst_dmabuf_allocator_alloc(allocator, file, size));
    gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, kWidth, kHeight,
                                   GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
    GST_BUFFER_PTS(buffer) = GST_BUFFER_PTS(plain);
    gst_buffer_unref(plain);
    gst_object_unref(allocator);
    return buffer;
  }

  struct Run {
    std::vector<std::vector<Box>> boxes;
    std::vector<std::string> errors;
    guint64 copies = 0, mapped = 0, copied = 0, scaled = 0;
    double copies_per_frame = 0;
    std::string backend;
    std::string devices;
    guint64 subgraphs = 0;
  };

  /// A few frames through heterodetect.
  Run detect(GstVideoFormat format, bool in_surfaces, const std::string& properties,
             int frames = 4) {
    const auto make = [&](int i) {
      return in_surfaces ? surface_frame(format, i, 16 * i) : system_frame(format, i, 16 * i);
    };
    return detect(caps_of(format, in_surfaces), make, properties, frames, in_surfaces);
  }
  Run detect(const std::string& caps, const std::function<GstBuffer*(int)>& make,
             const std::string& properties, int frames, bool in_surfaces = false) {
    Run run;
    ElementRig rig("heterodetect", detector_properties() + " threshold=0.1 " + properties);
    if (shares_display_) share_display(rig);
    rig.on_buffer = [&](GstBuffer* buffer) {
      run.boxes.push_back(boxes_of(buffer));
      EXPECT_TRUE(!in_surfaces || gst_va_buffer_get_surface(buffer) != VA_INVALID_ID);
      return GST_FLOW_OK;
    };
    EXPECT_TRUE(rig.start(caps));
    for (int i = 0; i < frames; ++i) {
      if (rig.push(make(i)) != GST_FLOW_OK) break;
    }
    rig.event(gst_event_new_eos());
    run.errors = rig.errors();
    if (run.errors.empty()) {
      EXPECT_TRUE(rig.wait_for("eos"));
      run.errors = rig.errors();
    }
    GstStructure* stats = nullptr;
    g_object_get(rig.element(), "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "picture-copies", &run.copies);
    gst_structure_get_uint64(stats, "surfaces-mapped", &run.mapped);
    gst_structure_get_uint64(stats, "surfaces-copied", &run.copied);
    gst_structure_get_uint64(stats, "pictures-scaled", &run.scaled);
    gst_structure_get_double(stats, "copies-per-frame", &run.copies_per_frame);
    const char* backend = gst_structure_get_string(stats, "pre-process-backend");
    run.backend = backend ? backend : "";
    const char* devices = gst_structure_get_string(stats, "execution-devices");
    run.devices = devices ? devices : "";
    gst_structure_get_uint64(stats, "subgraphs", &run.subgraphs);
    gst_structure_free(stats);
    return run;
  }

  /// As a pipeline does in which somebody has opened it.
  void share_display(ElementRig& rig) {
    GstContext* context = gst_context_new(GST_VA_DISPLAY_HANDLE_CONTEXT_TYPE_STR, TRUE);
    gst_structure_set(gst_context_writable_structure(context), "gst-display", GST_TYPE_VA_DISPLAY,
                      display_, nullptr);
    gst_element_set_context(rig.element(), context);
    gst_context_unref(context);
  }

  TestDisplay va_;
  GstVaDisplay* display_ = nullptr;
  bool shares_display_ = false;
};

size_t count(const std::vector<std::vector<Box>>& frames) {
  size_t boxes = 0;
  for (const auto& frame : frames) boxes += frame.size();
  return boxes;
}

bool is_near(const Box& a, const Box& b, int pixels, double confidence) {
  return a.type == b.type && std::abs(a.x - b.x) <= pixels && std::abs(a.y - b.y) <= pixels &&
         std::abs(a.w - b.w) <= pixels && std::abs(a.h - b.h) <= pixels &&
         std::abs(a.confidence - b.confidence) <= confidence;
}

/// Every box of this confidence is among the others.
void expect_among(const std::vector<std::vector<Box>>& boxes,
                  const std::vector<std::vector<Box>>& others, double from, int pixels,
                  double confidence) {
  ASSERT_EQ(boxes.size(), others.size());
  for (size_t f = 0; f < boxes.size(); ++f) {
    for (const Box& a : boxes[f]) {
      if (a.confidence < from) continue;
      EXPECT_TRUE(std::any_of(others[f].begin(), others[f].end(),
                              [&](const Box& b) { return is_near(a, b, pixels, confidence); }))
          << "frame " << f << ": " << a.type << " at " << a.x << "," << a.y << " " << a.w << "x"
          << a.h << " " << a.confidence;
    }
  }
}

void expect_same(const std::vector<std::vector<Box>>& a, const std::vector<std::vector<Box>>& b) {
  EXPECT_EQ(count(a), count(b));
  expect_among(a, b, 0.0, 0, 0.0);
}

/// Another scaler's levels differ by rounding: boxes near the threshold come and go.
void expect_similar(const std::vector<std::vector<Box>>& a,
                    const std::vector<std::vector<Box>>& b) {
  expect_among(a, b, 0.25, 4, 0.08);
  expect_among(b, a, 0.25, 4, 0.08);
}

TEST_F(VaMemory, SurfacesGiveTheDetectionsOfSystemMemory) {
  for (const GstVideoFormat format :
       {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_BGRx}) {
    for (const char* device : {"CPU", "HETERO:GPU,CPU"}) {
      SCOPED_TRACE(std::string(gst_video_format_to_string(format)) + " " + device);
      const std::string on = std::string("device=") + device + " ";
      const Run plain = detect(format, false, on + "pre-process-backend=cpu");
      EXPECT_TRUE(plain.errors.empty()) << plain.errors.front();
      EXPECT_GT(count(plain.boxes), 0u) << "a scene with nothing in it shows nothing";
      EXPECT_EQ(plain.copies, 0u);
      const Run mapped = detect(format, true, on + "pre-process-backend=cpu");
      EXPECT_TRUE(mapped.errors.empty()) << mapped.errors.front();
      expect_same(mapped.boxes, plain.boxes);
      EXPECT_EQ(mapped.backend, "cpu");
      EXPECT_EQ(mapped.mapped, 4u);
      EXPECT_EQ(mapped.copies, 0u);
      for (const char* backend : {"va-surface-sharing", "vaapi", "auto"}) {
        SCOPED_TRACE(backend);
        const Run scaled = detect(format, true, on + "pre-process-backend=" + backend);
        EXPECT_TRUE(scaled.errors.empty()) << scaled.errors.front();
        expect_similar(scaled.boxes, plain.boxes);
        EXPECT_EQ(scaled.copies, 0u);
        EXPECT_EQ(scaled.scaled, 4u);
        EXPECT_NE(scaled.devices, "");
        EXPECT_GE(scaled.subgraphs, 1u);
        std::printf("%s %s %s: %s, %d subgraph(s) on %s, copies per frame %.2f\n",
                    gst_video_format_to_string(format), device, backend, scaled.backend.c_str(),
                    static_cast<int>(scaled.subgraphs), scaled.devices.c_str(),
                    scaled.copies_per_frame);
      }
    }
  }
}

/// The device computes in float16, so it is compared with itself.
TEST_F(VaMemory, SurfacesGiveTheDetectionsOfSystemMemoryWithAVpu) {
  device_testing::VpuDaemons daemons;
  daemons.start();
  for (const GstVideoFormat format : {GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_RGBP}) {
    SCOPED_TRACE(gst_video_format_to_string(format));
    const Run plain = detect(format, false, "device=HETERO:VPU,CPU pre-process-backend=cpu");
    EXPECT_TRUE(plain.errors.empty()) << plain.errors.front();
    EXPECT_GT(count(plain.boxes), 0u);
    EXPECT_NE(plain.devices.find("VPU"), std::string::npos) << plain.devices;
    expect_similar(plain.boxes, detect(format, false, "device=CPU pre-process-backend=cpu").boxes);
    const Run mapped = detect(format, true, "device=HETERO:VPU,CPU pre-process-backend=cpu");
    EXPECT_TRUE(mapped.errors.empty()) << mapped.errors.front();
    expect_same(mapped.boxes, plain.boxes);
    EXPECT_EQ(mapped.copies, 0u);
    const Run scaled = detect(format, true, "device=HETERO:VPU,CPU");
    EXPECT_TRUE(scaled.errors.empty()) << scaled.errors.front();
    expect_similar(scaled.boxes, plain.boxes);
    EXPECT_EQ(scaled.scaled, 4u);
  }
}

TEST_F(VaMemory, DevicesOfSeveralDevicesReadSurfacesWhereTheyAre) {
  const Run plain = detect(GST_VIDEO_FORMAT_NV12, false, "device=CPU pre-process-backend=cpu");
  EXPECT_GT(count(plain.boxes), 0u);
  for (const char* device : {"MULTI:GPU,CPU", "AUTO:GPU,CPU", "BATCH:CPU(2)", "BATCH:GPU(2)"}) {
    SCOPED_TRACE(device);
    const std::string on = std::string("device=") + device + " ";
    const Run mapped = detect(GST_VIDEO_FORMAT_NV12, true, on + "pre-process-backend=cpu");
    ASSERT_TRUE(mapped.errors.empty()) << mapped.errors.front();
    expect_similar(mapped.boxes, plain.boxes);  // devices compute in types of their own
    EXPECT_EQ(mapped.mapped, 4u);
    EXPECT_EQ(mapped.copies, 0u);
    const Run scaled = detect(GST_VIDEO_FORMAT_NV12, true, on);
    ASSERT_TRUE(scaled.errors.empty()) << scaled.errors.front();
    expect_similar(scaled.boxes, plain.boxes);
    EXPECT_EQ(scaled.scaled, 4u);
    EXPECT_EQ(scaled.copies, 0u);
  }
}

TEST_F(VaMemory, WhatCannotBeMappedIsCopiedOnceAFrame) {
  const Run plain = detect(GST_VIDEO_FORMAT_NV12, false, "pre-process-backend=cpu");
  ElementRig rig("heterodetect", detector_properties() + " threshold=0.1 pre-process-backend=cpu");
  std::vector<std::vector<Box>> boxes;
  rig.on_buffer = [&](GstBuffer* buffer) {
    boxes.push_back(boxes_of(buffer));
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(caps_of(GST_VIDEO_FORMAT_NV12, true)));
  std::vector<GstBuffer*> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(surface_frame(GST_VIDEO_FORMAT_NV12, i, 16 * i));
  va_.faults().no_derive = true;
  for (GstBuffer* frame : frames) ASSERT_EQ(rig.push(frame), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  expect_same(boxes, plain.boxes);
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  double copies_per_frame = 0.0;
  EXPECT_TRUE(gst_structure_get_double(stats, "copies-per-frame", &copies_per_frame));
  EXPECT_EQ(copies_per_frame, 1.0);
  gst_structure_free(stats);
}

TEST_F(VaMemory, ScaleMethodFastIsTheDriversFastWay) {
  const Run plain = detect(GST_VIDEO_FORMAT_NV12, true, "pre-process-backend=va");
  EXPECT_EQ(va_.counters().processed_fast, 0);
  const Run fast =
      detect(GST_VIDEO_FORMAT_NV12, true, "pre-process-backend=va scale-method=fast", 4);
  EXPECT_TRUE(fast.errors.empty());
  expect_same(fast.boxes, plain.boxes);
  EXPECT_EQ(va_.counters().processed_fast, 4);
}

TEST_F(VaMemory, ALateVideoProcessorChangesNothing) {
  const Run plain = detect(GST_VIDEO_FORMAT_NV12, true, "pre-process-backend=va");
  va_.faults().defer = true;
  va_.faults().slow_ms = 10;
  const Run late = detect(GST_VIDEO_FORMAT_NV12, true, "pre-process-backend=va nireq=3", 4);
  EXPECT_TRUE(late.errors.empty());
  expect_same(late.boxes, plain.boxes);
}

TEST_F(VaMemory, FaultsAreOneClearError) {
  struct Case {
    const char* name;
    std::atomic<bool> va_test::DriverFaults::*fault;
    const char* backend;
  };
  for (const Case& c : {Case{"map", &va_test::DriverFaults::no_map, "cpu"},
                        Case{"map", &va_test::DriverFaults::no_map, "va"},
                        Case{"lost", &va_test::DriverFaults::lost, "cpu"},
                        Case{"lost", &va_test::DriverFaults::lost, "va"}}) {
    for (const char* device : {"CPU", "HETERO:GPU,CPU"}) {
      SCOPED_TRACE(std::string(c.name) + " " + c.backend + " " + device);
      ElementRig rig("heterodetect", detector_properties() + " device=" + device +
                                         " pre-process-backend=" + c.backend);
      ASSERT_TRUE(rig.start(caps_of(GST_VIDEO_FORMAT_NV12, true)));
      ASSERT_EQ(rig.push(surface_frame(GST_VIDEO_FORMAT_NV12, 0)), GST_FLOW_OK);
      ASSERT_TRUE(rig.wait_for("buffer 0"));
      std::vector<GstBuffer*> frames;
      for (int i = 1; i < 20; ++i) frames.push_back(surface_frame(GST_VIDEO_FORMAT_NV12, i));
      va_.faults().*c.fault = true;
      GstFlowReturn flow = GST_FLOW_OK;
      size_t pushed = 0;
      while (pushed < frames.size() && flow == GST_FLOW_OK) flow = rig.push(frames[pushed++]);
      for (size_t i = pushed; i < frames.size(); ++i) gst_buffer_unref(frames[i]);
      EXPECT_EQ(flow, GST_FLOW_ERROR);
      const std::vector<std::string> errors = rig.errors();
      ASSERT_EQ(errors.size(), 1u);
      EXPECT_NE(errors[0].find("VA driver"), std::string::npos) << errors[0];
      va_.faults().*c.fault = false;
    }
  }
}

TEST_F(VaMemory, NoSurfaceIsKeptAfterItsFrameHasLeft) {
  const int before = va_.counters().surfaces;
  for (const char* backend : {"cpu", "va"}) {
    detect(GST_VIDEO_FORMAT_NV12, true, std::string("pre-process-backend=") + backend);
    EXPECT_EQ(va_.counters().surfaces, before) << backend;
  }
}

TEST_F(VaMemory, ACroppedFrameIsAnalysedWhereItIsVisible) {
  // Caps give the visible size; the surface is larger.
  const auto boxes = [&](bool in_surface) {
    std::vector<Box> found;
    ElementRig rig("heterodetect",
                   detector_properties() + " threshold=0.1 pre-process-backend=cpu");
    rig.on_buffer = [&](GstBuffer* buffer) {
      found = boxes_of(buffer);
      return GST_FLOW_OK;
    };
    EXPECT_TRUE(rig.start(std::string("video/x-raw") + (in_surface ? "(memory:VAMemory)" : "") +
                          ",width=200,height=140,framerate=25/1,format=BGRx"));
    GstBuffer* frame = nullptr;
    if (in_surface) {
      frame = surface_frame(GST_VIDEO_FORMAT_BGRx, 0);
      GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(frame);
      crop->x = 40;
      crop->y = 30;
      crop->width = 200;
      crop->height = 140;
    } else {
      GstVideoInfo info;
      gst_video_info_set_format(&info, GST_VIDEO_FORMAT_BGRx, 200, 140);
      frame = gst_buffer_new_allocate(nullptr, info.size, nullptr);
      GstBuffer* whole = system_frame(GST_VIDEO_FORMAT_BGRx, 0);
      GstMapInfo from;
      gst_buffer_map(whole, &from, GST_MAP_READ);
      for (gsize y = 0; y < 140; ++y) {
        gst_buffer_fill(frame, y * 800, from.data + (y + 30) * 4 * kWidth + 160, 800);
      }
      gst_buffer_unmap(whole, &from);
      gst_buffer_unref(whole);
    }
    EXPECT_EQ(rig.push(frame), GST_FLOW_OK);
    rig.event(gst_event_new_eos());
    EXPECT_TRUE(rig.wait_for("eos"));
    return found;
  };
  const std::vector<Box> cut = boxes(false);
  EXPECT_FALSE(cut.empty());
  expect_same({boxes(true)}, {cut});
}

/// Lines of the library's log while it lives.
class LogLines {
 public:
  LogLines() {
    gst_debug_set_threshold_from_string("hetero:4", FALSE);
    gst_debug_remove_log_function(gst_debug_log_default);
    gst_debug_add_log_function(keep, this, nullptr);
  }
  ~LogLines() {
    gst_debug_remove_log_function(keep);
    gst_debug_add_log_function(gst_debug_log_default, nullptr, nullptr);
    gst_debug_set_threshold_from_string("", TRUE);
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  bool have(const std::string& text) {
    std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  }

  std::string all() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  static void keep(GstDebugCategory*, GstDebugLevel, const gchar*, const gchar*, gint, GObject*,
                   GstDebugMessage* message, gpointer self) {
    auto* lines = static_cast<LogLines*>(self);
    std::lock_guard lock(lines->mutex_);
    lines->lines_.emplace_back(gst_debug_message_get(message));
  }
  std::mutex mutex_;  ///< protects lines_
  std::vector<std::string> lines_;
};

TEST_F(VaMemory, TheGpuIsOpenedForTheDisplayThatThePipelineShares) {
  for (const auto& [device, is_shared] :
       {std::pair{"GPU", true}, {"GPU", false}, {"BATCH:GPU(2)", true}, {"HETERO:GPU,CPU", true}}) {
    SCOPED_TRACE(device);
    LogLines log;
    ElementRig rig("heterodetect", detector_properties() + " device=" + device);
    if (is_shared) share_display(rig);
    if (!rig.start(caps_of(GST_VIDEO_FORMAT_NV12, true))) GTEST_SKIP() << rig.errors().front();
    // No driver here shares surfaces with OpenCL: that it was asked shows in its answer.
    EXPECT_EQ(log.have("VA surfaces will be mapped"), is_shared) << log.all();
    EXPECT_EQ(rig.push(surface_frame(GST_VIDEO_FORMAT_NV12, 0)), GST_FLOW_OK);
    EXPECT_TRUE(rig.wait_for("buffer 0"));
    EXPECT_TRUE(log.have("pictures are prepared by va-surface-sharing"));
  }
}

std::string dma_buf_caps(const std::string& drm_format) {
#if GST_CHECK_VERSION(1, 24, 0)
  const std::string format = "DMA_DRM,drm-format=" + drm_format;
#else
  const std::string format = drm_format;
#endif
  return "video/x-raw(memory:DMABuf),width=" + std::to_string(kWidth) +
         ",height=" + std::to_string(kHeight) + ",framerate=25/1,format=" + format;
}

TEST_F(VaMemory, LinearDmaBufsAreReadWhereTheyAre) {
  for (const char* device : {"CPU", "HETERO:GPU,CPU"}) {
    SCOPED_TRACE(device);
    const std::string on = std::string("device=") + device;
    const Run plain = detect(GST_VIDEO_FORMAT_NV12, false, on);
    EXPECT_GT(count(plain.boxes), 0u);
    const Run from_dma_bufs = detect(
        dma_buf_caps("NV12"),
        [](int i) { return dma_buf_frame(GST_VIDEO_FORMAT_NV12, i, 16 * i, false); }, on, 4);
    EXPECT_TRUE(from_dma_bufs.errors.empty()) << from_dma_bufs.errors.front();
    expect_same(from_dma_bufs.boxes, plain.boxes);
    EXPECT_EQ(from_dma_bufs.copies, 0u);
  }
}

#if GST_CHECK_VERSION(1, 24, 0)
std::string with_modifier(uint64_t modifier) {
  gchar* text = gst_video_dma_drm_fourcc_to_string(
      gst_video_dma_drm_fourcc_from_format(GST_VIDEO_FORMAT_NV12), modifier);
  const std::string caps = dma_buf_caps(text);
  g_free(text);
  return caps;
}

TEST_F(VaMemory, DmaBufsWithAModifierAreImportedAsSurfaces) {
  const Run plain = detect(GST_VIDEO_FORMAT_NV12, false, "pre-process-backend=cpu");
  shares_display_ = true;
  const auto tiled = [](int i) { return dma_buf_frame(GST_VIDEO_FORMAT_NV12, i, 16 * i, true); };
  const std::string caps = with_modifier(va_test::kOwnModifier);
  va_.counters().imported = 0;
  const Run mapped = detect(caps, tiled, "pre-process-backend=cpu", 4);
  EXPECT_TRUE(mapped.errors.empty()) << mapped.errors.front();
  expect_same(mapped.boxes, plain.boxes);
  EXPECT_EQ(va_.counters().imported, 4);
  EXPECT_EQ(mapped.copies, 0u);
  const Run scaled = detect(caps, tiled, "device=HETERO:GPU,CPU", 4);
  EXPECT_TRUE(scaled.errors.empty()) << scaled.errors.front();
  expect_similar(scaled.boxes, plain.boxes);
  EXPECT_EQ(scaled.scaled, 4u);

  GstBuffer* same = tiled(0);
  va_.counters().imported = 0;
  const Run again = detect(
      caps, [&](int) { return gst_buffer_ref(same); }, "", 4);
  EXPECT_TRUE(again.errors.empty()) << again.errors.front();
  EXPECT_EQ(va_.counters().imported, 1) << "a memory stays a surface";
  gst_buffer_unref(same);

  const Run unknown = detect(with_modifier(0x0100000000000001), tiled, "", 1);
  ASSERT_EQ(unknown.errors.size(), 1u);
  EXPECT_NE(unknown.errors[0].find("does not import DMA-BUFs of drm-format NV12:0x01"),
            std::string::npos)
      << unknown.errors[0];
}

TEST_F(VaMemory, WithoutADisplayOnlyLinearDmaBufsAreOffered) {
  ElementRig rig("heterodetect", detector_properties());
  const auto takes = [&](const std::string& caps) {
    GstCaps* wanted = gst_caps_from_string(caps.c_str());
    const bool accepted = gst_pad_peer_query_accept_caps(rig.source(), wanted);
    gst_caps_unref(wanted);
    return accepted;
  };
  EXPECT_TRUE(takes(dma_buf_caps("NV12")));
  EXPECT_FALSE(takes(with_modifier(va_test::kOwnModifier)));
  share_display(rig);
  EXPECT_TRUE(takes(with_modifier(va_test::kOwnModifier)));
}
#endif

TEST_F(VaMemory, ElementsThatTouchNoPixelsPassSurfacesOn) {
  for (const char* name : {"heterometaconvert", "heterofpscounter", "heterotrack"}) {
    ElementRig rig(name, "");
    ASSERT_TRUE(rig.start(caps_of(GST_VIDEO_FORMAT_NV12, true))) << name;
    EXPECT_EQ(rig.push(surface_frame(GST_VIDEO_FORMAT_NV12, 0)), GST_FLOW_OK) << name;
    EXPECT_TRUE(rig.wait_for("buffer 0")) << name;
  }
}

TEST_F(VaMemory, MotionIsFoundOnSurfacesAsInSystemMemory) {
  const auto moving = [&](bool in_surfaces) {
    ElementRig rig("heteromotiondetect", "gate=true gate-hold=0 min-persistence=1");
    std::vector<std::string> told;
    rig.on_buffer = [&](GstBuffer* buffer) {
      std::string& text = told.emplace_back();
      for (const Box& box : boxes_of(buffer)) {
        text += box.type + " " + std::to_string(box.x) + "," + std::to_string(box.y) + " " +
                std::to_string(box.w) + "x" + std::to_string(box.h) + ";";
      }
      if (gst_buffer_get_custom_meta(buffer, "GstHeteroStillMeta") != nullptr) text += "still";
      return GST_FLOW_OK;
    };
    EXPECT_TRUE(rig.start(caps_of(GST_VIDEO_FORMAT_NV12, in_surfaces)));
    for (int i = 0; i < 14; ++i) {
      const int shift = i < 11 ? 0 : 16 * (i - 10);
      EXPECT_EQ(rig.push(in_surfaces ? surface_frame(GST_VIDEO_FORMAT_NV12, i, shift)
                                     : system_frame(GST_VIDEO_FORMAT_NV12, i, shift)),
                GST_FLOW_OK);
    }
    EXPECT_TRUE(rig.errors().empty());
    return told;
  };
  const std::vector<std::string> told = moving(true);
  EXPECT_EQ(told, moving(false));
  ASSERT_EQ(told.size(), 14u);
  EXPECT_EQ(told[10], "still");
  EXPECT_EQ(told[11].find("still"), std::string::npos);
}

}  // namespace
}  // namespace het::gst_test
