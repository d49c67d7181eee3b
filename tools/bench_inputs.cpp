#include "tools/bench_inputs.h"

#include <algorithm>
#include <charconv>
#include <random>

#include "tools/npy.h"
#include "tools/picture_file.h"

namespace het {
namespace {

/// Random values of a fixed seed: 0..255 for 8-bit types, 0..1 for floats, 0..1 for other integers.
void fill_random(Tensor& tensor, std::mt19937& generator) {
  std::uniform_real_distribution<float> unit(0.0f, 1.0f);
  const auto fill = [&]<class T>(T, float top) {
    for (T& value : tensor.values<T>()) value = static_cast<T>(unit(generator) * top);
  };
  switch (tensor.type()) {
    case ElementType::Float32:
      return fill(float{}, 1.0f);
    case ElementType::Float64:
      return fill(double{}, 1.0f);
    case ElementType::Float16:
      return fill(Float16(0.0f), 1.0f);
    case ElementType::BFloat16:
      return fill(BFloat16(0.0f), 1.0f);
    case ElementType::UInt8:
      return fill(uint8_t{}, 255.0f);
    case ElementType::Int8:
      return fill(int8_t{}, 127.0f);
    case ElementType::Int32:
      return fill(int32_t{}, 255.0f);
    case ElementType::Int64:
      return fill(int64_t{}, 255.0f);
    default:
      std::fill_n(tensor.bytes(), tensor.size_bytes(), std::byte{0});
  }
}

Failure no_frames(const std::string& text) {
  return error(
      StatusCode::InvalidArgument,
      "--frames takes WIDTHxHEIGHT or FORMAT:WIDTHxHEIGHT, such as NV12:1920x1080, not '{}'", text);
}

/// Noise of a size and format given as "NV12:1920x1080".
Result<Image> noise(const std::string& text) {
  const size_t colon = text.find(':');
  PixelFormat format = PixelFormat::NV12;
  if (colon != std::string::npos) {
    HET_ASSIGN(format, parse_pixel_format(text.substr(0, colon)));
  }
  const char* at = text.data() + (colon == std::string::npos ? 0 : colon + 1);
  const char* const end = text.data() + text.size();
  int width = 0;
  int height = 0;
  const auto [cross, first] = std::from_chars(at, end, width);
  if (first != std::errc() || cross == end || *cross != 'x') return no_frames(text);
  const auto [stop, second] = std::from_chars(cross + 1, end, height);
  if (second != std::errc() || stop != end || width < 1 || height < 1) return no_frames(text);
  HET_ASSIGN(Image image, make_host_image(format, width, height));
  std::mt19937 generator(1);
  for (int plane = 0; plane < image.plane_count; ++plane) {
    const Buffer& buffer = *image.planes[static_cast<size_t>(plane)].buffer;
    std::generate_n(buffer.host(), buffer.size_bytes(),
                    [&] { return static_cast<std::byte>(generator()); });
  }
  return image;
}

Result<size_t> picture_port(const CompiledModel& model) {
  const std::vector<Port>& ports = model.inputs();
  const auto port =
      std::ranges::find_if(ports, [](const Port& p) { return p.preprocess.has_value(); });
  if (port == ports.end()) {
    return error(StatusCode::InvalidArgument, "no input of the model takes pictures (--frames)");
  }
  return static_cast<size_t>(port - ports.begin());
}

}  // namespace

Status BenchFrames::put(InferRequest& request) const {
  if (!image_) return {};
  const Shape& shape = request.input(port_).desc().shape;
  for (int64_t item = 0; item < shape[0]; ++item) {
    HET_TRY(request.set_image(port_, *image_, image_->full(), static_cast<size_t>(item)));
  }
  return {};
}

Result<BenchInputs> BenchInputs::create(const BenchOptions& options, const CompiledModel& model) {
  BenchInputs inputs;
  for (const std::string& text : options.inputs) {
    const size_t colon = text.rfind(':');  // names may hold one too
    if (colon == std::string::npos) {
      inputs.given_.push_back({0, text});
      continue;
    }
    HET_ASSIGN(const size_t port, model.input_index(text.substr(0, colon)));
    inputs.given_.push_back({port, text.substr(colon + 1)});
  }
  if (!options.frames.empty()) {
    HET_ASSIGN(Image image, noise(options.frames));
    HET_ASSIGN(const size_t port, picture_port(model));
    inputs.frames_ = BenchFrames(std::move(image), port);
  }
  return inputs;
}

Status BenchInputs::fill(InferRequest& request) const {
  std::mt19937 generator(1);
  for (size_t i = 0; i < request.compiled_model().inputs().size(); ++i) {
    Tensor tensor = request.input(i);
    fill_random(tensor, generator);
  }
  for (const Given& input : given_) {
    if (input.file.size() > 4 && input.file.substr(input.file.size() - 4) == ".npy") {
      HET_ASSIGN(Tensor tensor, read_npy(input.file));
      HET_TRY(request.set_input(input.port, std::move(tensor)));
      continue;
    }
    const Port& port = request.compiled_model().inputs()[input.port];
    if (!port.preprocess) {
      return error(StatusCode::InvalidArgument, "input '{}' {} takes no picture", port.name,
                   to_string(port.desc));
    }
    HET_ASSIGN(const Image image, read_picture(input.file));
    Tensor tensor = request.input(input.port);
    HET_TRY(preprocess(image, image.full(), *port.preprocess, tensor));
  }
  return {};
}

}  // namespace het
