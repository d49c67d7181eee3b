#include "gst/frames/frame_map.h"

#include <gst/allocators/allocators.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "inference/preprocess/preprocess.h"
#include "inference/tensors/tensor.h"

namespace het::gst {
namespace {

GstVideoInfo info_from(const std::string& caps_text) {
  GstCaps* caps = gst_caps_from_string(caps_text.c_str());
  GstVideoInfo info;
  EXPECT_TRUE(read_video_info(caps, &info)) << caps_text;
  gst_caps_unref(caps);
  return info;
}

TEST(FrameMap, EveryFormatOfTheCapsIsMapped) {
  GstCaps* caps = gst_caps_from_string(GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS));
  const GValue* formats = gst_structure_get_value(gst_caps_get_structure(caps, 0), "format");
  ASSERT_EQ(gst_value_list_get_size(formats), 15u);
  for (guint f = 0; f < gst_value_list_get_size(formats); ++f) {
    const std::string format = g_value_get_string(gst_value_list_get_value(formats, f));
    const GstVideoInfo info = info_from("video/x-raw,width=33,height=17,format=" + format);
    GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
    const auto image = map_frame(buffer, info);
    ASSERT_TRUE(image) << image.error().message();
    EXPECT_EQ(to_string(image->format), format == "P010_10LE" ? "P010" : format);
    EXPECT_EQ(image->width, 33);
    EXPECT_EQ(image->height, 17);
    EXPECT_TRUE(validate(*image).ok()) << validate(*image).message();
    for (int i = 0; i < image->plane_count; ++i) {
      EXPECT_EQ(image->planes[static_cast<size_t>(i)].stride_bytes,
                GST_VIDEO_INFO_PLANE_STRIDE(&info, i));
      EXPECT_EQ(image->plane(i) - image->plane(0),
                static_cast<std::ptrdiff_t>(GST_VIDEO_INFO_PLANE_OFFSET(&info, i) -
                                            GST_VIDEO_INFO_PLANE_OFFSET(&info, 0)))
          << format;
    }
    gst_buffer_unref(buffer);
  }
  gst_caps_unref(caps);
}

TEST(FrameMap, OffsetsAndStridesComeFromVideoMeta) {
  const GstVideoInfo info = info_from("video/x-raw,format=NV12,width=30,height=10");
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 64 * 20 + 1000, nullptr);
  gsize offsets[] = {100, 100 + 64 * 12, 0, 0};
  gint strides[] = {64, 48, 0, 0};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 30, 10,
                                 2, offsets, strides);
  const auto image = map_frame(buffer, info);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->planes[0].stride_bytes, 64);
  EXPECT_EQ(image->planes[1].stride_bytes, 48);
  EXPECT_EQ(image->plane(1) - image->plane(0), 64 * 12);
  gst_buffer_unref(buffer);
}

TEST(FrameMap, PlanesMayBeMemoriesOfTheirOwn) {
  const GstVideoInfo info = info_from("video/x-raw,format=I420,width=16,height=8");
  GstBuffer* buffer = gst_buffer_new();
  for (const gsize size : {128, 32, 32}) {
    gst_buffer_append_memory(buffer, gst_allocator_alloc(nullptr, size, nullptr));
  }
  gsize offsets[] = {0, 128, 160, 0};
  gint strides[] = {16, 8, 8, 0};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 16, 8, 3,
                                 offsets, strides);
  for (guint i = 0; i < 3; ++i) {
    GstMapInfo map;
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
    std::fill_n(map.data, map.size, static_cast<guint8>(i + 1));
    gst_memory_unmap(memory, &map);
  }
  {
    const auto image = map_frame(buffer, info);
    ASSERT_TRUE(image);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(std::to_integer<int>(*image->plane(i)), i + 1);
  }
  EXPECT_EQ(gst_buffer_n_memory(buffer), 3u) << "mapping must not merge memories";
  gst_buffer_unref(buffer);
}

/// A buffer of one DMA-BUF, for which a file in memory stands in, with `content`.
GstBuffer* dma_buf_frame(const std::vector<guint8>& content) {
  const int fd = memfd_create("frame", MFD_CLOEXEC);
  EXPECT_EQ(write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  GstAllocator* allocator = gst_dmabuf_allocator_new();
  GstBuffer* buffer = gst_buffer_new();
  gst_buffer_append_memory(buffer, gst_dmabuf_allocator_alloc(allocator, fd, content.size()));
  gst_object_unref(allocator);
  return buffer;
}

TEST(FrameMap, DmaBufsStaySuchAndAreMappedOnDemand) {
  const GstVideoInfo info = info_from("video/x-raw,format=NV12,width=30,height=10");
  std::vector<guint8> content(64 + 48 * 16);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<guint8>(i * 7);
  GstBuffer* buffer = dma_buf_frame(content);
  gsize offsets[] = {64, 64 + 48 * 10, 0, 0};
  gint strides[] = {48, 48, 0, 0};
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 30, 10,
                                 2, offsets, strides);
  {
    const auto image = map_frame(buffer, info);
    ASSERT_TRUE(image) << image.error().message();
    EXPECT_EQ(image->memory_kind(), MemoryKind::DmaBuf);
    const auto& handle = std::get<DmaBufHandle>(image->planes[0].buffer->handle());
    EXPECT_EQ(handle.fds.front(), gst_dmabuf_memory_get_fd(gst_buffer_peek_memory(buffer, 0)));
    EXPECT_EQ(image->planes[0].buffer, image->planes[1].buffer);
    EXPECT_EQ(image->planes[1].offset, offsets[1]);
    Image host = *make_host_image(PixelFormat::NV12, 30, 10);
    for (int p = 0; p < 2; ++p) {
      for (int y = 0; y < plane_rows(PixelFormat::NV12, p, 10); ++y) {
        const ImagePlane& plane = host.planes[static_cast<size_t>(p)];
        std::memcpy(plane.buffer->host() + plane.offset + y * plane.stride_bytes,
                    content.data() + offsets[p] + static_cast<gsize>(y) * 48, 30);
      }
    }
    host.matrix = image->matrix;
    host.range = image->range;
    Tensor mapped = *Tensor::allocate({ElementType::UInt8, {1, 3, 7, 9}, Layout::NCHW});
    Tensor wanted = *Tensor::allocate({ElementType::UInt8, {1, 3, 7, 9}, Layout::NCHW});
    const Status status = preprocess(*image, image->full(), PreprocessDesc(), mapped);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(preprocess(host, host.full(), PreprocessDesc(), wanted).ok());
    EXPECT_EQ(std::memcmp(mapped.bytes(), wanted.bytes(), wanted.size_bytes()), 0);
  }
  EXPECT_TRUE(gst_buffer_is_writable(buffer)) << "let go";
  gst_buffer_unref(buffer);
}

TEST(FrameMap, ADmaBufThatIsTooSmallIsAnError) {
  const GstVideoInfo info = info_from("video/x-raw,format=NV12,width=30,height=10");
  GstBuffer* buffer = dma_buf_frame(std::vector<guint8>(info.size - 64));
  const auto image = map_frame(buffer, info);
  Tensor tensor = *Tensor::allocate({ElementType::UInt8, {1, 3, 7, 9}, Layout::NCHW});
  EXPECT_FALSE(image && preprocess(*image, image->full(), PreprocessDesc(), tensor).ok());
  gst_buffer_unref(buffer);
}

TEST(FrameMap, TheBufferIsLetGoWithTheLastCopy) {
  const GstVideoInfo info = info_from("video/x-raw,format=I420,width=16,height=8");
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  {
    auto image = map_frame(buffer, info);
    ASSERT_TRUE(image);
    const Image copy = *image;
    image->planes = {};
    EXPECT_FALSE(gst_buffer_is_writable(buffer));
    EXPECT_NE(copy.plane(2), nullptr);
  }
  EXPECT_TRUE(gst_buffer_is_writable(buffer));
  gst_buffer_unref(buffer);
}

TEST(FrameMap, WhatDoesNotFitIsRefused) {
  const GstVideoInfo info = info_from("video/x-raw,format=I420,width=64,height=64");
  GstBuffer* small = gst_buffer_new_allocate(nullptr, 100, nullptr);
  EXPECT_FALSE(map_frame(small, info));
  gst_buffer_unref(small);

  GstBuffer* lying = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  gsize offsets[] = {0, 4096, 5120, 0};
  gint strides[] = {64, 32, 64, 0};  // the last plane would leave the buffer
  gst_buffer_add_video_meta_full(lying, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 64, 64, 3,
                                 offsets, strides);
  EXPECT_FALSE(map_frame(lying, info));
  gst_buffer_unref(lying);

  const GstVideoInfo other = info_from("video/x-raw,format=AYUV,width=64,height=64");
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, other.size, nullptr);
  const auto image = map_frame(buffer, other);
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message().find("AYUV"), std::string::npos);
  gst_buffer_unref(buffer);
}

struct ColorCase {
  const char* caps;
  ColorMatrix matrix;
  ColorRange range;
};

TEST(FrameMap, MatrixAndRangeFollowTheCaps) {
  const ColorCase cases[] = {
      // What jpegdec and avdec_mjpeg say: full-range BT.601.
      {"format=I420,width=640,height=480,colorimetry=1:4:0:0", ColorMatrix::BT601,
       ColorRange::Full},
      {"format=I420,width=640,height=480,colorimetry=bt601", ColorMatrix::BT601, ColorRange::Video},
      {"format=NV12,width=640,height=480,colorimetry=bt709", ColorMatrix::BT709, ColorRange::Video},
      {"format=NV12,width=640,height=480,colorimetry=1:3:0:0", ColorMatrix::BT709,
       ColorRange::Full},
      {"format=P010_10LE,width=640,height=480,colorimetry=bt2020-10", ColorMatrix::BT2020,
       ColorRange::Video},
      // Left open: by the size, video range.
      {"format=I420,width=720,height=576", ColorMatrix::BT601, ColorRange::Video},
      {"format=I420,width=1280,height=720", ColorMatrix::BT709, ColorRange::Video},
      {"format=I420,width=3840,height=2160", ColorMatrix::BT709, ColorRange::Video},
      // Only the range is known, as avdec_h264 says of yuvj420p: it counts, the rest by the size.
      {"format=I420,width=640,height=480,colorimetry=1:0:0:0", ColorMatrix::BT601,
       ColorRange::Full},
      {"format=I420,width=1280,height=720,colorimetry=1:0:0:0", ColorMatrix::BT709,
       ColorRange::Full},
      {"format=GRAY8,width=640,height=480", ColorMatrix::BT601, ColorRange::Full},
  };
  for (const ColorCase& c : cases) {
    const GstVideoInfo info = info_from(std::string("video/x-raw,") + c.caps);
    EXPECT_EQ(color_matrix(info), c.matrix) << c.caps;
    EXPECT_EQ(color_range(info), c.range) << c.caps;
  }
}

}  // namespace
}  // namespace het::gst
