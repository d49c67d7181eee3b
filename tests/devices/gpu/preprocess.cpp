#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "devices/gpu/gpu_compiled_model.h"
#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

Image noise_image(PixelFormat format, int width, int height, unsigned seed) {
  Image image = *make_host_image(format, width, height, nullptr, 16);
  std::mt19937 generator(seed);
  std::byte* const bytes = image.planes[0].buffer->host();
  for (size_t i = 0; i < image.planes[0].buffer->size_bytes(); ++i) {
    bytes[i] = static_cast<std::byte>(generator());
  }
  return image;
}

class GpuPreprocess : public GpuTest {
 protected:
  /// A model that gives its picture back, filled on the GPU, and preprocess_reference().
  void check(const PreprocessDesc& desc, ElementType type, const std::vector<ImageRegion>& pictures,
             int width, int height) {
    const int64_t channels = desc.color_order == ColorOrder::Gray ? 1 : 3;
    const auto batch = static_cast<int64_t>(pictures.size());
    Shape shape{batch, channels, height, width};
    if (desc.tensor_layout == Layout::NHWC) shape = {batch, height, width, channels};
    ModelMaker maker;
    Value* x = maker.input(shape, type);
    maker.output(maker.op("Identity", {x}));
    maker.model().set_preprocess(0, desc);
    const auto compiled = compile(maker.model());
    ASSERT_NE(compiled, nullptr);
    const auto request = *compiled->create_infer_request();
    Tensor wanted = *Tensor::allocate({type, shape});
    for (size_t i = 0; i < pictures.size(); ++i) {
      const auto item = static_cast<int64_t>(i);
      const Status set = request->set_image(0, pictures[i].image, pictures[i].roi, i);
      ASSERT_TRUE(set.ok()) << set.message();
      const Status made =
          preprocess_reference(pictures[i].image, pictures[i].roi, desc, wanted, item);
      ASSERT_TRUE(made.ok()) << made.message();
    }
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    compare_tensors(request->output(0), wanted, type == ElementType::Float16 ? 1e-3f : 1e-6f, 0);
  }
};

TEST_F(GpuPreprocess, EveryFormatEqualsTheReference) {
  const PreprocessDesc desc;
  for (const PixelFormat format :
       {PixelFormat::NV12, PixelFormat::I420, PixelFormat::RGB, PixelFormat::BGR, PixelFormat::RGBx,
        PixelFormat::BGRx, PixelFormat::RGBA, PixelFormat::BGRA, PixelFormat::RGBP,
        PixelFormat::BGRP, PixelFormat::GRAY8, PixelFormat::P010, PixelFormat::YUY2,
        PixelFormat::UYVY, PixelFormat::GBR}) {
    SCOPED_TRACE(to_string(format));
    const Image image = noise_image(format, 37, 23, 5);
    check(desc, ElementType::Float32, {{image, image.full()}}, 20, 31);
  }
}

TEST_F(GpuPreprocess, TheTensorMayHaveStrides) {
  ModelMaker maker;
  maker.output(maker.op("Identity", {maker.input({1, 3, 16, 16})}));
  const PreprocessDesc desc;
  maker.model().set_preprocess(0, desc);
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  const TensorDesc input = compiled->inputs()[0].desc;
  std::vector<float> wide(3 * 16 * 40);
  const Tensor strided =
      *Tensor::wrap(input, wide.data(), wide.size() * sizeof(float), {},
                    {3 * 16 * 40 * sizeof(float), 16 * 40 * sizeof(float), 40 * sizeof(float), 4});
  const Image image = noise_image(PixelFormat::NV12, 64, 48, 8);
  ASSERT_TRUE(request->set_input(0, strided).ok());
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  const Status status = request->infer();
  ASSERT_TRUE(status.ok()) << status.message();
  Tensor wanted = *Tensor::allocate(input);
  ASSERT_TRUE(preprocess_reference(image, image.full(), desc, wanted, 0).ok());
  compare_tensors(request->output(0), wanted, 1e-6f, 0);
}

TEST_F(GpuPreprocess, PartsOfAPictureAndBatches) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::RGB;
  const Image nv12 = noise_image(PixelFormat::NV12, 64, 48, 6);
  const Image i420 = noise_image(PixelFormat::I420, 33, 21, 7);
  check(desc, ElementType::Float32,
        {{nv12, {3, 5, 17, 29}}, {i420, {1, 1, 8, 9}}, {nv12, {-4, 30, 80, 40}}}, 24, 24);
}

TEST_F(GpuPreprocess, LetterboxNormalisationLayoutsAndTypes) {
  const Image image = noise_image(PixelFormat::NV12, 50, 30, 8);
  for (const ResizeMode resize : {ResizeMode::Stretch, ResizeMode::LetterboxCentre,
                                  ResizeMode::LetterboxTopLeft, ResizeMode::CentralCrop}) {
    for (const ElementType type :
         {ElementType::Float32, ElementType::Float16, ElementType::UInt8}) {
      for (const Layout layout : {Layout::NCHW, Layout::NHWC}) {
        PreprocessDesc desc;
        desc.resize = resize;
        desc.tensor_layout = layout;
        desc.pad_value = {114.0f, 20.0f, 7.0f};
        desc.border_x = type == ElementType::Float16 ? 3 : 0;
        desc.border_y = layout == Layout::NHWC ? 2 : 0;
        if (type != ElementType::UInt8) {
          desc.range_high = 1.0f;
          desc.mean = {0.4f, 0.5f, 0.3f};
          desc.std = {0.2f, 0.3f, 0.25f};
        }
        check(desc, type, {{image, image.full()}}, 32, 28);
      }
    }
  }
}

TEST_F(GpuPreprocess, GrayOfColoursAndOfLuma) {
  PreprocessDesc desc;
  desc.color_order = ColorOrder::Gray;
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::BGRx, PixelFormat::GRAY8,
                                   PixelFormat::P010, PixelFormat::UYVY}) {
    SCOPED_TRACE(to_string(format));
    Image image = noise_image(format, 40, 30, 9);
    image.matrix = ColorMatrix::BT709;
    image.range = ColorRange::Full;
    check(desc, ElementType::Float32, {{image, {2, 3, 30, 20}}}, 16, 16);
  }
}

TEST_F(GpuPreprocess, ProgramsAreKeptInTheCacheFolder) {
  const std::string folder = testing::TempDir() + "pictures-" + std::to_string(::getpid());
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({1, 3, 16, 16})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  const Image image = noise_image(PixelFormat::NV12, 20, 30, 3);
  for (const bool is_first : {true, false}) {
    // A device of its own has nothing built yet.
    const auto device = *gpu::make_device(core_, "");
    const auto compiled = device->compile_model(maker.model(), {{"CACHE_DIR", folder}}, nullptr);
    ASSERT_TRUE(compiled) << compiled.error().message();
    const auto request = *(*compiled)->create_infer_request();
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(request->infer().ok());
    const auto& context = dynamic_cast<const gpu::GpuCompiledModel&>(**compiled).context();
    EXPECT_EQ(context->programs().counts().built > 0, is_first);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(GpuPreprocess, TheSameRequestTakesPicturesOfOtherSizes) {
  ModelMaker maker;
  maker.output(maker.op("Identity", {maker.input({1, 3, 16, 16})}));
  const PreprocessDesc desc;
  maker.model().set_preprocess(0, desc);
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  for (const int width : {20, 90, 33, 20}) {
    const Image image = noise_image(PixelFormat::NV12, width, 40, static_cast<unsigned>(width));
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(request->infer().ok());
    Tensor wanted = *Tensor::allocate({ElementType::Float32, {1, 3, 16, 16}});
    ASSERT_TRUE(preprocess_reference(image, image.full(), desc, wanted).ok());
    compare_tensors(request->output(0), wanted, 1e-6f, 0);
  }
}

TEST_F(GpuPreprocess, RunsOnTheDevice) {
  ModelMaker maker;
  maker.output(maker.op("Identity", {maker.input({1, 3, 16, 16})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  const auto compiled = compile(maker.model(), {{"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  const Image image = noise_image(PixelFormat::NV12, 1920, 1080, 1);
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  ASSERT_TRUE(request->infer().ok());
  const ProfileRow row = request->profiling()[0];
  EXPECT_EQ(row.node_name, "preprocess");
  EXPECT_EQ(row.exec_type, "opencl");
  EXPECT_EQ(row.status, ProfileStatus::Executed);
}

TEST_F(GpuPreprocess, TheHostConvertsOnRequest) {
  ModelMaker maker;
  maker.output(maker.op("Identity", {maker.input({1, 3, 16, 16})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  const auto compiled =
      compile(maker.model(), {{"PERF_COUNT", "YES"}, {"GPU_PICTURE_CONVERSION", "HOST"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(compiled->get_property("GPU_PICTURE_CONVERSION").value_or(""), "HOST");
  const auto request = *compiled->create_infer_request();
  const Image image = noise_image(PixelFormat::NV12, 320, 240, 1);
  ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(request->profiling()[0].exec_type, "preprocess");
  Tensor wanted = *Tensor::allocate({ElementType::Float32, {1, 3, 16, 16}});
  ASSERT_TRUE(preprocess_reference(image, image.full(), PreprocessDesc(), wanted).ok());
  compare_tensors(request->output(0), wanted, 1e-6f, 0);
}

}  // namespace
}  // namespace het::gpu_testing
