#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "devices/vpu/connection.h"
#include "tests/fuzz/vpu_frames.h"

namespace {

using namespace het;

struct Request final : vpu::Submission {
  Request() { payload_ = vpu::Submit{1, false, "", {}, {{true, 1, 0, 4, {}}}}.encode(); }
  void end(Status, const vpu::Completed&) override { ++ends; }
  std::atomic<int> ends{0};
};

}  // namespace

/// The host against a device that says what it likes: everything that was begun ends, once.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto [host_end, device_end] = fuzz::socket_pair();
  std::thread device([&, end = &device_end] {
    vpu::LinkSocket socket(std::move(*end));
    // One in four greets with the fuzzer's frames only.
    if (size > 0 && data[0] % 4 != 0) {
      const vpu::Welcome welcome{1, "fuzz", "fuzz", 2, 1, 1 << 20, true, true, {}, {}};
      (void)socket.send(vpu::FrameType::Welcome, 0, welcome.encode());
    }
    fuzz::send_frames(socket, std::span(data, size).subspan(size > 0 ? 1 : 0));
    socket.close();
  });
  {
    std::array<Request, 3> requests;
    vpu::Connection::Options options;
    if (size > 0 && data[0] >= 0x80) options.key = vpu::LinkKey({32, std::byte{1}});
    const auto connection =
        vpu::Connection::greet(vpu::LinkSocket(std::move(host_end)), "fuzz", options);
    if (connection) {
      for (Request& request : requests) (*connection)->submit(request);
      (void)(*connection)
          ->call(vpu::FrameType::LoadEnd, vpu::Number{1}.encode(), vpu::FrameType::Loaded);
      (*connection)->cancel(requests[1]);
      device.join();
      for (Request& request : requests) {
        while (request.ends == 0) std::this_thread::yield();
        if (request.ends != 1) abort();
      }
    } else {
      device.join();
    }
  }
  return 0;
}
