/// The property pre-process-backend on frames in system memory; in VA surfaces: va_memory.cpp.

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

constexpr char kPreProcessCaps[] = "video/x-raw,format=NV12,width=320,height=192,framerate=25/1";

struct Seen {
  std::string backend;
  std::vector<std::string> errors;
};

/// One frame with these properties.
Seen run(const std::string& properties) {
  ElementRig rig("heterodetect", detector_properties() + " " + properties);
  if (!rig.start(kPreProcessCaps)) return {"", rig.errors()};
  rig.push(rig.frame(0, 77));
  rig.event(gst_event_new_eos());
  Seen seen;
  seen.errors = rig.errors();
  EXPECT_TRUE(!seen.errors.empty() || rig.wait_for("buffer 0"));
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  guint64 copies = 1;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "picture-copies", &copies));
  EXPECT_EQ(copies, 0u);
  if (const char* text = gst_structure_get_string(stats, "pre-process-backend")) {
    seen.backend = text;
  }
  gst_structure_free(stats);
  return seen;
}

bool has_gpu() {
  ElementRig rig("heterodetect", detector_properties() + " device=GPU");
  return rig.start(kPreProcessCaps);
}

TEST(PreProcess, NamesOfDlStreamerChooseTheHost) {
  for (const char* name : {"auto", "cpu", "ie", "opencv"}) {
    const Seen seen = run(std::string("pre-process-backend=") + name);
    EXPECT_TRUE(seen.errors.empty()) << name << ": " << seen.errors.front();
    EXPECT_EQ(seen.backend, "cpu") << name;
  }
}

TEST(PreProcess, TheGpuConvertsUnlessTheHostIsAskedFor) {
  if (!has_gpu()) GTEST_SKIP() << "OpenCL finds no device";
  for (const char* device : {"GPU", "HETERO:GPU,CPU"}) {
    const std::string on = std::string("device=") + device + " pre-process-backend=";
    EXPECT_EQ(run(on + "auto").backend, "opencl") << device;
    EXPECT_EQ(run(on + "opencl").backend, "opencl") << device;
    EXPECT_EQ(run(on + "cpu").backend, "cpu") << device;
    EXPECT_EQ(run(on + "ie").backend, "cpu") << device;
  }
}

TEST(PreProcess, OpenClNeedsADeviceThatHasIt) {
  const Seen seen = run("device=CPU pre-process-backend=opencl");
  ASSERT_EQ(seen.errors.size(), 1u);
  for (const char* word : {"pre-process-backend=opencl", "CPU", "device=GPU"}) {
    EXPECT_NE(seen.errors[0].find(word), std::string::npos) << seen.errors[0];
  }
}

TEST(PreProcess, TheVideoProcessorNeedsSurfaces) {
  for (const char* name : {"va", "vaapi", "va-surface-sharing", "vaapi-surface-sharing"}) {
    ElementRig rig("heterodetect", detector_properties() + " pre-process-backend=" + name);
    ASSERT_TRUE(rig.start(kPreProcessCaps));
    EXPECT_EQ(rig.push(rig.frame(0)), GST_FLOW_ERROR);
    const std::vector<std::string> errors = rig.errors();
    ASSERT_EQ(errors.size(), 1u) << name;
    for (const char* word : {"pre-process-backend=va", "NV12", "system memory", "vapostproc"}) {
      EXPECT_NE(errors[0].find(word), std::string::npos) << errors[0];
    }
  }
}

TEST(PreProcess, DmaBufsAreTakenByTheirCaps) {
  ElementRig rig("heterodetect", detector_properties());
#if GST_CHECK_VERSION(1, 24, 0)
  const char caps[] =
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=320,height=192,"
      "framerate=25/1";
#else
  const char caps[] = "video/x-raw(memory:DMABuf),format=NV12,width=320,height=192,framerate=25/1";
#endif
  GstCaps* wanted = gst_caps_from_string(caps);
  GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
  EXPECT_TRUE(gst_pad_query_accept_caps(pad, wanted));
  GstCaps* tiled = gst_caps_from_string(
      "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002,width=320,"
      "height=192,framerate=25/1");
  EXPECT_FALSE(gst_pad_query_accept_caps(pad, tiled)) << "not linear";
  gst_caps_unref(tiled);
  gst_caps_unref(wanted);
  gst_object_unref(pad);
}

TEST(PreProcess, InterlacedVideoIsWarnedOfOnce) {
  PipelineRun run(
      "videotestsrc num-buffers=3 ! video/x-raw,format=NV12,width=320,height=192,"
      "interlace-mode=interleaved ! heterodetect name=detect " +
      detector_properties() + " ! fakesink");
  const Outcome outcome = run.play();
  EXPECT_EQ(outcome.problem(), "");
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_EQ(outcome.warnings[0].element, "detect");
  EXPECT_NE(outcome.warnings[0].text.find("interlaced"), std::string::npos)
      << outcome.warnings[0].text;
}

/// The outputs of the detector for a picture that is red on the left and blue on the right: a
/// checksum.
size_t outputs(const std::string& properties) {
  ElementRig rig("heteroinference", "model=" + detector_model() + " model-proc=" + detector_proc() +
                                        " metadata-form=roi device=CPU " + properties);
  EXPECT_TRUE(rig.start("video/x-raw,format=RGB,width=64,height=256,framerate=25/1"))
      << rig.errors().front();
  std::string text;
  rig.on_buffer = [&](GstBuffer* buffer) {
    auto* meta = gst_buffer_get_video_region_of_interest_meta(buffer);
    for (GList* item = meta ? meta->params : nullptr; item; item = item->next) {
      const GValue* data =
          gst_structure_get_value(static_cast<GstStructure*>(item->data), "data_buffer");
      GVariant* variant = data ? g_value_get_variant(data) : nullptr;
      if (!variant) continue;
      text.append(static_cast<const char*>(g_variant_get_data(variant)),
                  g_variant_get_size(variant));
    }
    return GST_FLOW_OK;
  };
  GstBuffer* buffer = rig.frame(0, 0);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  for (gsize pixel = 0; pixel < map.size / 3; ++pixel)
    map.data[3 * pixel + (pixel % 64 < 32 ? 0 : 2)] = 200;
  gst_buffer_unmap(buffer, &map);
  EXPECT_EQ(rig.push(buffer), GST_FLOW_OK);
  rig.event(gst_event_new_eos());
  EXPECT_TRUE(rig.wait_for("eos"));
  EXPECT_FALSE(text.empty());
  return std::hash<std::string>()(text);
}

TEST(PreProcess, ConfigWinsOverTheDescriptor) {
  const size_t plain = outputs("");
  for (const char* config : {"resize_type=standard", "resize_type=crop",
                             "resize_type=fit_to_window", "reverse_input_channels=true",
                             "mean_values=20", "scale_values=\\[2,2,1\\]", "pad_value=3"}) {
    EXPECT_NE(outputs(std::string("pre-process-config=\"") + config + "\""), plain) << config;
  }
  // Those that the descriptor has.
  EXPECT_EQ(outputs("pre-process-config=\"resize_type=fit_to_window_letterbox,pad_value=114,"
                    "reverse_input_channels=false,mean_values=0,scale_values=1\""),
            plain);
}

TEST(PreProcess, AWrongConfigIsAnError) {
  for (const char* config :
       {"resize=crop", "resize_type=tall", "pad_value=300", "scale_values=0"}) {
    const Seen seen = run(std::string("pre-process-config=") + config);
    ASSERT_EQ(seen.errors.size(), 1u) << config;
    EXPECT_NE(seen.errors[0].find(std::string(config).substr(0, 6)), std::string::npos)
        << seen.errors[0];
  }
}

}  // namespace
}  // namespace het::gst_test
