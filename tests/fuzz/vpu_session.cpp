#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>

#include "devices/vpu/daemon/session.h"
#include "inference/base/log.h"
#include "tests/fuzz/vpu_frames.h"

namespace {

using namespace het;

/// Stands for what a real device program compiles: two inputs and an output.
class CopyModel final : public vpu::DeviceModel {
 public:
  const std::vector<Port>& inputs() const override { return inputs_; }
  const std::vector<Port>& outputs() const override { return outputs_; }
  uint64_t memory_bytes() const override { return 64; }
  void start(Execution& execution, End end) override {
    if (execution.inputs[1].values<int64_t>()[0] == 7) {
      return end(error(StatusCode::Internal, "seven"));
    }
    std::memcpy(execution.outputs[0].bytes(), execution.inputs[0].bytes(), 16);
    if (execution.wants_stages) execution.stages.push_back({"copy", "memcpy", 1});
    end({});
  }
  void cancel(Execution&) override {}

 private:
  std::vector<Port> inputs_{{"x", {ElementType::Float32, {4}, Layout::Plain}, {}},
                            {"i", {ElementType::Int64, {1}, Layout::Plain}, {}}};
  std::vector<Port> outputs_{{"y", {ElementType::Float32, {4}, Layout::Plain}, {}}};
};

}  // namespace

/// The device against a host that sends what it likes: the session ends when the link does.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Error);
  auto [host_end, device_end] = fuzz::socket_pair();
  const auto load =
      [](std::span<const std::byte> file) -> Result<std::shared_ptr<vpu::DeviceModel>> {
    if (file[0] == std::byte{0}) return error(StatusCode::ParseError, "no model");
    return std::shared_ptr<vpu::DeviceModel>(std::make_shared<CopyModel>());
  };
  vpu::Profile profile;
  profile.name = "fuzz";
  profile.credits = 2;
  profile.units = 2;
  profile.memory_bytes = 1 << 10;
  profile.graph_tags = {{"g", 2}};
  vpu::DeviceSide side(profile, load);
  {
    vpu::LinkSocket host(std::move(host_end));
    // One that begins with an answer to a challenge meets one.
    std::optional<vpu::LinkKey> key;
    if (size > 0 && data[0] == 19) key = vpu::LinkKey({32, std::byte{1}});
    const auto session = std::make_shared<vpu::Session>(std::move(device_end), side, key);
    std::thread device([session] { session->run(); });
    (void)host.send(vpu::FrameType::Hello, 0, vpu::Hello{1, 1, "fuzz"}.encode());
    std::thread reader([&host] {
      while (host.receive(std::chrono::milliseconds(1000))) continue;
    });
    fuzz::send_frames(host, std::span(data, size));
    host.close();
    device.join();
    reader.join();
  }
  return 0;
}
