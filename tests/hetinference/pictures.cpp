// Pictures in VA surfaces and DMA-BUFs through the C interface: the same objects are found as in
// host memory, nothing is copied, and the application's memory is given back.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "hetinference/cpp.h"
#ifdef HET_VA
#include "tests/va/test_display.h"
#endif

namespace {

using hetinference::make_struct;
using hetinference::VisionModel;

/// Label and box of an object, in the order of the results.
using Objects = std::vector<std::tuple<std::string, float, float, float, float, float>>;

void count_up(void* counter) {
  ++*static_cast<int*>(counter);
}

class Pictures : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string root = std::getenv("HET_SOURCE_ROOT");
    const cv::Mat bgr = cv::imread(root + "/docs/demo.jpg");
    ASSERT_FALSE(bgr.empty());
    width_ = bgr.cols & ~1;
    height_ = bgr.rows & ~1;
    cv::Mat i420;
    cv::cvtColor(bgr(cv::Rect(0, 0, width_, height_)), i420, cv::COLOR_BGR2YUV_I420);
    const size_t luma = static_cast<size_t>(width_) * static_cast<size_t>(height_);
    nv12_.assign(i420.data, i420.data + luma);
    for (size_t i = 0; i < luma / 4; ++i) {
      nv12_.push_back(i420.data[luma + i]);
      nv12_.push_back(i420.data[luma + luma / 4 + i]);
    }
    const std::string models = root + "/pipelines/demo/models/scene_detector";
    const std::string model = models + ".onnx";
    const std::string model_proc = models + ".json";
    auto settings = make_struct<HetVisionSettings>();
    settings.model = model.c_str();
    settings.model_proc = model_proc.c_str();
    settings.device = GetParam();
    model_ = core_.load_vision_model(settings);
    request_ = model_.create_request();
  }

  HetPicture described() {
    auto picture = make_struct<HetPicture>();
    picture.format = HET_PIXEL_NV12;
    picture.width = width_;
    picture.height = height_;
    picture.release = count_up;
    picture.user = &released_;
    return picture;
  }
  HetPicture host_picture() {
    HetPicture picture = described();
    for (size_t i = 0; i < 2; ++i) {
      picture.planes[i] = nv12_.data() + (i == 0 ? 0 : luma());
      picture.stride_bytes[i] = width_;
      picture.size_bytes[i] = i == 0 ? luma() : luma() / 2;
    }
    return picture;
  }
  size_t luma() const { return static_cast<size_t>(width_) * static_cast<size_t>(height_); }

  Objects found(const HetPicture& picture, const HetRegion* region = nullptr) {
    released_ = 0;
    if (region) {
      model_.set_picture(request_, picture, *region);
    } else {
      model_.set_picture(request_, picture);
    }
    request_.infer();
    EXPECT_EQ(released_, 1);
    HetResults* handle = nullptr;
    hetinference::check(het_vision_model_results(model_.get(), request_.get(), width_, height_,
                                                 region, 0, 0.0f, &handle));
    Objects objects;
    const hetinference::Results results(handle);  // the labels are its own
    for (const HetFoundObject& object : results.objects()) {
      objects.emplace_back(object.label, object.confidence, object.x_min, object.y_min,
                           object.x_max, object.y_max);
    }
    return objects;
  }
  /// What set_picture() says about a picture that cannot be; the memory is not taken.
  std::string refused(const HetPicture& picture, HetStatus status) {
    released_ = 0;
    EXPECT_EQ(het_vision_model_set_picture(model_.get(), request_.get(), &picture, nullptr, 0),
              status);
    EXPECT_EQ(released_, 0);
    return het_last_error();
  }
  HetRegion region() const {
    return {sizeof(HetRegion), width_ / 8, height_ / 8, width_ * 3 / 4, height_ * 3 / 4};
  }

  int width_ = 0;
  int height_ = 0;
  std::vector<unsigned char> nv12_;
  int released_ = 0;
  hetinference::Core core_;
  VisionModel model_;
  hetinference::Request request_;
};

TEST_P(Pictures, OfTheFirstVersionAreInHostMemory) {
  HetPicture picture = host_picture();
  const Objects wanted = found(picture);
  EXPECT_FALSE(wanted.empty());
  // What lies behind an older program's struct is not read.
  std::memset(reinterpret_cast<char*>(&picture) + offsetof(HetPicture, memory), 0xff,
              sizeof picture - offsetof(HetPicture, memory));
  EXPECT_NE(refused(picture, HET_INVALID_ARGUMENT).find("HET_MEMORY_"), std::string::npos);
  picture.struct_size = offsetof(HetPicture, memory);
  EXPECT_EQ(found(picture), wanted);
  --picture.struct_size;
  EXPECT_NE(refused(picture, HET_INVALID_ARGUMENT).find("struct_size"), std::string::npos);
}

TEST_P(Pictures, InDmaBufs) {
  const HetRegion part = region();
  const Objects wanted = found(host_picture());
  const Objects wanted_in_part = found(host_picture(), &part);
  EXPECT_NE(wanted, wanted_in_part);
  // No machine of the tests makes DMA-BUFs; this is mapped in the same way.
  const int fd = memfd_create("picture", 0);
  ASSERT_GE(fd, 0);
  constexpr size_t kBefore = 4096;
  const size_t size = kBefore + nv12_.size();
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(size)), 0);
  ASSERT_EQ(pwrite(fd, nv12_.data(), nv12_.size(), kBefore), static_cast<ssize_t>(nv12_.size()));
  HetPicture picture = described();
  picture.memory = HET_MEMORY_DMA_BUF;
  for (size_t i = 0; i < 2; ++i) {
    picture.fds[i] = fd;
    picture.offset_bytes[i] = kBefore + (i == 0 ? 0 : luma());
    picture.stride_bytes[i] = width_;
    picture.size_bytes[i] = size;
  }
  EXPECT_EQ(found(picture), wanted);
  EXPECT_EQ(found(picture, &part), wanted_in_part);
  // A plane each.
  const int chroma = memfd_create("chroma", 0);
  ASSERT_EQ(write(chroma, nv12_.data() + luma(), luma() / 2), static_cast<ssize_t>(luma() / 2));
  HetPicture two = picture;
  two.fds[1] = chroma;
  two.offset_bytes[1] = 0;
  two.size_bytes[1] = luma() / 2;
  EXPECT_EQ(found(two), wanted);
  two.size_bytes[1] += 1;
  EXPECT_NE(refused(two, HET_INVALID_ARGUMENT).find("has"), std::string::npos);
  close(chroma);

  HetPicture wrong = picture;
  wrong.drm_modifier = 0x100000000000001;
  EXPECT_NE(refused(wrong, HET_NOT_SUPPORTED).find("0x100000000000001"), std::string::npos);
  wrong = picture;
  wrong.fds[0] = -1;
  EXPECT_NE(refused(wrong, HET_INVALID_ARGUMENT).find("-1 is no DMA-BUF"), std::string::npos);
  wrong = picture;
  wrong.planes[0] = nv12_.data();
  EXPECT_NE(refused(wrong, HET_INVALID_ARGUMENT).find("must be null"), std::string::npos);
  wrong = picture;
  wrong.offset_bytes[1] += 1;
  refused(wrong, HET_INVALID_ARGUMENT);
  close(fd);
}

#ifdef HET_VA
TEST_P(Pictures, InSurfaces) {
  const HetRegion part = region();
  const Objects wanted = found(host_picture());
  const Objects wanted_in_part = found(host_picture(), &part);
  const het::va_test::TestDisplay va;
  if (!va.problem().empty()) GTEST_SKIP() << va.problem();
  VASurfaceID surface = VA_INVALID_SURFACE;
  ASSERT_EQ(vaCreateSurfaces(va.get(), VA_RT_FORMAT_YUV420, static_cast<unsigned>(width_),
                             static_cast<unsigned>(height_), &surface, 1, nullptr, 0),
            VA_STATUS_SUCCESS);
  {
    const het::va_test::MappedSurface mapped(va.get(), surface);
    ASSERT_TRUE(mapped.ok());
    for (int y = 0; y < height_ * 3 / 2; ++y) {
      std::copy_n(nv12_.data() + static_cast<size_t>(y) * static_cast<size_t>(width_), width_,
                  y < height_ ? mapped.row(0, y) : mapped.row(1, y - height_));
    }
  }
  int closed = 0;
  {
    const hetinference::Display display(va.get(), count_up, &closed);
    HetPicture picture = display.picture(surface, HET_PIXEL_NV12, width_, height_);
    picture.release = count_up;
    picture.user = &released_;
    EXPECT_EQ(found(picture), wanted);
    EXPECT_EQ(found(picture, &part), wanted_in_part);
    EXPECT_EQ(display.counts().mapped, 2u);
    EXPECT_EQ(display.counts().copied, 0u);
    va.faults().no_derive = true;
    const hetinference::Display copying(va.get());
    picture.display = copying.get();
    EXPECT_EQ(found(picture), wanted);
    EXPECT_EQ(copying.counts().copied, 1u);
    va.faults().no_derive = false;
    picture.display = nullptr;
    EXPECT_NE(refused(picture, HET_INVALID_ARGUMENT).find("display"), std::string::npos);
    picture.display = display.get();
    picture.stride_bytes[0] = width_;
    EXPECT_NE(refused(picture, HET_INVALID_ARGUMENT).find("must be zero"), std::string::npos);
    picture.stride_bytes[0] = 0;
    // A picture outlives the handle; a lost device is an error of the execution.
    {
      const hetinference::Display short_lived(va.get(), count_up, &closed);
      picture.display = short_lived.get();
      model_.set_picture(request_, picture);
    }
    EXPECT_EQ(closed, 0);
    va.faults().lost = true;
    EXPECT_EQ(het_request_infer(request_.get()), HET_DEVICE_LOST) << het_last_error();
    va.faults().lost = false;
  }
  request_ = {};
  model_ = {};
  EXPECT_EQ(closed, 2);
  vaDestroySurfaces(va.get(), &surface, 1);
}
#endif

INSTANTIATE_TEST_SUITE_P(Devices, Pictures, testing::Values("CPU", "HETERO:GPU,CPU"),
                         [](const auto& device) {
                           return std::string(device.param[0] == 'C' ? "Cpu" : "Hetero");
                         });

}  // namespace
