#include "tools/self_test/pictures.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "devices/register_devices.h"
#include "inference/base/log.h"
#include "tools/self_test/trial_json.h"
#include "tools/self_test/udmabuf_picture.h"

namespace het::self_test {
namespace {

constexpr int kModelSide = 32;

/// What devices log of how they take pictures: only they know.
class ImportMessages {
 public:
  ImportMessages() {
    set_log_sink(
        [this](LogLevel, std::string_view message) {
          if (message.find("pictures are") == std::string_view::npos) return;
          const std::lock_guard lock(mutex_);
          last_ = message;
        },
        LogLevel::Info);
  }
  ~ImportMessages() {
    set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Error);
  }
  ImportMessages(const ImportMessages&) = delete;
  ImportMessages& operator=(const ImportMessages&) = delete;
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(last_, {});
  }

 private:
  std::mutex mutex_;  ///< protects last_; taken alone
  std::string last_;
};

/// The picture as the input of a model has it.
std::unique_ptr<Model> picture_model() {
  auto model = std::make_unique<Model>("picture");
  Value* const x = model->add_input("x", {ElementType::Float32, {1, 3, kModelSide, kModelSide}});
  model->add_output("y", model->add_node("copy", "Relu", "", {x}, {"y"})->output());
  model->set_preprocess(0, PreprocessDesc{});
  return model;
}

Result<std::vector<float>> taken(CompiledModel& compiled, const Image& image) {
  HET_ASSIGN(const auto request, compiled.create_infer_request());
  HET_TRY(request->set_image(0, image, image.full()));
  HET_TRY(request->infer());
  return to_float_vector(request->output(0));
}

Result<std::vector<float>> taken_by_reference(const Image& image) {
  HET_ASSIGN(Tensor tensor,
             Tensor::allocate({ElementType::Float32, {1, 3, kModelSide, kModelSide}}));
  HET_TRY(preprocess_reference(image, image.full(), PreprocessDesc{}, tensor));
  return to_float_vector(tensor);
}

/// One memory of a picture on one device.
class ImportTrial {
 public:
  ImportTrial(std::string device, std::shared_ptr<CompiledModel> model, ImportMessages& messages)
      : device_(std::move(device)), model_(std::move(model)), messages_(messages) {}

  nlohmann::json run(const char* memory, const Image& image, const std::vector<float>& wanted) {
    messages_.take();
    const auto got = taken(*model_, image);
    const std::string message = messages_.take();
    if (!got) return row(memory, "failed", got.error().message());
    size_t differ = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      // Levels that are beside a half may be one off.
      if (i >= got->size() || !(std::abs((*got)[i] - wanted[i]) <= 1.01f)) ++differ;
    }
    if (differ > 0) {
      return row(memory, "wrong", fmt::format("{} of {} values differ", differ, wanted.size()));
    }
    const bool in_place = message.find("where they are") != std::string::npos;
    return row(memory, in_place ? "zero-copy" : "copied", message);
  }
  nlohmann::json row(const char* memory, const char* outcome, const std::string& detail) const {
    return {{"import",
             {{"device", device_}, {"memory", memory}, {"outcome", outcome}, {"detail", detail}}}};
  }

 private:
  std::string device_;
  std::shared_ptr<CompiledModel> model_;
  ImportMessages& messages_;
};

/// A plain picture where no display gave one.
Result<Image> plain_picture() {
  HET_ASSIGN(Image image, make_host_image(PixelFormat::NV12, 64, 64));
  const std::byte* const end = image.plane(0) + image.planes[0].buffer->size_bytes();
  int level = 16;
  for (std::byte* at = image.planes[0].buffer->host(); at < end; ++at) {
    *at = static_cast<std::byte>(level);
    level = 16 + (level * 5 + 7) % 220;
  }
  return image;
}

Status try_device(Core& core, const std::string& device, const DisplayTrial* display,
                  ImportMessages& messages, PartEvents& events) {
  HET_ASSIGN(const Image host,
             display != nullptr && display->host ? Result<Image>(*display->host) : plain_picture());
  std::shared_ptr<DeviceContext> context;
  if (display != nullptr && display->surface && parse_device_name(device).kind == "GPU") {
    const auto made = core.create_context(device, {{"VADisplay", display->display}});
    if (made) context = *made;
  }
  HET_ASSIGN(const auto compiled,
             core.compile_model(*picture_model(), device, {{"CACHE_DIR", ""}}, context));
  HET_ASSIGN(const std::vector<float> wanted, taken_by_reference(host));
  ImportTrial trial(device, compiled, messages);
  nlohmann::json plain = trial.run("host memory", host, wanted);
  if (plain["import"]["outcome"] == "copied") plain["import"]["outcome"] = "right";
  events.result(plain);
  if (display != nullptr && display->surface) {
    events.result(trial.run("VA surface", *display->surface, wanted));
  } else {
    events.result(trial.row("VA surface", "not tried", "there is no VA display with surfaces"));
  }
  const Result<Image> dma_buf = display != nullptr && display->dma_buf
                                    ? Result<Image>(*display->dma_buf)
                                    : udmabuf_picture(host);
  events.result(dma_buf ? trial.run("DMA-BUF", *dma_buf, wanted)
                        : trial.row("DMA-BUF", "not tried", dma_buf.error().message()));
  return {};
}

}  // namespace

void try_pictures(const std::string& only, const std::vector<std::string>& devices,
                  PartEvents& events) {
  std::vector<DisplayTrial> displays;
  const std::vector<std::string> nodes =
      only.empty() ? video_nodes() : std::vector<std::string>{only};
  for (const std::string& node : nodes) {
    events.begin("opening the video driver of " + node);
    displays.push_back(try_video_node(node));
    events.result({{"display", display_json(displays.back())}});
  }
  const DisplayTrial* with_surfaces = nullptr;
  for (const DisplayTrial& display : displays) {
    if (with_surfaces == nullptr && display.surface) with_surfaces = &display;
  }
  const std::shared_ptr<Core> core = het::core();
  ImportMessages messages;
  for (const std::string& device : devices) {
    events.begin("taking pictures on " + device);
    const Status status = try_device(*core, device, with_surfaces, messages, events);
    if (status.ok()) continue;
    events.result({{"import",
                    {{"device", device},
                     {"memory", "host memory"},
                     {"outcome", "failed"},
                     {"detail", status.message()}}}});
  }
}

}  // namespace het::self_test
