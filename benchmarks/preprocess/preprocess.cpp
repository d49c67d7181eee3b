// NV12 1920x1080 to planar float32 RGB: ours beside OpenCV's two ways. The first column of the
// names is the method, the argument the side of the square target; threads convert a picture each.
//   ours       preprocess(): colour, crop, resize and normalisation in one pass
//   colour     OpenCV, cvtColorTwoPlane, then resize, then float planes: our quality
//   resize     OpenCV, resize of the planes, then cvtColorTwoPlane, then float planes
#include <benchmark/benchmark.h>

#include <cstdint>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <random>
#include <vector>

#include "inference/preprocess/preprocess.h"
#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

namespace {

constexpr int kWidth = 1920;
constexpr int kHeight = 1080;

het::Image noise(het::PixelFormat format, int width = kWidth, int height = kHeight) {
  auto image = het::make_host_image(format, width, height);
  if (!image) std::abort();
  std::mt19937 random(1);
  std::byte* bytes = image->planes[0].buffer->host();
  for (size_t i = 0; i < image->planes[0].buffer->size_bytes(); ++i) {
    bytes[i] = static_cast<std::byte>(random() >> 24);
  }
  return std::move(*image);
}

het::Tensor target(het::ElementType type, int64_t side) {
  auto tensor = het::Tensor::allocate({type, {1, 3, side, side}, het::Layout::NCHW});
  if (!tensor) std::abort();
  return std::move(*tensor);
}

void run_ours(benchmark::State& state, het::PixelFormat format, het::ElementType type,
              het::ResizeMode mode, int width = kWidth, int height = kHeight) {
  const het::Image image = noise(format, width, height);
  het::PreprocessDesc desc;
  desc.color_order = het::ColorOrder::RGB;
  desc.resize = mode;
  desc.range_high = 1.0f;
  het::Tensor tensor = target(type, state.range(0));
  for (auto _ : state) {
    if (!het::preprocess(image, image.full(), desc, tensor).ok()) std::abort();
    benchmark::DoNotOptimize(tensor.bytes());
  }
}

void ours(benchmark::State& state) {
  run_ours(state, het::PixelFormat::NV12, het::ElementType::Float32, het::ResizeMode::Stretch);
}
void ours_letterbox(benchmark::State& state) {
  run_ours(state, het::PixelFormat::NV12, het::ElementType::Float32,
           het::ResizeMode::LetterboxCentre);
}
void ours_uint8(benchmark::State& state) {
  run_ours(state, het::PixelFormat::NV12, het::ElementType::UInt8, het::ResizeMode::Stretch);
}
void ours_i420(benchmark::State& state) {
  run_ours(state, het::PixelFormat::I420, het::ElementType::Float32, het::ResizeMode::Stretch);
}
void ours_bgr(benchmark::State& state) {
  run_ours(state, het::PixelFormat::BGR, het::ElementType::Float32, het::ResizeMode::Stretch);
}
/// What the pipeline benchmark's video needs: 480x270 into YOLOX's 416.
void ours_street(benchmark::State& state) {
  run_ours(state, het::PixelFormat::I420, het::ElementType::Float32,
           het::ResizeMode::LetterboxTopLeft, 480, 270);
}

struct Planes {
  cv::Mat luma;
  cv::Mat chroma;
};

Planes planes_of(const het::Image& image) {
  const auto plane = [&](int index, int rows, int columns, int type) {
    auto* address = const_cast<std::byte*>(image.plane(index));
    return cv::Mat(rows, columns, type, address,
                   static_cast<size_t>(image.planes[static_cast<size_t>(index)].stride_bytes));
  };
  return {plane(0, kHeight, kWidth, CV_8UC1), plane(1, kHeight / 2, kWidth / 2, CV_8UC2)};
}

/// Interleaved bytes to float planes in 0..1.
class FloatPlanes {
 public:
  explicit FloatPlanes(int side) : values_(static_cast<size_t>(3 * side * side)) {
    for (int c = 0; c < 3; ++c) {
      channels_.emplace_back(side, side, CV_32FC1, values_.data() + c * side * side);
    }
  }
  void fill(const cv::Mat& picture) {
    cv::split(picture, bytes_);
    for (size_t c = 0; c < 3; ++c) bytes_[c].convertTo(channels_[c], CV_32F, 1.0 / 255.0);
    benchmark::DoNotOptimize(values_.data());
  }

 private:
  std::vector<float> values_;
  std::vector<cv::Mat> channels_;
  std::vector<cv::Mat> bytes_;
};

void colour_then_resize(benchmark::State& state) {
  cv::setNumThreads(1);
  const het::Image image = noise(het::PixelFormat::NV12);
  const Planes planes = planes_of(image);
  const int side = static_cast<int>(state.range(0));
  FloatPlanes result(side);
  cv::Mat rgb;
  cv::Mat small;
  for (auto _ : state) {
    cv::cvtColorTwoPlane(planes.luma, planes.chroma, rgb, cv::COLOR_YUV2RGB_NV12);
    cv::resize(rgb, small, {side, side}, 0, 0, cv::INTER_LINEAR);
    result.fill(small);
  }
}

void resize_then_colour(benchmark::State& state) {
  cv::setNumThreads(1);
  const het::Image image = noise(het::PixelFormat::NV12);
  const Planes planes = planes_of(image);
  const int side = static_cast<int>(state.range(0));
  FloatPlanes result(side);
  cv::Mat luma;
  cv::Mat chroma;
  cv::Mat rgb;
  for (auto _ : state) {
    cv::resize(planes.luma, luma, {side, side}, 0, 0, cv::INTER_LINEAR);
    cv::resize(planes.chroma, chroma, {side / 2, side / 2}, 0, 0, cv::INTER_LINEAR);
    cv::cvtColorTwoPlane(luma, chroma, rgb, cv::COLOR_YUV2RGB_NV12);
    result.fill(rgb);
  }
}

void sizes(benchmark::internal::Benchmark* b) {
  b->Arg(224)->Arg(300)->Arg(416)->Arg(640)->Arg(1024)->Unit(benchmark::kMillisecond);
}

BENCHMARK(ours)->Apply(sizes)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(resize_then_colour)->Apply(sizes)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(colour_then_resize)->Apply(sizes)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(ours_letterbox)->Apply(sizes);
BENCHMARK(ours_uint8)->Apply(sizes);
BENCHMARK(ours_i420)->Apply(sizes);
BENCHMARK(ours_bgr)->Apply(sizes);
BENCHMARK(ours_street)->Arg(416)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
