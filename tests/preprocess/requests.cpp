// What preprocess() refuses, how it says so, and memory that must be mapped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "inference/preprocess/preprocess.h"
#include "tests/preprocess/test_pictures.h"

namespace het {
namespace {

using preprocess_tests::largest_difference;
using preprocess_tests::noise_picture;
using preprocess_tests::picture_bytes;
using preprocess_tests::picture_tensor;
using ::testing::HasSubstr;

using Implementation = Status (*)(const Image&, const Rect&, const PreprocessDesc&, Tensor&,
                                  int64_t);

Status alone(const Image& image, const Rect& roi, const PreprocessDesc& desc, Tensor& dst,
             int64_t batch_index) {
  return preprocess(image, roi, desc, dst, batch_index);
}

class Requests : public ::testing::TestWithParam<Implementation> {
 protected:
  Status run(const Image& image, const Rect& roi, Tensor& tensor, int64_t batch_index = 0) const {
    return GetParam()(image, roi, desc_, tensor, batch_index);
  }
  void expect_error(const Status& status, StatusCode code, const std::string& text) const {
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_THAT(status.message(), HasSubstr(text));
  }

  PreprocessDesc desc_;
  Image image_ = noise_picture(PixelFormat::NV12, 32, 24, 1);
  Tensor tensor_ = picture_tensor(desc_, ElementType::Float32, 16, 12);
};

TEST_P(Requests, EmptyRoi) {
  expect_error(run(image_, {0, 0, 0, 0}, tensor_), StatusCode::InvalidArgument, "0x0 pixels at");
  expect_error(run(image_, {5, 5, 10, 0}, tensor_), StatusCode::InvalidArgument, "10x0 pixels at");
  expect_error(run(image_, {5, 5, -10, 4}, tensor_), StatusCode::InvalidArgument, "-10x4 pixels");
  expect_error(run(image_, {32, 0, 4, 4}, tensor_), StatusCode::InvalidArgument, "(32, 0)");
  expect_error(run(image_, {-8, 0, 8, 4}, tensor_), StatusCode::InvalidArgument, "32x24 picture");
  const int lowest = std::numeric_limits<int>::min();
  expect_error(run(image_, {lowest, lowest, lowest, lowest}, tensor_), StatusCode::InvalidArgument,
               "ROI");
}

TEST_P(Requests, PartlyVisibleRoiWorks) {
  EXPECT_TRUE(run(image_, {-8, -8, 9, 9}, tensor_).ok());
  EXPECT_TRUE(run(image_, {31, 23, 100, 100}, tensor_).ok());
}

TEST_P(Requests, BatchIndexOutOfRange) {
  expect_error(run(image_, image_.full(), tensor_, 1), StatusCode::InvalidArgument,
               "no batch item 1");
  expect_error(run(image_, image_.full(), tensor_, -1), StatusCode::InvalidArgument,
               "no batch item -1");
}

TEST_P(Requests, MissingTensor) {
  Tensor none;
  expect_error(run(image_, image_.full(), none), StatusCode::InvalidArgument, "no tensor");
}

TEST_P(Requests, MalformedPicture) {
  Image truncated = image_;
  truncated.planes[1].offset += 1;
  expect_error(run(truncated, truncated.full(), tensor_), StatusCode::InvalidArgument, "plane 1");
  Image narrow = image_;
  narrow.planes[0].stride_bytes = 31;
  expect_error(run(narrow, narrow.full(), tensor_), StatusCode::InvalidArgument, "stride 31");
  Image negative = image_;
  negative.planes[0].stride_bytes = -32;
  EXPECT_EQ(run(negative, negative.full(), tensor_).code(), StatusCode::InvalidArgument);
}

TEST_P(Requests, TensorInDeviceMemory) {
  class DeviceBuffer : public Buffer {
   public:
    DeviceBuffer() : Buffer(MemoryKind::OpenClBuffer, 1 << 20, nullptr, OpenClHandle{}) {}
  };
  auto tensor = Tensor::view(tensor_.desc(), std::make_shared<DeviceBuffer>());
  ASSERT_TRUE(tensor.has_value());
  expect_error(run(image_, image_.full(), *tensor), StatusCode::NotSupported, "OpenCL buffer");
}

TEST_P(Requests, MisalignedTensor) {
  auto buffer = allocate_host_buffer(tensor_.size_bytes() + 1);
  ASSERT_TRUE(buffer.has_value());
  auto tensor = Tensor::view(tensor_.desc(), *buffer, 1);
  ASSERT_TRUE(tensor.has_value());
  expect_error(run(image_, image_.full(), *tensor), StatusCode::InvalidArgument, "aligned");
}

/// Memory that has no host address until it is mapped.
class SurfaceBuffer : public Buffer {
 public:
  explicit SurfaceBuffer(BufferPtr content)
      : Buffer(MemoryKind::VaSurface, content->size_bytes(), nullptr, VaSurfaceHandle{}),
        content_(std::move(content)) {}
  Result<std::byte*> map(MapAccess access) override {
    if (lost) return error(StatusCode::DeviceLost, "the display is gone");
    ++maps;
    read_only = access == MapAccess::Read;
    return content_->host();
  }
  void unmap() override { ++unmaps; }

  int maps = 0;
  int unmaps = 0;
  bool read_only = false;
  bool lost = false;

 private:
  BufferPtr content_;
};

TEST_P(Requests, SurfaceIsMappedOnce) {
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::I420, PixelFormat::RGBP}) {
    const Image host = noise_picture(format, 32, 24, 1);
    auto surface = std::make_shared<SurfaceBuffer>(host.planes[0].buffer);
    Image image = host;
    for (int p = 0; p < image.plane_count; ++p)
      image.planes[static_cast<size_t>(p)].buffer = surface;
    Tensor expected = picture_tensor(desc_, ElementType::Float32, 16, 12);
    ASSERT_TRUE(run(host, host.full(), expected).ok());
    const Status status = run(image, image.full(), tensor_);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(largest_difference(expected, tensor_, 1.0), 0.0);
    EXPECT_EQ(surface->maps, 1);
    EXPECT_EQ(surface->unmaps, 1);
    EXPECT_TRUE(surface->read_only);
  }
}

TEST_P(Requests, EachOfSeveralBuffersIsMappedAndUnmapped) {
  const Image host = noise_picture(PixelFormat::I420, 32, 24, 1);
  std::vector<std::shared_ptr<SurfaceBuffer>> surfaces;
  Image image = host;
  for (ImagePlane& plane : image.planes) {
    surfaces.push_back(std::make_shared<SurfaceBuffer>(host.planes[0].buffer));
    if (plane.buffer != nullptr) plane.buffer = surfaces.back();
  }
  ASSERT_TRUE(run(image, image.full(), tensor_).ok());
  surfaces[2]->lost = true;
  expect_error(run(image, image.full(), tensor_), StatusCode::DeviceLost, "the display is gone");
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(surfaces[p]->maps, p == 2 ? 1 : 2);
    EXPECT_EQ(surfaces[p]->unmaps, surfaces[p]->maps);
  }
}

TEST_P(Requests, SurfaceThatIsTooSmall) {
  const Image host = noise_picture(PixelFormat::NV12, 32, 24, 1);
  auto surface = std::make_shared<SurfaceBuffer>(host.planes[0].buffer);
  Image image = host;
  for (int p = 0; p < 2; ++p) image.planes[static_cast<size_t>(p)].buffer = surface;
  image.planes[0].stride_bytes = 1 << 20;
  expect_error(run(image, image.full(), tensor_), StatusCode::InvalidArgument, "VA surface");
  EXPECT_EQ(surface->maps, surface->unmaps);
}

TEST_P(Requests, SurfaceThatCannotBeMapped) {
  class OpaqueBuffer : public Buffer {
   public:
    OpaqueBuffer() : Buffer(MemoryKind::VaSurface, 1 << 20, nullptr, VaSurfaceHandle{}) {}
  };
  Image image = image_;
  const auto opaque = std::make_shared<OpaqueBuffer>();
  for (int p = 0; p < 2; ++p) image.planes[static_cast<size_t>(p)].buffer = opaque;
  expect_error(run(image, image.full(), tensor_), StatusCode::NotSupported, "cannot read plane 0");
}

std::string name_of_implementation(const ::testing::TestParamInfo<Implementation>& info) {
  return info.index == 0 ? "OnePass" : "Reference";
}
INSTANTIATE_TEST_SUITE_P(Both, Requests, ::testing::Values(&alone, &preprocess_reference),
                         name_of_implementation);

struct RefusedTensor {
  const char* what;
  TensorDesc tensor;
  StatusCode code;
  const char* text;
};

TEST(PreprocessValidate, Tensors) {
  const PreprocessDesc desc;
  const auto f32 = ElementType::Float32;
  const RefusedTensor refused[] = {
      {"int type", {ElementType::Int32, {1, 3, 8, 8}}, StatusCode::NotSupported, "uint8, float16"},
      {"int8", {ElementType::Int8, {1, 3, 8, 8}}, StatusCode::NotSupported, "int8[1,3,8,8]"},
      {"undefined", {ElementType::Undefined, {1, 3, 8, 8}}, StatusCode::NotSupported, "undefined"},
      {"float8", {ElementType::Float8E5M2, {1, 3, 8, 8}}, StatusCode::NotSupported, "float8e5m2"},
      {"rank 2", {f32, {8, 8}}, StatusCode::ShapeMismatch, "rank 2"},
      {"rank 5", {f32, {1, 1, 3, 8, 8}}, StatusCode::ShapeMismatch, "rank 5"},
      {"rank 0", {f32, {}}, StatusCode::ShapeMismatch, "rank 0"},
      {"one channel", {f32, {1, 1, 8, 8}}, StatusCode::ShapeMismatch, "need 3 channel(s)"},
      {"channels last", {f32, {1, 8, 8, 3}}, StatusCode::ShapeMismatch, "layout NCHW"},
      {"no rows", {f32, {1, 3, 0, 8}}, StatusCode::ShapeMismatch, "sides must be known"},
      {"unknown width", {f32, {1, 3, 8, kUnknownDim}}, StatusCode::ShapeMismatch, "sides"},
      {"huge", {f32, {1, 3, 8, 1 << 20}}, StatusCode::ShapeMismatch, "1 to 65536"},
      {"layout", {f32, {1, 3, 8, 8}, Layout::NHWC}, StatusCode::ShapeMismatch, "has layout NHWC"},
      {"blocked", {f32, {1, 3, 8, 8}, Layout::nChw8c}, StatusCode::ShapeMismatch, "nChw8c"},
  };
  for (const RefusedTensor& row : refused) {
    const Status status = validate(desc, row.tensor);
    EXPECT_EQ(status.code(), row.code) << row.what << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(row.text)) << row.what;
  }
  EXPECT_TRUE(validate(desc, {f32, {kUnknownDim, 3, 8, 8}}).ok());
  EXPECT_TRUE(validate(desc, {f32, {3, 8, 8}, Layout::NCHW}).ok());
  PreprocessDesc gray;
  gray.color_order = ColorOrder::Gray;
  gray.tensor_layout = Layout::NHWC;
  EXPECT_TRUE(validate(gray, {ElementType::UInt8, {2, 8, 8, 1}}).ok());
  EXPECT_EQ(validate(gray, {f32, {1, 8, 8, 3}}).code(), StatusCode::ShapeMismatch);
}

TEST(PreprocessValidate, Descriptions) {
  const TensorDesc tensor{ElementType::Float32, {1, 3, 8, 8}};
  PreprocessDesc desc;
  desc.tensor_layout = Layout::nChw16c;
  EXPECT_THAT(validate(desc, tensor).message(), HasSubstr("nChw16c"));
  desc = {};
  desc.std[1] = 0.0f;
  EXPECT_THAT(validate(desc, tensor).message(), HasSubstr("channel 1"));
  desc = {};
  desc.mean[2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(validate(desc, tensor).message(), HasSubstr("channel 2"));
  desc = {};
  desc.range_high = std::numeric_limits<float>::infinity();
  EXPECT_THAT(validate(desc, tensor).message(), HasSubstr("range"));
  desc = {};
  desc.pad_value[0] = 256.0f;
  EXPECT_THAT(validate(desc, tensor).message(), HasSubstr("pad value 256"));
  desc.pad_value[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(validate(desc, tensor).code(), StatusCode::InvalidArgument);
}

}  // namespace
}  // namespace het
